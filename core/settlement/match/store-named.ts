/** SQL of the tiers 1 to 4: payments that a line names, and the payments that these lead to. */
import { type Sql, sql } from '../../db/sql.ts'
import {
  candidateColumns,
  hasEligible,
  isOpen,
  isPaymentOfPlace,
  judged,
  judgedWithRefs,
  lastOwnName,
  type Places,
  paymentColumns,
  placesOf,
  type Refs,
  withBalance,
  withLine,
} from './stored-places.ts'
import { inWindow, type Lines } from './stored-window.ts'

/** Beyond this number, payments of one name are counted and not compared. */
const crowded = 100

/** Tier 1: by payment id or attempt key. `offset 0` looks payments up one by one, in the order of ids. */
export const byPaymentId = (runId: string, places: Places, lines: Lines) => sql`
with ${placesOf(places)},
named as (
  select line, named_payment as payment_id
  from tollgate.settlement_work as work
  where run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)} and purpose <> 'none'
    and named_payment is not null
  union
  select work.line, attempt.payment_id
  from tollgate.settlement_work as work
  cross join lateral (
    select attempt.payment_id
    from tollgate.attempt
    where attempt.key in (work.named_key, lower(work.named_key))
    offset 0) as attempt
  where work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)} and work.purpose <> 'none'
    and work.named_key is not null
  order by payment_id)
insert into tollgate.settlement_candidate (${candidateColumns})
select work.run_id, work.line, work.scope_id, 1, payment.id, true, ${judged(1)}
from named
cross join lateral (
  select ${paymentColumns}
  from tollgate.payment
  where payment.id = named.payment_id
  offset 0) as payment
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)}
  and work.line = named.line
join place on place.scope_id = work.scope_id and ${isPaymentOfPlace(places)}
${withBalance}
on conflict do nothing`

/** The kinds of names that lines ask for: the first character of their keys. */
export const nameKinds = ['1', '2', '3', '4', '5'] as const

export type NameKind = (typeof nameKinds)[number]

/** A payment and its name, in the form in which lines have it. */
export type MaskedName = {
  readonly scopeId: string
  readonly paymentId: string
  readonly key: string
}

/**
 * Names of a payment, trimmed and in one case as those of lines. Only the kinds that lines ask for, because
 * the names of all payments of a time are computed.
 */
const paymentNames = (refs: Refs, kinds: readonly NameKind[] = nameKinds) => {
  const one = (kind: NameKind, name: Sql) =>
    sql`select ${`${kind} `}::text || ${name} where ${kinds.includes(kind)}::boolean`
  const ref = (index: 0 | 1 | 2) =>
    sql`lower(btrim(payment.answer -> 'refs' ->> ${refs[index]}::text))`
  return sql`
cross join lateral (
    ${one('1', ref(0))}
    union all ${one('2', ref(1))}
    union all ${one('3', ref(2))}
    union all ${one('4', sql`lower(btrim(payment.merchant_transaction_id))`)}
    union all ${one('5', sql`payment.short_no::text`)}) as name (key)`
}

/** Asks for the names of the lines of a window for which no tier so far has an eligible payment. */
export const askNames = (runId: string, lines: Lines) => sql`
insert into tollgate.settlement_asked (run_id, line, scope_id, tier, key, from_at, to_at)
select work.run_id, work.line, work.scope_id, name.tier, name.key, work.from_at, work.to_at
from tollgate.settlement_work as work
join tollgate.settlement_stage as stage on stage.file_id = work.run_id and ${inWindow(sql`stage`, lines)}
  and stage.line = work.line
cross join lateral (values
  (2, '1 ' || lower(btrim(stage.ref1))),
  (2, '2 ' || lower(btrim(stage.ref2))),
  (2, '3 ' || lower(btrim(stage.ref3))),
  (3, '4 ' || lower(btrim(stage.merchant_transaction_id))),
  (4, '5 ' || stage.short_no)) as name (tier, key)
where work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)} and work.purpose <> 'none'
  and name.key is not null and ${isOpen(lines)}`

/** Lines of a window that have an eligible payment now ask for nothing more. */
export const dropAnswered = (runId: string, lines: Lines) => sql`
delete from tollgate.settlement_asked as work
where work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)} and ${hasEligible(lines)}`

/** The kinds of names that the lines of a run ask for. */
export const askedKinds = (runId: string) => sql<{ kind: NameKind }>`
select distinct left(key, 1) as kind
from tollgate.settlement_asked
where run_id = ${runId}::uuid
order by kind`

/** A part of the ids of payments: behind the first, up to the last. */
export type Ids = { readonly after: string; readonly upTo: string }

/** The last id of a page of payments; no row: fewer are left. */
export const pageEnd = ({ after, upTo }: Ids, payments: number) => sql<{ id: string }>`
select id
from tollgate.payment
where id > ${after}::uuid and id <= ${upTo}::uuid
order by id
offset ${payments}::integer - 1
limit 1`

