import { type Sql, sql } from '../db/sql.ts'

/** A line about a declined payment matches none. Each state of the effect by its own small index. */
const ofDeclined = (paymentId: string, hasEffect: Sql) => sql`
select replace(record.id::text, '-', '') as id
from tollgate.settlement_record as record
where ${hasEffect} and record.match_status = 'NOT_MATCHED' and ${paymentId}::uuid = any(record.candidates)
  and record.record_type = 'CHARGEBACK' and record.status <> 'FAILED'`

/** A verified chargeback that waited for the end of the payment, perhaps a capture, has its turn now. */
export const hurryChargebacks = (connector: string, paymentId: string) => sql`
update tollgate.inbound_event set next_at = now()
where connector = ${connector}::text and processed_at is null and claim ->> 'key' in (
    select named.attempt_key
    from tollgate.payment
    join tollgate.payment as named on named.id in (payment.id, payment.referenced_id)
    where payment.id = ${paymentId}::uuid)
  and claim ->> 'verified' = 'true' and claim -> 'outcome' ->> 'is' in ('chargeback', 'chargebackReversal')
  and next_at > now()`

/**
 * A chargeback that was told, by a verified message or a settlement line, and is not recorded yet. A message can name
 * a capture by its authorisation.
 */
export const waitingChargeback = (paymentId: string) => sql<{ id: string }>`
select event.event_id as id
from tollgate.payment
join tollgate.payment as named on named.id in (payment.id, payment.referenced_id)
join tollgate.inbound_event as event on event.claim ->> 'key' = named.attempt_key
where payment.id = ${paymentId}::uuid and event.connector = payment.connector
  and event.processed_at is null and event.claim ->> 'verified' = 'true'
  and event.claim -> 'outcome' ->> 'is' = 'chargeback'
union all
select replace(record.id::text, '-', '') as id
from tollgate.settlement_match as match
join tollgate.settlement_record as record on record.id = match.record_id
where match.payment_id = ${paymentId}::uuid and record.effect in ('open', 'failed')
  and record.record_type = 'CHARGEBACK' and record.status <> 'FAILED'
union all ${ofDeclined(paymentId, sql`record.effect = 'open'`)}
union all ${ofDeclined(paymentId, sql`record.effect = 'failed'`)}
limit 1`
