-- breaking
-- Data keys get a life, so that they can be changed while payments go on:
-- announced (made, not sealing yet) -> current (seals) -> previous (opens what is not sealed anew yet)
-- -> retired (seals nothing any more, proven by constraints) -> destroyed (its bytes are gone).
-- The key of purpose mac stays current: what it digested could not be found again under another one.

drop index tollgate.data_key_in_use;
alter table tollgate.data_key add column state text;
update tollgate.data_key set state = case when retired_at is null then 'current' else 'previous' end;
alter table tollgate.data_key
  alter column state set not null,
  add check (state in ('announced', 'current', 'previous', 'retired', 'destroyed')),
  -- What a sealed value is bound to: 1 the id of its row, 2 its table, data key and id.
  add column format smallint not null default 1,
  add column promoted_at timestamptz,
  add column superseded_at timestamptz,
  add column destroyed_at timestamptz;
update tollgate.data_key
set promoted_at = created_at, superseded_at = retired_at, retired_at = null;

create unique index data_key_in_use on tollgate.data_key (purpose, state)
  where state in ('announced', 'current');

-- What each running process seals with, and the announced key it has shown to be able to open.
create table tollgate.data_key_use (
  process_id uuid primary key,
  name text not null,
  data_key_id uuid,
  ready_key_id uuid,
  seen_at timestamptz not null default now()
) with (fillfactor = 50);
