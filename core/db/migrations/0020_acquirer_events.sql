-- What an acquirer told waits its turn: events that wait or fail are looked at again after growing pauses.
alter table tollgate.inbound_event
  add column tries integer not null default 0,
  add column waits integer not null default 0,
  add column next_at timestamptz not null default now(),
  -- Other contents that came, proven, with the same event id.
  add column others jsonb not null default '[]';
-- Nobody looks for what an acquirer said: nothing of it is counted.
alter table tollgate.inbound_event alter column others set statistics 0;
drop index tollgate.inbound_event_open;
create index inbound_event_due on tollgate.inbound_event (next_at) where processed_at is null;
-- Open events about one operation, in order of arrival.
create index inbound_event_turn on tollgate.inbound_event (connector, account, (claim ->> 'key'), received_at)
  where processed_at is null;
-- What anybody may have sent is counted for each account, and removed after some days.
create index inbound_event_unverified on tollgate.inbound_event (connector, account, received_at)
  where claim ->> 'verified' = 'false';
create index inbound_event_received on tollgate.inbound_event (received_at);
