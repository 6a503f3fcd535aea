/** SQL of the tiers 1 to 4: payments that a line names, and the payments that these lead to. */
import { type Sql, sql } from '../../db/sql.ts'
import {
  candidateColumns,
  isOpen,
  isPaymentOfPlace,
  judged,
  type Places,
  paymentColumns,
  placesOf,
  withBalance,
} from './stored-places.ts'

/** Beyond this number, payments of one name are counted and not compared. */
const crowded = 100

/** Tier 1: by payment id or attempt key. `offset 0` looks payments up one by one, in the order of ids. */
export const byPaymentId = (runId: string, places: Places) => sql`
with ${placesOf(places)},
named as (
  select line, named_payment as payment_id
  from tollgate.settlement_work
  where run_id = ${runId}::uuid and purpose <> 'none' and named_payment is not null
  union
  select work.line, attempt.payment_id
  from tollgate.settlement_work as work
  cross join lateral (
    select attempt.payment_id
    from tollgate.attempt
    where attempt.key in (work.named_key, lower(work.named_key))
    offset 0) as attempt
  where work.run_id = ${runId}::uuid and work.purpose <> 'none' and work.named_key is not null
  order by payment_id)
insert into tollgate.settlement_candidate (${candidateColumns})
select work.run_id, work.line, work.scope_id, 1, payment.id, true, ${judged}
from named
cross join lateral (
  select ${paymentColumns}
  from tollgate.payment
  where payment.id = named.payment_id
  offset 0) as payment
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and work.line = named.line
join place on place.scope_id = work.scope_id and ${isPaymentOfPlace(places)}
${withBalance}
on conflict do nothing`

/** The kinds of names that lines ask for: the first character of their keys. */
export const nameKinds = ['1', '2', '3', '4', '5'] as const

export type NameKind = (typeof nameKinds)[number]

type Refs = readonly [string, string, string]

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

/** Names of lines that no tier so far has an eligible payment for: tier and key. */
const asked = (runId: string) => sql`
asked as materialized (
  select work.scope_id, work.line, work.from_at, work.to_at, name.tier, name.key
  from tollgate.settlement_work as work
  join tollgate.settlement_stage as stage on stage.file_id = work.run_id and stage.line = work.line
  cross join lateral (values
    (2, '1 ' || lower(btrim(stage.ref1))),
    (2, '2 ' || lower(btrim(stage.ref2))),
    (2, '3 ' || lower(btrim(stage.ref3))),
    (3, '4 ' || lower(btrim(stage.merchant_transaction_id))),
    (4, '5 ' || stage.short_no)) as name (tier, key)
  where work.run_id = ${runId}::uuid and work.purpose <> 'none' and name.key is not null and ${isOpen})`

/** The kinds of names of the lines for which no tier so far has an eligible payment. */
export const askedKinds = (runId: string) => sql<{ kind: NameKind }>`
with ${asked(runId)}
select distinct left(key, 1) as kind
from asked`

/** Names of lines that are stored masked. */
export const askedMasked = (runId: string) => sql<{ scope_id: string; key: string }>`
with ${asked(runId)}
select distinct scope_id, key
from asked
where key ~ ${'^[1-4] .*[*].*#[0-9a-f]{16}$'}::text`

/** A name of a payment that can be masked; without a scope: the last payment of a page. */
export type Maskable = {
  scope_id: string | null
  id: string | null
  kind: NameKind | null
  name: string | null
}

/** Where payments with masked names are looked for. */
export type MaskedWhere =
  | Search['ids']
  /** Among the candidates of the decision before. */
  | { readonly is: 'known' }

/**
 * The next payments, in the order of their ids, with those of their names that can be masked. The last row has the
 * last id of the page; null: there are no more.
 *
 * @param endings Last four characters of the names; null: any.
 */
