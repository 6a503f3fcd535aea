/**
 * SQL of chargebacks and their reversals. Each is one statement: the fact, its record among the
 * payments, the sums and the event. The acquirer's reference makes it happen once.
 */
import { type Sql, sql } from '../db/sql.ts'
import { outbox } from '../webhook/store-outbox.ts'
import type { PaymentState } from './types.ts'

export type FactKind = 'chargeback' | 'reversal'

/** The record of a fact among the payments. */
export type FactRow = {
  readonly id: string
  readonly kind: FactKind
  readonly connector: string
  readonly account: string
  readonly reference: string
  /** Whether the acquirer gave the reference. */
  readonly isNamed: boolean
  /** Id of the message that says it; null for a merchant's own. */
  readonly source: string | null
  /** What was charged back: also of a reversal. */
  readonly paymentId: string
  /** The sums that it counts in; null: outside of them. */
  readonly balanceId: string | null
  readonly minor: bigint
  readonly currency: string
  /** Of a reversal: the reference of its chargeback; null when it has none. */
  readonly reverses: string | null
  /** What its record refers to: the payment, or the chargeback. */
  readonly referencedId: string
  readonly channelId: string
  readonly entityId: string
  readonly accountId: string | null
  readonly shortNo: bigint
  readonly createdAt: Date
  readonly paymentType: string
  readonly effect: string
  readonly mode: string
  readonly method: string | null
  readonly brand: string | null
  readonly merchantTransactionId: string | null
  readonly clockId: string | null
  readonly request: string
  readonly resultCode: string
  readonly answer: string
  readonly event: { readonly id: string; readonly type: string; readonly data: string }
  readonly notifies: boolean
  readonly idempotencyKey: Buffer | null
  readonly idempotencyFingerprint: Buffer | null
}

/** The entry of the operators' list for a fact that does not fit. */
export type FactEntry = {
  readonly id: string
  readonly kind: 'beyond-sums'
  readonly detail: Readonly<Record<string, unknown>>
  /** Balances on which refunds and reversals wait until an operator ended it. */
  readonly freezes: readonly string[]
  /** Listed also where it fits the sums. */
  readonly isAlways: boolean
}

export type Recorded = { id: string; seq: number; counted: bigint; left: bigint | null }

/** The record and what follows from it, from `fact`. */
const written = (row: FactRow): Sql => sql`
record as (
  insert into tollgate.payment (id, channel_id, entity_id, root_id, parent_id, referenced_id, account_id,
    short_no, amount_minor, created_at, currency, payment_type, effect, mode, method, brand, connector,
    attempt_key, merchant_transaction_id, clock_id, seq, state, result_code, approved_minor, settled_at, answer)
  select ${row.id}::uuid, ${row.channelId}::uuid, ${row.entityId}::uuid, ${row.id}::uuid, ${row.balanceId}::uuid,
    ${row.referencedId}::uuid, ${row.accountId}::uuid, ${row.shortNo}::bigint, ${String(row.minor)}::bigint,
    ${row.createdAt}::timestamptz, ${row.currency}::text, ${row.paymentType}::text, ${row.effect}::text,
    ${row.mode}::text, ${row.method}::text, ${row.brand}::text, ${row.connector}::text, ${row.id}::text,
    ${row.merchantTransactionId}::text, ${row.clockId}::uuid, 1, 'approved', ${row.resultCode}::text,
    ${String(row.minor)}::bigint, now(), ${row.answer}::jsonb
  from fact
  returning id, seq, channel_id),
request as (
  insert into tollgate.payment_request (id, request)
  select id, ${row.request}::jsonb from record),
keyed as (
  insert into tollgate.idempotency (entity_id, key, fingerprint, payment_id)
  select ${row.entityId}::uuid, ${row.idempotencyKey}::bytea, ${row.idempotencyFingerprint}::bytea, id
  from record
  where ${row.idempotencyKey}::bytea is not null),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${row.event.id}::uuid, id, seq, channel_id, ${row.event.type}::text, ${row.event.data}::jsonb
  from record
  returning id, resource, seq),
told as (${outbox.ofPayment(row.notifies)})`

const known = sql`on conflict do nothing`

const fact = (row: FactRow, counted: Sql, from: Sql, onConflict = known): Sql => sql`
fact as (
  insert into tollgate.chargeback (connector, account, kind, reference, is_named, source, record_id, payment_id,
    balance_id, minor, currency, counted, reverses)
  select ${row.connector}::text, ${row.account}::text, ${row.kind}::text, ${row.reference}::text,
    ${row.isNamed}::boolean, ${row.source}::text, ${row.id}::uuid,
    ${row.paymentId}::uuid, ${row.balanceId}::uuid, ${String(row.minor)}::bigint, ${row.currency}::text, ${counted},
    ${row.reverses}::text
  ${from}
  ${onConflict}
  returning counted)`

