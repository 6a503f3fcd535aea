-- Content of a registration before each of its changes: notifications tell the content at their event.
create table tollgate.former_registration (
  registration_id uuid not null,
  -- Sequence number of the change that replaced this content.
  until_seq integer not null,
  request jsonb not null,
  primary key (registration_id, until_seq)
);
alter table tollgate.former_registration alter column request set statistics 0;
