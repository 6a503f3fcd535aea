-- An acquirer can name the money of an authorisation by the key of one that replaced it or that it replaced, so the
-- entries of a whole chain freeze what begins later.
create or replace function tollgate.frozen_from_the_start(payment uuid, parent uuid) returns uuid[]
language sql volatile as $$
  with recursive member as (
    select id, effect, referenced_id
    from tollgate.payment
    where id = parent
    union
    select other.id, other.effect, other.referenced_id
    from member
    -- Lookups for each member (offset 0): by their estimated number, the planner would read all payments.
    cross join lateral (
      select id, effect, referenced_id
      from tollgate.payment
      where referenced_id = member.id and effect in ('increase', 'replacement')
      union all
      select id, effect, referenced_id
      from tollgate.payment
      where id = member.referenced_id and member.effect in ('increase', 'replacement')
      offset 0) as other)
  select coalesce(array_agg(attention.id), '{}')
  from tollgate.attention
  where attention.resolved_at is null and payment = any(attention.freezes)
    and attention.payment_id in (
      select payment
      union all
      select parent
      union all
      select id from member)
$$;
