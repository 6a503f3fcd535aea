-- An entry freezes balances that do not exist yet, whichever payment it is about. Not for open entries alone: while they
-- are few, the planner would read them all by another index, and keep that plan.
create index attention_freezes on tollgate.attention using gin (freezes) with (fastupdate = off)
  where freezes <> '{}';

create or replace function tollgate.frozen_from_the_start(payment uuid, parent uuid) returns uuid[]
language sql volatile as $$
  select coalesce(array_agg(attention.id) filter (where attention.resolved_at is null), '{}')
  from tollgate.attention
  where attention.freezes <> '{}' and attention.freezes @> array[payment]
$$;