/** Finds the payments of a page that have names for which lines ask, in one pass. */
export const findNames = (
  runId: string,
  places: Places,
  refs: Refs,
  kinds: readonly NameKind[],
  { after, upTo }: Ids,
) => sql`
with ${placesOf(places)}
insert into tollgate.settlement_found (run_id, scope_id, key, payment_id, created_at)
select ${runId}::uuid, held.scope_id, held.key, held.id, held.created_at
from (
  select place.scope_id, payment.id, payment.created_at, name.key
  from tollgate.payment
  join place on ${isPaymentOfPlace(places)}
  ${paymentNames(refs, kinds)}
  where payment.id > ${after}::uuid and payment.id <= ${upTo}::uuid and name.key is not null
  -- Otherwise the planner may join every payment with every line of its merchant before it compares names.
  offset 0) as held
where (held.scope_id, held.key) in (
  select scope_id, key from tollgate.settlement_asked where run_id = ${runId}::uuid)`

/** The same for payments whose names lines have only masked. */
export const foundMasked = (runId: string, masked: readonly MaskedName[]) => sql`
insert into tollgate.settlement_found (run_id, scope_id, key, payment_id, created_at)
select ${runId}::uuid, given.scope_id, given.key, payment.id, payment.created_at
from unnest(${masked.map(({ scopeId }) => scopeId)}::uuid[],
  ${masked.map(({ paymentId }) => paymentId)}::uuid[], ${masked.map(({ key }) => key)}::text[])
  as given (scope_id, payment_id, key)
cross join lateral (
  select payment.id, payment.created_at
  from tollgate.payment
  where payment.id = given.payment_id
  offset 0) as payment`

/** Part of a statement: judges `pair` (line, tier, payment_id, and how many payments share the name). */
const fromPairs = (runId: string, refs: Refs, lines: Lines) => sql`
insert into tollgate.settlement_candidate (${candidateColumns}, crowd, crowd_count)
select work.run_id, work.line, work.scope_id, pair.tier, payment.id, true,
  ${judgedWithRefs(sql`pair.tier`, refs, sql`pair.sharing > ${crowded}::integer`)},
  case when pair.sharing > ${crowded}::integer then (pair.ids)[1:${crowded}::integer] end,
  case when pair.sharing > ${crowded}::integer then pair.sharing end
from pair
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)}
  and work.line = pair.line
${withLine(lines)}
cross join lateral (
  select ${paymentColumns}, payment.answer
  from tollgate.payment
  where payment.id = pair.payment_id
  offset 0) as payment
${withBalance}
order by pair.tier
on conflict do nothing`

/**
 * Tiers 2 to 4: the payments that were found for the names of a window.
 *
 * @param isInside Of the time of a line; or of all other times, once no payment of its time fits.
 */
export const byNames = (runId: string, refs: Refs, lines: Lines, isInside: boolean) => sql`
with asked as materialized (
  select line, scope_id, tier, key, from_at, to_at
  from tollgate.settlement_asked as asked
  where asked.run_id = ${runId}::uuid and ${inWindow(sql`asked`, lines)}),
request as materialized (
  select distinct scope_id, from_at, to_at, key
  from asked),
found as materialized (
  select request.scope_id, request.from_at, request.to_at, request.key, held.sharing, held.ids
  from request
  cross join lateral (
    select count(*)::integer as sharing, array_agg(found.payment_id order by found.payment_id) as ids
    from tollgate.settlement_found as found
    where found.run_id = ${runId}::uuid and found.scope_id = request.scope_id and found.key = request.key
      and (found.created_at between request.from_at and request.to_at) = ${isInside}::boolean
    offset 0) as held
  where held.sharing > 0),
pair as (
  select asked.line, asked.tier, found.sharing, found.ids, member.payment_id
  from asked
  join found on found.scope_id = asked.scope_id and found.from_at = asked.from_at and found.to_at = asked.to_at
    and found.key = asked.key
  -- Of a crowd, one row stands for all.
  cross join lateral unnest(case when found.sharing > ${crowded}::integer then (found.ids)[1:1] else found.ids end)
    as member (payment_id))
${fromPairs(runId, refs, lines)}`