/**
 * A chargeback that the acquirer reported: recorded whatever the sums are. What is beyond them, and
 * what is outside of them, is listed in the same commit. No row back: its reference is known.
 *
 * @param entry Listed: always where the fact is outside the sums, else when it is beyond them.
 */
export const recordChargeback = (row: FactRow, entry: FactEntry) => sql<Recorded>`
with ${fact(row, sql`case when ${row.balanceId}::uuid is null then 0 else ${String(row.minor)}::bigint end`, sql``)},
sums as (
  update tollgate.payment_balance set charged_back = charged_back + fact.counted
  from fact
  where payment_balance.payment_id = ${row.balanceId}::uuid
  returning closed_by is not distinct from payment_id as has_failed,
    captured - refunded - refunding - reversed - reversing - charged_back as left_minor),
${written(row)},
entry as (
  insert into tollgate.attention (id, kind, payment_id, reference, freezes, detail)
  select ${entry.id}::uuid, ${entry.kind}::text, ${row.paymentId}::uuid, ${`chargeback ${row.reference}`}::text,
    ${entry.freezes}::uuid[], ${JSON.stringify(entry.detail)}::jsonb || case when sums.left_minor is null
      then '{}' else jsonb_build_object('leftMinor', sums.left_minor::text) end
  from fact
  left join sums on true
  where sums.left_minor is null or sums.left_minor < 0 or sums.has_failed or ${entry.isAlways}::boolean
    or cardinality(${entry.freezes}::uuid[]) > 0
  on conflict do nothing
  returning id, freezes),
frozen as (
  update tollgate.payment_balance set frozen_by = array_append(frozen_by, entry.id)
  from entry
  where payment_balance.payment_id = any(entry.freezes)
    and payment_balance.payment_id is distinct from ${row.balanceId}::uuid)
select record.id, record.seq, fact.counted, sums.left_minor as left
from record
cross join fact
left join sums on true`

/**
 * A chargeback that a merchant posts in a test: only within what is left. Running it again after it
 * committed violates the fact's key, and so counts nothing twice.
 */
export const postChargeback = (row: FactRow) => sql<Recorded>`
with sums as (
  update tollgate.payment_balance set charged_back = charged_back + ${String(row.minor)}::bigint
  where payment_id = ${row.balanceId}::uuid and closed_by is distinct from payment_id
    and captured - refunded - refunding - reversed - reversing - charged_back >= ${String(row.minor)}::bigint
  returning payment_id),
${fact(row, sql`${String(row.minor)}::bigint`, sql`from sums`, sql``)},
${written(row)}
select record.id, record.seq, fact.counted, null::bigint as left
from record
cross join fact`

/**
 * The reversal of a chargeback, as far as that still stands in the same sums and currency; without a reference, of those without one
 * that stand longest, or `isAny` of all. No row back: its reference is known, or less is left than `isStrict` or `isWhole` ask for.
 */
export const recordReversal = (
  row: FactRow,
  {
    isStrict,
    isWhole,
    isAny,
    why = null,
  }: {
    readonly isStrict: boolean
    readonly isWhole: boolean
    readonly isAny: boolean
    /** What an operator has to look at before anything is refunded; null: nothing. */
    readonly why?: string | null
  },
) => sql<Recorded>`
with standing as (
  select reference, record_id, at, case
    when currency = ${row.currency}::text and balance_id = ${row.balanceId}::uuid then counted - reversed
    else 0 end as rest
  from tollgate.chargeback
  where payment_id = ${row.paymentId}::uuid and kind = 'chargeback'
    and connector = ${row.connector}::text and account = ${row.account}::text
    and (reference = ${row.reverses}::text
      or ${row.reverses}::text is null and (not is_named or ${isAny}::boolean))
  for update),
spread as (
  select reference, least(rest, greatest(0,
    ${String(row.minor)}::bigint - (sum(rest) over (order by at, record_id) - rest)))::bigint as counts
  from standing),
charged as (
  select coalesce(sum(counts), 0)::bigint as counts
  from spread
  having count(*) > 0
    and (not ${isStrict || isWhole}::boolean or sum(counts) = ${String(row.minor)}::bigint)),
${fact(row, sql`charged.counts`, sql`from charged`)},
reversed as (
  update tollgate.chargeback set reversed = chargeback.reversed + spread.counts
  from spread, fact
  where chargeback.connector = ${row.connector}::text and chargeback.account = ${row.account}::text
    and chargeback.kind = 'chargeback' and chargeback.reference = spread.reference),
sums as (
  update tollgate.payment_balance set charged_back = charged_back - fact.counted,
    frozen_by = case when ${why}::text is null then frozen_by else array_append(frozen_by, ${row.event.id}::uuid) end
  from fact
  where payment_balance.payment_id = ${row.balanceId}::uuid),
${written(row)},
entry as (
  insert into tollgate.attention (id, kind, payment_id, reference, freezes, detail)
  select ${row.event.id}::uuid, 'beyond-sums', ${row.paymentId}::uuid, ${`reversal ${row.reference}`}::text,
    case when ${why}::text is null or ${row.balanceId}::uuid is null then '{}' else array[${row.balanceId}::uuid] end,
    jsonb_strip_nulls(jsonb_build_object('why', ${why}::text) || jsonb_build_object('reported', 'CR', 'reference', ${row.reference}::text, 'minor', ${String(row.minor)}::text,
      'currency', ${row.currency}::text, 'leftMinor', (fact.counted - ${String(row.minor)}::bigint)::text))
  from fact
  where fact.counted < ${String(row.minor)}::bigint or ${why}::text is not null
  on conflict do nothing)
select record.id, record.seq, fact.counted, null::bigint as left
from record
cross join fact`

