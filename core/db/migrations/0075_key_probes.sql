-- A key that nothing is sealed with: who can open it has the key-encryption key that wraps it. It is asked for while
-- its row is young, so one that a killed command left is asked for no more.
create table tollgate.key_probe (
  id uuid primary key,
  key_encryption_key_id text not null,
  wrapped bytea not null,
  seen_at timestamptz not null default now()
);

-- The probes that a process has opened, and the data keys in use that it cannot open.
alter table tollgate.data_key_use
  add column probe_ids uuid[] not null default '{}',
  add column shut_key_ids uuid[] not null default '{}';
