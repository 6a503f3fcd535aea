-- The open entries of the operators' list that freeze a balance which does not exist yet: a capture whose outcome is
-- still unknown when money of its authorisation comes back. A volatile function sees entries that were committed while the
-- calling statement waited for the balance of the authorisation.
create function tollgate.frozen_from_the_start(payment uuid, parent uuid) returns uuid[]
language sql volatile as $$
  select coalesce(array_agg(attention.id), '{}')
  from tollgate.attention
  where attention.resolved_at is null and payment = any(attention.freezes)
    and attention.payment_id in (
      select payment
      union all
      select parent
      union all
      select increase.id from tollgate.payment increase
      where increase.referenced_id = parent and increase.effect = 'increase')
$$;

-- Freezes balances in the name of an entry, also those that were committed while the calling statement waited.
create function tollgate.freeze(entry uuid, balances uuid[]) returns void
language sql volatile as $$
  update tollgate.payment_balance set frozen_by = array_append(frozen_by, entry)
  where payment_id = any(balances) and not entry = any(frozen_by)
$$;