export type ChargebackRow = {
  reference: string
  is_named: boolean
  /** Id of the message that said it first. */
  source: string | null
  record_id: string
  payment_id: string
  balance_id: string | null
  minor: bigint
  currency: string
  counted: bigint
  reversed: bigint
  /** What of it was given back, also where it is outside of the sums. */
  given_back: bigint
}

const columns = sql`reference, is_named, source, record_id, payment_id, balance_id, minor, currency, counted, reversed,
  case when balance_id is null then (
    select coalesce(sum(reversal.minor), 0)::bigint
    from tollgate.chargeback reversal
    where reversal.payment_id = chargeback.payment_id and reversal.kind = 'reversal'
      and reversal.connector = chargeback.connector and reversal.account = chargeback.account
      and reversal.reverses = chargeback.reference and reversal.currency = chargeback.currency)
    else reversed end as given_back`

/** A fact by the acquirer's reference. */
export const factByReference = (
  connector: string,
  account: string,
  kind: FactKind,
  reference: string,
) => sql<ChargebackRow>`
  select ${columns}
  from tollgate.chargeback
  where connector = ${connector}::text and account = ${account}::text and kind = ${kind}::text
    and reference = ${reference}::text`

/** Chargebacks of a payment, and of the captures that it stands for, oldest first. */
export const chargebacksOf = (paymentIds: readonly string[]) => sql<ChargebackRow>`
  select ${columns}
  from tollgate.chargeback
  where payment_id = any(${paymentIds}::uuid[]) and kind = 'chargeback'
  order by at, record_id`

/**
 * What payers' banks took back of a payment and did not give back, in its currency, with what is outside
 * of the sums: a late success has none, and its money is gone all the same.
 */
export const chargedBackOf = (paymentId: string) => sql<{ minor: bigint }>`
with charged as (
  select ${columns}
  from tollgate.chargeback
  where payment_id = ${paymentId}::uuid and kind = 'chargeback'),
standing as (
  select charged.balance_id is null as is_outside, greatest(0, charged.minor - charged.given_back) as minor
  from charged
  join tollgate.payment on payment.id = charged.payment_id and payment.currency = charged.currency),
nameless as (
  select coalesce(sum(reversal.minor), 0) as minor
  from tollgate.chargeback reversal
  join tollgate.payment on payment.id = reversal.payment_id and payment.currency = reversal.currency
  where reversal.payment_id = ${paymentId}::uuid and reversal.kind = 'reversal'
    and reversal.balance_id is null and reversal.reverses is null)
select (coalesce(sum(standing.minor) filter (where not is_outside), 0)
  + greatest(0, coalesce(sum(standing.minor) filter (where is_outside), 0) - nameless.minor))::bigint as minor
from nameless
left join standing on true
group by nameless.minor`

/** The chargebacks that payment records stand for. */
export const chargebacksByRecord = (recordIds: readonly string[]) => sql<ChargebackRow>`
  select ${columns}
  from tollgate.chargeback
  where record_id = any(${recordIds}::uuid[]) and kind = 'chargeback'`

/** Captures of an authorisation and of what was added to it, with those that came to nothing. */
export const capturesOf = (rootId: string) => sql<{ id: string; state: PaymentState }>`
  select capture.id, capture.state
  from tollgate.payment capture
  where capture.effect = 'capture' and (
    capture.referenced_id = ${rootId}::uuid or capture.referenced_id in (
      select increase.id from tollgate.payment increase
      where increase.referenced_id = ${rootId}::uuid and increase.effect = 'increase'))
  order by capture.id`
