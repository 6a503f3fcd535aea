/**
 * SQL of tier 5: amount, currency, last four digits and brand. Only for lines that name no payment, and only
 * payments that no certain match and no operator claims.
 */
import { sql } from '../../db/sql.ts'
import {
  candidateColumns,
  isPaymentOfPlace,
  judged,
  type Places,
  paymentColumns,
  placesOf,
  withBalance,
} from './stored-places.ts'

/** Beyond this number of equal payments the line stays with operators. */
const crowded = 100

/** The time of the payment: around the time of the order, else before the day of settlement. */
const times = (zone: string) => sql`
    coalesce(stage.requested - interval '7 days',
      stage.settlement_date::timestamp at time zone ${zone}::text - interval '14 days') as from_at,
    coalesce(stage.requested + interval '1 day',
      stage.settlement_date::timestamp at time zone ${zone}::text + interval '1 day') as to_at`

/**
 * Last four digits of the request that carried the card: of the payment, or of its origins. `offset 0` looks
 * rows up one by one.
 */
const endingOf = sql`
cross join lateral (
  with recursive origin (id, referenced_id, depth) as (
    select payment.id, payment.referenced_id, 0
    union all
    select above.id, above.referenced_id, origin.depth + 1
    from origin
    cross join lateral (
      select id, referenced_id from tollgate.payment where payment.id = origin.referenced_id offset 0) as above
    where origin.depth < 4)
  select stored.last4
  from origin
  cross join lateral (
    select coalesce(request #>> '{card,last4Digits}', request #>> '{tokenAccount,last4Digits}',
      request #>> '{bankAccount,last4Digits}') as last4
    from tollgate.payment_request
    where payment_request.id = origin.id
    offset 0) as stored
  where stored.last4 is not null
  order by origin.depth
  limit 1) as ending`

const unnamed = (runId: string, zone: string) => sql`
unnamed as materialized (
  select work.line, work.scope_id, work.wanted, work.amount_minor, work.currency, stage.record_type, stage.key,
    lower(stage.brand) as brand, stage.last4, ${times(zone)}
  from tollgate.settlement_work as work
  join tollgate.settlement_stage as stage on stage.file_id = work.run_id and stage.line = work.line
  where work.run_id = ${runId}::uuid and work.purpose in ('settled', 'dispute') and stage.last4 is not null
    and stage.brand is not null and not exists (
      select
      from tollgate.settlement_candidate as candidate
      where candidate.run_id = work.run_id and candidate.line = work.line))`

export const compositeTimes = (runId: string, zone: string) => sql<{
  from_at: Date | null
  to_at: Date | null
}>`
with ${unnamed(runId, zone)}
select min(from_at) as from_at, max(to_at) as to_at
from unnamed`

/** After the tiers 1 to 4 of the whole run are decided. */
export const byComposite = (
  runId: string,
  places: Places,
  zone: string,
  ids: { readonly from: string; readonly to: string },
) => sql`
with ${placesOf(places)},
${unnamed(runId, zone)},
request as materialized (
  select distinct scope_id, wanted, amount_minor, currency, brand, last4, record_type
  from unnamed),
alike as materialized (
  select request.scope_id, request.record_type, request.last4, payment.id, payment.created_at, payment.payment_type,
    payment.minor, payment.currency, payment.brand
  from (
    select ${paymentColumns}, lower(payment.brand) as brand
    from tollgate.payment
    where payment.id between ${ids.from}::uuid and ${ids.to}::uuid and payment.brand is not null) as payment
  join place on ${isPaymentOfPlace(places)}
  join request on request.scope_id = place.scope_id and request.amount_minor = payment.minor
    and request.currency = payment.currency and request.brand = payment.brand
  ${endingOf}
  where payment.payment_type = any(request.wanted) and ending.last4 = request.last4),
claimed as materialized (
  select match.payment_id, record.record_type
  from tollgate.settlement_match as match
  join tollgate.settlement_record as record on record.id = match.record_id
  where match.is_final and match.payment_id in (select id from alike)
  union
  select member.payment_id, stage.record_type
  from tollgate.settlement_decision as decision
  join tollgate.settlement_stage as stage on stage.file_id = decision.run_id and stage.line = decision.line
  cross join lateral unnest(decision.payments) as member (payment_id)
  where decision.run_id = ${runId}::uuid),
free as materialized (
  select payment.scope_id, payment.record_type, payment.last4, payment.id, payment.created_at, payment.payment_type,
    payment.minor, payment.currency, payment.brand, count(*) over (
      partition by payment.scope_id, payment.record_type, payment.last4, payment.payment_type, payment.minor,
        payment.currency, payment.brand) as sharing
  from alike as payment
  where not exists (
    select from claimed where claimed.payment_id = payment.id and claimed.record_type = payment.record_type)),
pair as (
  select unnamed.line, free.id as payment_id
  from unnamed
  join free on free.scope_id = unnamed.scope_id and free.record_type = unnamed.record_type
    and free.minor = unnamed.amount_minor and free.currency = unnamed.currency and free.brand = unnamed.brand
    and free.last4 = unnamed.last4 and free.payment_type = any(unnamed.wanted)
  where free.created_at >= unnamed.from_at and free.created_at < unnamed.to_at
    and free.sharing <= ${crowded}::integer)
insert into tollgate.settlement_candidate (${candidateColumns})
select work.run_id, work.line, work.scope_id, 5, payment.id, true, ${judged}
from pair
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and work.line = pair.line
cross join lateral (
  select ${paymentColumns}
  from tollgate.payment
  where payment.id = pair.payment_id
  offset 0) as payment
${withBalance}
on conflict do nothing`