/** The same among the candidates of the decision before, of any time. */
export const byNamesAgain = (
  runId: string,
  places: Places,
  refs: Refs,
  lines: Lines,
  masked: readonly MaskedName[],
) => sql`
with ${placesOf(places)},
asked as materialized (
  select line, scope_id, tier, key
  from tollgate.settlement_asked as asked
  where asked.run_id = ${runId}::uuid and ${inWindow(sql`asked`, lines)}),
pair as (
  select asked.line, asked.tier, 1 as sharing, array[payment.id] as ids, payment.id as payment_id
  from tollgate.settlement_work as work
  cross join lateral unnest(work.known) as known (payment_id)
  cross join lateral (
    select ${paymentColumns}, payment.answer, payment.merchant_transaction_id, payment.short_no
    from tollgate.payment
    where payment.id = known.payment_id
    offset 0) as payment
  join place on place.scope_id = work.scope_id and ${isPaymentOfPlace(places)}
  ${paymentNames(refs)}
  join asked on asked.line = work.line and asked.key = name.key
  where work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)}
  union
  select asked.line, asked.tier, 1, array[named.payment_id], named.payment_id
  from unnest(${masked.map(({ scopeId }) => scopeId)}::uuid[],
    ${masked.map(({ paymentId }) => paymentId)}::uuid[], ${masked.map(({ key }) => key)}::text[])
    as named (scope_id, payment_id, key)
  join asked on asked.scope_id = named.scope_id and asked.key = named.key
  join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)}
    and work.line = asked.line
  where named.payment_id = any(work.known))
${fromPairs(runId, refs, lines)}`

/**
 * A named preauthorization or sale leads to its follow-ups of the wanted types, at most two levels below:
 * the refund of a capture of a preauthorization. A payment that fits by itself, and equals the line, is
 * what the line means. So is a preauthorization for a dispute.
 */
export const withFollowUps = (runId: string, places: Places, refs: Refs, lines: Lines) => sql`
with ${placesOf(places)}
insert into tollgate.settlement_candidate (${candidateColumns})
select work.run_id, work.line, work.scope_id, origin.tier, payment.id, false,
  ${judgedWithRefs(sql`origin.tier`, refs)}
from tollgate.settlement_candidate as origin
join tollgate.settlement_work as work on work.run_id = origin.run_id and ${inWindow(sql`work`, lines)}
  and work.line = origin.line
${withLine(lines)}
cross join lateral (
  select first.id
  from tollgate.payment as first
  where first.referenced_id = origin.payment_id
  union all
  select second.id
  from (
    select id from tollgate.payment as first where first.referenced_id = origin.payment_id offset 0) as first
  cross join lateral (
    select id from tollgate.payment as second where second.referenced_id = first.id offset 0) as second
  offset 0) as below
cross join lateral (
  select ${paymentColumns}, payment.answer
  from tollgate.payment
  where payment.id = below.id
  offset 0) as payment
join place on place.scope_id = work.scope_id and ${isPaymentOfPlace(places)}
${withBalance}
where origin.run_id = ${runId}::uuid and ${inWindow(sql`origin`, lines)} and origin.is_named and origin.crowd is null
  and payment.payment_type = any(work.wanted)
  and origin.payment_type in ('PA', 'DB', 'CP', 'RB', 'RC', 'CD')
  and not (origin.is_eligible and (work.purpose <> 'settled'
    or (origin.minor = work.amount_minor and origin.currency = work.currency)))
  and not (work.purpose = 'dispute' and origin.payment_type = 'PA' and origin.tier <= ${lastOwnName}::integer)
order by origin.tier
on conflict do nothing`

/** The record of a chargeback, or of its reversal, leads to the disputed payment. */
export const withDisputed = (runId: string, places: Places, refs: Refs, lines: Lines) => sql`
with ${placesOf(places)}
insert into tollgate.settlement_candidate (${candidateColumns})
select work.run_id, work.line, work.scope_id, origin.tier, payment.id, false,
  ${judgedWithRefs(sql`origin.tier`, refs)}
from tollgate.settlement_candidate as origin
join tollgate.settlement_work as work on work.run_id = origin.run_id and ${inWindow(sql`work`, lines)}
  and work.line = origin.line
${withLine(lines)}
cross join lateral (
  select case when origin.payment_type = 'CB' then origin.referenced_id else (
    select referenced_id from tollgate.payment as charged where charged.id = origin.referenced_id) end as id
  offset 0) as disputed
cross join lateral (
  select ${paymentColumns}, payment.answer
  from tollgate.payment
  where payment.id = disputed.id
  offset 0) as payment
join place on place.scope_id = work.scope_id and ${isPaymentOfPlace(places)}
${withBalance}
where origin.run_id = ${runId}::uuid and ${inWindow(sql`origin`, lines)} and origin.is_named and origin.payment_type in ('CB', 'CR')
  and work.purpose = 'dispute'
order by origin.tier
on conflict do nothing`

/** A fee of a payment of any type is about that payment, if no follow-up of it fits better. */
export const feesOfNamed = (runId: string, lines: Lines) => sql`
update tollgate.settlement_candidate as candidate set is_eligible = true
from tollgate.settlement_work as work
where candidate.run_id = ${runId}::uuid and ${inWindow(sql`candidate`, lines)}
  and work.run_id = candidate.run_id and ${inWindow(sql`work`, lines)} and work.line = candidate.line
  and work.purpose = 'fee' and candidate.is_named and ${isOpen(lines)}`
