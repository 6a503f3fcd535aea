/**
 * SQL of tier 5: amount, currency, last four digits and brand. Only for lines that name no payment, and only
 * payments that no certain match and no operator claims.
 */
import { type Sql, sql } from '../../db/sql.ts'
import type { Ids } from './store-named.ts'
import {
  candidateColumns,
  isPaymentOfPlace,
  judged,
  type Places,
  paymentColumns,
  placesOf,
  withBalance,
} from './stored-places.ts'
import { inWindow, type Lines } from './stored-window.ts'

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

/** What payments and lines have in common: amount, currency and brand, and behind the line end the last digits. */
const alikeKey = (minor: Sql, currency: Sql, brand: Sql) =>
  sql`'6 ' || ${minor} || ' ' || ${currency} || ' ' || ${brand}`

/** The lines of a window that name no payment, and can be compared, ask for payments that look like them. */
export const askAlike = (runId: string, zone: string, lines: Lines) => sql`
insert into tollgate.settlement_asked (run_id, line, scope_id, tier, key, from_at, to_at)
select work.run_id, work.line, work.scope_id, 5,
  ${alikeKey(sql`work.amount_minor`, sql`work.currency`, sql`lower(stage.brand)`)} || e'\n' || stage.last4, ${times(zone)}
from tollgate.settlement_work as work
join tollgate.settlement_stage as stage on stage.file_id = work.run_id and ${inWindow(sql`stage`, lines)}
  and stage.line = work.line
where work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)} and work.purpose in ('settled', 'dispute')
  and stage.last4 is not null and stage.brand is not null and not exists (
    select
    from tollgate.settlement_candidate as candidate
    where candidate.run_id = work.run_id and ${inWindow(sql`candidate`, lines)} and candidate.line = work.line)`

/** The time of the payments of all lines that ask; null: none does. */
export const askedTimes = (runId: string) => sql<{ from_at: Date | null; to_at: Date | null }>`
select min(from_at) as from_at, max(to_at) as to_at
from tollgate.settlement_asked
where run_id = ${runId}::uuid`

/** The last line of the next lines that ask, at most so many; no row: fewer are left. */
export const askingEnd = (runId: string, after: number, count: number) => sql<{ line: number }>`
select line
from tollgate.settlement_asked
where run_id = ${runId}::uuid and line > ${after}::integer
order by line
offset ${count}::integer - 1
limit 1`

/** Finds the payments of a page that look like lines. */
export const findAlike = (runId: string, places: Places, { after, upTo }: Ids) => sql`
with ${placesOf(places)},
request as materialized (
  select distinct scope_id, split_part(key, e'\n', 1) as stem
  from tollgate.settlement_asked
  where run_id = ${runId}::uuid),
alike as materialized (
  select request.scope_id, request.stem, payment.id, payment.created_at, payment.referenced_id
  from (
    select ${paymentColumns}, lower(payment.brand) as brand
    from tollgate.payment
    where payment.id > ${after}::uuid and payment.id <= ${upTo}::uuid and payment.brand is not null
      and payment.payment_type in ('DB', 'CP', 'RB', 'RC', 'CD', 'RF')) as payment
  join place on ${isPaymentOfPlace(places)}
  join request on request.scope_id = place.scope_id
    and request.stem = ${alikeKey(sql`payment.minor`, sql`payment.currency`, sql`payment.brand`)})
insert into tollgate.settlement_found (run_id, scope_id, key, payment_id, created_at)
select ${runId}::uuid, payment.scope_id, payment.stem || e'\n' || ending.last4, payment.id, payment.created_at
from alike as payment
${endingOf}
where (payment.scope_id, payment.stem || e'\n' || ending.last4) in (
  select scope_id, key from tollgate.settlement_asked where run_id = ${runId}::uuid)`

/** After the tiers 1 to 4 of the whole run are decided. */
export const byComposite = (runId: string, lines: Lines) => sql`
with asked as materialized (
  select asked.line, asked.scope_id, asked.key, asked.from_at, asked.to_at, work.wanted, stage.record_type
  from tollgate.settlement_asked as asked
  join tollgate.settlement_work as work on work.run_id = asked.run_id and ${inWindow(sql`work`, lines)}
    and work.line = asked.line
  join tollgate.settlement_stage as stage on stage.file_id = asked.run_id and ${inWindow(sql`stage`, lines)}
    and stage.line = asked.line
  where asked.run_id = ${runId}::uuid and ${inWindow(sql`asked`, lines)}),
request as materialized (
  select distinct scope_id, key, wanted, record_type
  from asked),
alike as materialized (
  select request.scope_id, request.key, request.record_type, payment.id, payment.created_at, payment.payment_type
  from request
  cross join lateral (
    select found.payment_id
    from tollgate.settlement_found as found
    where found.run_id = ${runId}::uuid and found.scope_id = request.scope_id and found.key = request.key
    offset 0) as found
  cross join lateral (
    select ${paymentColumns}
    from tollgate.payment
    where payment.id = found.payment_id
    offset 0) as payment
  where payment.payment_type = any(request.wanted)),
alike_id as materialized (
  select distinct id from alike),
claimed as materialized (
  select match.payment_id, record.record_type
  from alike_id
  cross join lateral (
    select payment_id, record_id
    from tollgate.settlement_match as match
    where match.payment_id = alike_id.id and match.is_final
    offset 0) as match
  cross join lateral (
    select record.record_type
    from tollgate.settlement_record as record
    where record.id = match.record_id
    offset 0) as record
  union
  select decided.payment_id, stage.record_type
  from (
    select decision.line, member.payment_id
    from tollgate.settlement_decision as decision
    cross join lateral unnest(decision.payments) as member (payment_id)
    where decision.run_id = ${runId}::uuid and decision.tier <> 'composite') as decided
  join alike_id on alike_id.id = decided.payment_id
  cross join lateral (
    select stage.record_type
    from tollgate.settlement_stage as stage
    where stage.file_id = ${runId}::uuid and stage.line = decided.line
    offset 0) as stage),
free as materialized (
  select payment.scope_id, payment.key, payment.record_type, payment.id, payment.created_at, payment.payment_type,
    count(*) over (
      partition by payment.scope_id, payment.key, payment.record_type, payment.payment_type) as sharing
  from alike as payment
  where not exists (
    select from claimed where claimed.payment_id = payment.id and claimed.record_type = payment.record_type)),
pair as (
  select asked.line, free.id as payment_id
  from asked
  join free on free.scope_id = asked.scope_id and free.record_type = asked.record_type and free.key = asked.key
    and free.payment_type = any(asked.wanted)
  where free.created_at >= asked.from_at and free.created_at < asked.to_at
    and free.sharing <= ${crowded}::integer)
insert into tollgate.settlement_candidate (${candidateColumns})
select work.run_id, work.line, work.scope_id, 5, payment.id, true, ${judged(5)}
from pair
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)}
  and work.line = pair.line
cross join lateral (
  select ${paymentColumns}
  from tollgate.payment
  where payment.id = pair.payment_id
  offset 0) as payment
${withBalance}
on conflict do nothing`
