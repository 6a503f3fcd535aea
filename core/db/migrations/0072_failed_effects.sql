-- Failed effects that no open entry states any more are listed again: their chargebacks hold refunds until an operator
-- resolves the entry.
insert into tollgate.timer (id, due_at, kind, ref)
select gen_random_uuid(), now(), 'settlement-effect', replace(scope_id::text, '-', '')
from (select distinct scope_id from tollgate.settlement_record where effect = 'failed') as failed
on conflict (kind, ref) do nothing;