export const maskable = (
  runId: string,
  places: Places,
  refs: Refs,
  where: MaskedWhere,
  endings: readonly string[] | null,
  after: string,
  limit: number,
) => sql<Maskable>`
with ${placesOf(places)},
page as materialized (
  select ${paymentColumns}, payment.answer -> 'refs' as refs, payment.merchant_transaction_id
  from tollgate.payment
  where payment.id > ${after}::uuid and ${
    where.is === 'known'
      ? sql`payment.id in (
        select known.payment_id
        from tollgate.settlement_work as work
        cross join lateral unnest(work.known) as known (payment_id)
        where work.run_id = ${runId}::uuid)`
      : where.is === 'inside'
        ? sql`payment.id between ${where.from}::uuid and ${where.to}::uuid`
        : sql`(payment.id < ${where.from}::uuid or payment.id > ${where.to}::uuid)`
  }
  order by payment.id
  limit ${limit}::integer)
select place.scope_id, replace(payment.id::text, '-', '') as id, given.kind, given.name
from page as payment
join place on ${isPaymentOfPlace(places)}
cross join lateral (values
  ('1', payment.refs ->> ${refs[0]}::text),
  ('2', payment.refs ->> ${refs[1]}::text),
  ('3', payment.refs ->> ${refs[2]}::text),
  ('4', payment.merchant_transaction_id)) as given (kind, name)
where length(given.name) >= 13 and given.name ~ '[0-9]'
  and (${endings}::text[] is null or lower(right(btrim(given.name), 4)) = any(${endings}::text[]))
union all
select null, replace(max(payment.id::text), '-', ''), null, null
from page as payment`

/** Part of a statement: the payments of masked names. */
const withNames = (masked: readonly MaskedName[]) => sql`
    select given.scope_id, payment.id, payment.created_at, given.key
    from unnest(${masked.map(({ scopeId }) => scopeId)}::uuid[],
      ${masked.map(({ paymentId }) => paymentId)}::uuid[], ${masked.map(({ key }) => key)}::text[])
      as given (scope_id, payment_id, key)
    cross join lateral (
      select payment.id, payment.created_at
      from tollgate.payment
      where payment.id = given.payment_id
      offset 0) as payment`

/** Part of a statement: judges `pair` (line, tier, payment_id, and how many payments share the name). */
const fromPairs = (runId: string) => sql`
insert into tollgate.settlement_candidate (${candidateColumns}, crowd, crowd_count)
select work.run_id, work.line, work.scope_id, pair.tier, payment.id, true, ${judged}
    or pair.sharing > ${crowded}::integer,
  case when pair.sharing > ${crowded}::integer then (pair.ids)[1:${crowded}::integer] end,
  case when pair.sharing > ${crowded}::integer then pair.sharing end
from pair
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and work.line = pair.line
cross join lateral (
  select ${paymentColumns}
  from tollgate.payment
  where payment.id = pair.payment_id
  offset 0) as payment
${withBalance}
order by pair.tier
on conflict do nothing`

/** Payments are looked for by the time of a line first, then at all other times. */
export type Search = {
  readonly refs: Refs
  readonly kinds: readonly NameKind[]
  /** Payments with names that are stored masked. */
  readonly masked: readonly MaskedName[]
  /** `inside` an interval of ids that holds the times of all lines, or `outside` of one that all times hold. */
  readonly ids: { readonly is: 'inside' | 'outside'; readonly from: string; readonly to: string }
}

/** Tiers 2 to 4 in one pass over the payments. */
export const byReferences = (
  runId: string,
  places: Places,
  { refs, kinds, ids: { is, from, to }, masked }: Search,
) => sql`
with ${placesOf(places)},
${asked(runId)},
request as materialized (
  select distinct scope_id, from_at, to_at, tier, key
  from asked),
found as (
  select request.scope_id, request.from_at, request.to_at, request.tier, request.key, count(*)::integer as sharing,
    array_agg(held.id order by held.id) as ids
  from request
  join (
    select place.scope_id, payment.id, payment.created_at, name.key
    from tollgate.payment
    join place on ${isPaymentOfPlace(places)}
    ${paymentNames(refs, kinds)}
    where ${
      is === 'inside'
        ? sql`payment.id between ${from}::uuid and ${to}::uuid`
        : sql`(payment.id < ${from}::uuid or payment.id > ${to}::uuid)`
    } and name.key is not null
    union all
    select scope_id, id, created_at, key
    from (${withNames(masked)}) as named
    -- Otherwise the planner may join every payment with every request of its merchant before it compares names.
    offset 0) as held
    on held.scope_id = request.scope_id and held.key = request.key
  where (held.created_at between request.from_at and request.to_at) = ${is === 'inside'}::boolean
  group by request.scope_id, request.from_at, request.to_at, request.tier, request.key),
pair as (
  select asked.line, found.tier, found.sharing, found.ids, member.payment_id
  from asked
  join found on found.scope_id = asked.scope_id and found.from_at = asked.from_at and found.to_at = asked.to_at
    and found.key = asked.key
  -- Of a crowd, one row stands for all.
  cross join lateral unnest(case when found.sharing > ${crowded}::integer then (found.ids)[1:1] else found.ids end)
    as member (payment_id))
${fromPairs(runId)}`

