-- Delivery of report files: folders of merchants, the deliveries to them, and the keys of readers.

create table tollgate.report_destination (
  id uuid primary key,
  entity_id uuid not null,
  url text not null,
  user_name text not null,
  login text not null check (login in ('PASSWORD', 'KEY')),
  host_keys text[] not null default '{}',
  certificate text,
  raw boolean not null,
  active boolean not null,
  -- The password or private key.
  data_key_id uuid not null,
  sealed bytea not null,
  version integer not null default 1,
  created_at timestamptz not null,
  removed_at timestamptz,
  -- One process at a time works on a destination; its commits carry the lease.
  lease integer not null default 0,
  lease_until timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  -- No attempt before.
  probe_at timestamptz
);
alter table tollgate.report_destination alter column sealed set statistics 0;
create index report_destination_entity on tollgate.report_destination (entity_id, id);
create index report_destination_key on tollgate.report_destination (data_key_id);

-- One file for one destination.
create table tollgate.report_delivery (
  id uuid primary key,
  destination_id uuid not null,
  file_id uuid not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  reason text,
  replay boolean not null default false,
  attempts integer not null default 0,
  -- The whole file lies in the folder, and its final name was requested: the answer may be lost.
  renaming boolean not null default false,
  due_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz
);
create unique index report_delivery_pending on tollgate.report_delivery (destination_id, file_id) where state = 'pending';
create index report_delivery_due on tollgate.report_delivery (due_at, destination_id) where state = 'pending';
create index report_delivery_log on tollgate.report_delivery (destination_id, id);
create index report_delivery_ended on tollgate.report_delivery (ended_at) where state <> 'pending';

create table tollgate.report_delivery_attempt (
  id uuid primary key,
  delivery_id uuid not null,
  at timestamptz not null,
  duration_ms integer not null,
  result text not null,
  message text
);
create index report_delivery_attempt_delivery on tollgate.report_delivery_attempt (delivery_id);

-- A published file and its deliveries are one commit.
create function tollgate.deliver_report() returns trigger
language plpgsql as $$
begin
  insert into tollgate.report_delivery (id, destination_id, file_id, due_at, created_at)
  select tollgate.delivery_id(new.id, destination.id, 'REPORT'), destination.id, new.id, now(), now()
  from tollgate.report_destination as destination
  where destination.entity_id = new.entity_id and destination.active and destination.removed_at is null;
  return null;
end
$$;
create trigger deliver_report after insert on tollgate.report_file
  for each row execute function tollgate.deliver_report();

-- Public keys that read the report files of an entity.
create table tollgate.sftp_key (
  id uuid primary key,
  entity_id uuid not null,
  public_key bytea not null,
  type text not null,
  name text,
  created_at timestamptz not null,
  last_used_at timestamptz,
  removed_at timestamptz
);
create unique index sftp_key_of_entity on tollgate.sftp_key (entity_id, public_key) where removed_at is null;
create index sftp_key_entity on tollgate.sftp_key (entity_id, id);

-- Private keys of the servers of plugins, the same in all processes.
create table tollgate.server_key (
  id uuid primary key,
  name text not null unique,
  data_key_id uuid not null,
  sealed bytea not null
);
alter table tollgate.server_key alter column sealed set statistics 0;
