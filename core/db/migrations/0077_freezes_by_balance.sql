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

-- Freezes balances, and those of payments of these effects that follow them and their increases. The lock of an
-- authorisation keeps further ones from beginning, and a volatile function sees those that began before it.
create function tollgate.freeze_below(entry uuid, balances uuid[], effects text[]) returns void
language plpgsql volatile as $$
declare
  held uuid[] := balances;
  below uuid[];
begin
  loop
    perform tollgate.freeze(entry, held);
    with recursive follower as (
      select unnest(held) as id, '' as effect
      union
      select following.id, following.effect
      from follower
      cross join lateral (
        select id, effect
        from tollgate.payment
        where referenced_id = follower.id and effect = any(effects || 'increase'::text)
        offset 0) as following)
    select array_agg(distinct id) into below
    from follower
    where effect = any(effects) and not id = any(held);
    exit when below is null;
    held := held || below;
  end loop;
  update tollgate.attention set freezes = array(select unnest(freezes) union select unnest(held))
  where id = entry and not freezes @> held;
end
$$;

-- Locks payments whose balances an entry freezes: a payment is locked when its balance begins.
create function tollgate.lock_frozen(balances uuid[]) returns void
language sql volatile as $$
  select from tollgate.payment where id = any(balances) order by id for share
$$;

-- Ends the freeze of an entry, also for balances that were committed while the calling statement waited.
create function tollgate.thaw(entry uuid, balances uuid[]) returns void
language sql volatile as $$
  update tollgate.payment_balance set frozen_by = array_remove(frozen_by, entry)
  where payment_id = any(balances) and entry = any(frozen_by)
$$;