/** The same for the candidates of the decision before, of any time. */
export const byReferencesAgain = (
  runId: string,
  places: Places,
  refs: Refs,
  masked: readonly MaskedName[],
) => sql`
with ${placesOf(places)},
${asked(runId)},
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
  where work.run_id = ${runId}::uuid
  union
  select asked.line, asked.tier, 1, array[named.id], named.id
  from (${withNames(masked)}) as named
  join asked on asked.scope_id = named.scope_id and asked.key = named.key
  join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and work.line = asked.line
  where named.id = any(work.known))
${fromPairs(runId)}`

/**
 * A named preauthorization or sale leads to its follow-ups of the wanted types, at most two levels below:
 * the refund of a capture of a preauthorization. A payment that fits by itself, and equals the line, is
 * what the line means.
 */
export const withFollowUps = (runId: string, places: Places) => sql`
with ${placesOf(places)}
insert into tollgate.settlement_candidate (${candidateColumns})
select work.run_id, work.line, work.scope_id, origin.tier, payment.id, false, ${judged}
from tollgate.settlement_candidate as origin
join tollgate.settlement_work as work on work.run_id = origin.run_id and work.line = origin.line
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
  select ${paymentColumns}
  from tollgate.payment
  where payment.id = below.id
  offset 0) as payment
join place on place.scope_id = work.scope_id and ${isPaymentOfPlace(places)}
${withBalance}
where origin.run_id = ${runId}::uuid and origin.is_named and origin.crowd is null
  and payment.payment_type = any(work.wanted)
  and origin.payment_type in ('PA', 'DB', 'CP', 'RB', 'RC', 'CD')
  and not (origin.is_eligible and (work.purpose <> 'settled'
    or (origin.minor = work.amount_minor and origin.currency = work.currency)))
order by origin.tier
on conflict do nothing`

/** The record of a chargeback, or of its reversal, leads to the disputed payment. */
export const withDisputed = (runId: string, places: Places) => sql`
with ${placesOf(places)}
insert into tollgate.settlement_candidate (${candidateColumns})
select work.run_id, work.line, work.scope_id, origin.tier, payment.id, false, ${judged}
from tollgate.settlement_candidate as origin
join tollgate.settlement_work as work on work.run_id = origin.run_id and work.line = origin.line
cross join lateral (
  select case when origin.payment_type = 'CB' then origin.referenced_id else (
    select referenced_id from tollgate.payment as charged where charged.id = origin.referenced_id) end as id
  offset 0) as disputed
cross join lateral (
  select ${paymentColumns}
  from tollgate.payment
  where payment.id = disputed.id
  offset 0) as payment
join place on place.scope_id = work.scope_id and ${isPaymentOfPlace(places)}
${withBalance}
where origin.run_id = ${runId}::uuid and origin.is_named and origin.payment_type in ('CB', 'CR')
  and work.purpose = 'dispute'
order by origin.tier
on conflict do nothing`

/** A fee of a payment of any type is about that payment, if no follow-up of it fits better. */
export const feesOfNamed = (runId: string) => sql`
update tollgate.settlement_candidate as candidate set is_eligible = true
from tollgate.settlement_work as work
where candidate.run_id = ${runId}::uuid and work.run_id = candidate.run_id and work.line = candidate.line
  and work.purpose = 'fee' and candidate.is_named and ${isOpen}`
