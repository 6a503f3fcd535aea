-- An increase can follow an increase, and money that comes back can be told by the key of either one.
create or replace function tollgate.frozen_from_the_start(payment uuid, parent uuid) returns uuid[]
language sql volatile as $$
  with recursive member as (
    select parent as id
    where parent is not null
    union all
    select increase.id
    from member
    -- A lookup for each member (offset 0): by their estimated number, the planner would read all payments.
    cross join lateral (
      select id
      from tollgate.payment
      where referenced_id = member.id and effect = 'increase'
      offset 0) as increase)
  select coalesce(array_agg(attention.id), '{}')
  from tollgate.attention
  where attention.resolved_at is null and payment = any(attention.freezes)
    and attention.payment_id in (
      select payment
      union all
      select id from member)
$$;
