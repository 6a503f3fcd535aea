/**
 * SQL of chargebacks and their reversals. One statement each: the fact, its payment record, the
 * sums and the event. The acquirer's reference makes the fact unique.
 */
import { type AuditEntry, auditRows, nobody } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import { newEvent } from '../event/store-outbox.ts'
import { type PaymentEvent, storedEvent } from './payment-event.ts'
import { capturesOf, type FactKind } from './store-dispute-read.ts'
import { newPayment } from './stored-payment.ts'
import type { Payment, PaymentState } from './types.ts'

/** A fact, and the record of it among the payments. */
export type FactRow = {
  /**
   * Its parent is the balance of the sums; null: outside of them. The record refers to the payment
   * or the chargeback.
   */
  readonly record: Payment
  readonly kind: FactKind
  readonly account: string
  readonly reference: string
  /** Whether the acquirer gave the reference. */
  readonly isNamed: boolean
  /** Id of the message; null for a merchant's own fact. */
  readonly source: string | null
  /** The charged-back payment, also for a reversal. */
  readonly paymentId: string
  /** For a reversal: the reference of its chargeback; null when there is none. */
  readonly reverses: string | null
  readonly event: PaymentEvent
  readonly notifies: boolean
  readonly idempotencyKey: Buffer | null
  readonly idempotencyFingerprint: Buffer | null
}

/** The entry of the operators' list for a fact outside of the sums. */
export type FactEntry = {
  readonly id: string
  readonly kind: 'beyond-sums'
  readonly detail: Readonly<Record<string, unknown>>
  /** Balances whose refunds and reversals wait until an operator ends the entry. */
  readonly freezes: readonly string[]
  /** Listed even when the fact fits the sums. */
  readonly isAlways: boolean
}

/** The state read before a chargeback. After a concurrent change the statement records nothing. */
export type Seen = {
  /** The named payment. */
  readonly paymentId: string
  readonly state: PaymentState
  /**
   * Attempt keys of the payment and its captures; an operator may be about to keep late successes
   * among them.
   */
  readonly about: readonly string[]
  /**
   * For a standing authorisation: its approved captures, and its sums, read before the captures.
   */
  readonly authorisation: {
    readonly rootId: string
    readonly captures: readonly string[]
    readonly count: number
    readonly captured: bigint
    readonly capturing: bigint
  } | null
  /** The sums of the charged-back payment, which every chargeback changes; null: none. */
  readonly sums: { readonly paymentId: string; readonly chargedBack: bigint } | null
}

export type Recorded = { id: string; seq: number; counted: bigint; left: bigint | null }

/** Writes the record of `fact` and its consequences. */
const written = (row: FactRow): Sql => sql`${newPayment(row.record, {
  amount: sql`${minorOf(row)}::bigint`,
  from: sql`fact`,
})},
new_key as (
  insert into tollgate.idempotency (entity_id, key, fingerprint, payment_id)
  select ${row.record.entityId}::uuid, ${row.idempotencyKey}::bytea, ${row.idempotencyFingerprint}::bytea, id
  from new_payment
  where ${row.idempotencyKey}::bytea is not null),
${newEvent.ofPayment(storedEvent(row.event), sql`new_payment`, row.notifies)}`

const minorOf = ({ record }: FactRow): string => String(record.amount.minor)

const known = sql`on conflict do nothing`

const fact = (row: FactRow, counted: Sql, from: Sql, onConflict = known): Sql => sql`
fact as (
  insert into tollgate.chargeback (connector, account, kind, reference, is_named, source, record_id, payment_id,
    balance_id, minor, currency, counted, reverses)
  select ${row.record.connector}::text, ${row.account}::text, ${row.kind}::text, ${row.reference}::text,
    ${row.isNamed}::boolean, ${row.source}::text, ${row.record.id}::uuid, ${row.paymentId}::uuid,
    ${row.record.parentId}::uuid, ${minorOf(row)}::bigint, ${row.record.amount.currency}::text, ${counted},
    ${row.reverses}::text
  ${from}
  ${onConflict}
  returning counted)`

/**
 * Locks the payment and the sums of its authorisation, which every capture changes, and returns a
 * row only when both are unchanged. A statement that waited for a lock sees the changed row. The
 * statement also ends the fence of an operator's decision that did not see the chargeback. Lock
 * order: attempt, payment, balance.
 */
const stillAs = ({ paymentId, state, about, authorisation, sums }: Seen): Sql => sql`
unfenced as (
  update tollgate.attempt set lease = lease + 1
  where key = any(${about}::text[]) and state = 'late' and lease_until is null
  returning key),
named as (
  select payment.id
  from tollgate.payment
  where payment.id = ${paymentId}::uuid and payment.state = ${state}::text
    and (select count(*) from unfenced) >= 0
  for share),
authorised as (
  select balance.payment_id
  from tollgate.payment_balance as balance
  where balance.payment_id = ${authorisation?.rootId ?? null}::uuid
    and balance.captures = ${authorisation?.count ?? null}::integer
    and balance.captured = ${text(authorisation?.captured)}::bigint
    and balance.capturing = ${text(authorisation?.capturing)}::bigint
    and (
      select coalesce(array_agg(known.id order by known.id) filter (where known.state = 'approved'), '{}')
      from (${capturesOf(authorisation?.rootId ?? null)}) as known) = ${authorisation?.captures ?? []}::uuid[]
  for update),
counted as (
  select balance.payment_id
  from tollgate.payment_balance as balance
  where balance.payment_id = ${sums?.paymentId ?? null}::uuid
    and balance.charged_back = ${text(sums?.chargedBack)}::bigint
  for update),
still as (
  select named.id
  from named
  where (${authorisation?.rootId ?? null}::uuid is null or exists (select from authorised))
    and (${sums?.paymentId ?? null}::uuid is null or exists (select from counted)))`

const text = (value: bigint | undefined): string | null =>
  value === undefined ? null : String(value)

/** An existing open entry freezes further balances, too. */
const freezesToo = sql`
  on conflict (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference)
    where resolved_at is null
  do update set detail = attention.detail || excluded.detail, freezes = array(
    select unnest(attention.freezes) union select unnest(excluded.freezes))`

/**
 * Records an acquirer's chargeback regardless of the sums. The same commit lists an amount beyond
 * or outside of the sums. No row: the reference is known, or the state has changed since the read.
 *
 * @param entry Listed always for a fact outside of the sums, otherwise only beyond them.
 */
export const recordChargeback = (row: FactRow, entry: FactEntry, seen: Seen) => sql<Recorded>`
with ${stillAs(seen)},
${fact(row, sql`case when ${row.record.parentId}::uuid is null then 0 else ${minorOf(row)}::bigint end`, sql`from still`)},
sums as (
  update tollgate.payment_balance set charged_back = charged_back + fact.counted
  from fact
  where payment_balance.payment_id = ${row.record.parentId}::uuid
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
  ${freezesToo}
  returning id, freezes),
frozen as (
  update tollgate.payment_balance set frozen_by = array_append(array_remove(frozen_by, entry.id), entry.id)
  from entry
  where payment_balance.payment_id = any(entry.freezes)
    and payment_balance.payment_id is distinct from ${row.record.parentId}::uuid)
select new_payment.id, new_payment.seq, fact.counted, sums.left_minor as left
from new_payment
cross join fact
left join sums on true`

/**
 * A merchant's test chargeback, within the remaining amount only. A second run after the commit
 * violates the fact's key, so nothing counts twice.
 */
export const postChargeback = (row: FactRow) => sql<Recorded>`
with sums as (
  update tollgate.payment_balance set charged_back = charged_back + ${minorOf(row)}::bigint
  where payment_id = ${row.record.parentId}::uuid and closed_by is distinct from payment_id
    and captured - refunded - refunding - reversed - reversing - charged_back >= ${minorOf(row)}::bigint
  returning payment_id),
${fact(row, sql`${minorOf(row)}::bigint`, sql`from sums`, sql``)},
${written(row)}
select new_payment.id, new_payment.seq, fact.counted, null::bigint as left
from new_payment
cross join fact`

/**
 * The acquirer reports a reversal that an operator recorded by hand: the existing fact takes the
 * acquirer's name and message. No row: no unconfirmed reversal by hand has this amount.
 *
 * @param names Prefixes of the reversals by hand of the possible chargebacks.
 */
export const confirmReversal = (reversal: {
  readonly connector: string
  readonly account: string
  readonly names: readonly string[]
  readonly reference: string
  readonly source: string
  readonly minor: bigint
  readonly currency: string
}) => sql<{ record_id: string }>`
with by_hand as (
  select fact.reference
  from unnest(${reversal.names}::text[]) as named (beginning)
  join tollgate.chargeback as fact on fact.connector = ${reversal.connector}::text
    and fact.account = ${reversal.account}::text and fact.kind = 'reversal'
    and starts_with(fact.reference, named.beginning)
  where fact.told_as is null and fact.source is null and fact.minor = ${String(reversal.minor)}::bigint
    and fact.currency = ${reversal.currency}::text
  order by fact.at, fact.record_id
  limit 1
  for update of fact)
update tollgate.chargeback set told_as = ${reversal.reference}::text, source = ${reversal.source}::text
from by_hand
where chargeback.connector = ${reversal.connector}::text and chargeback.account = ${reversal.account}::text
  and chargeback.kind = 'reversal' and chargeback.reference = by_hand.reference and chargeback.told_as is null
returning chargeback.record_id`

/** How a reversal chooses its chargebacks. */
export type Reversing = {
  /** Refuses a partial match: for merchants and operators. */
  readonly isStrict: boolean
  /** Also requires the whole amount; the chargeback may still be missing. */
  readonly isWhole: boolean
  /** Without a reference: also uses chargebacks with a reference, after those without. */
  readonly isAny: boolean
  /** The reversed amount at the time of the read; after a change the statement records nothing. */
  readonly reversedBefore?: bigint
  /**
   * For an operator's reversal: its audit entry. An amount outside of the sums is then expected.
   */
  readonly byHand?: AuditEntry | null
  /** Why an operator has to look before any refund; null: no reason. */
  readonly why?: string | null
}

/** The reason for a reversal without a reference that used a chargeback with one. */
const guessed = 'it names no chargeback, and gave one back that has a reference'

/**
 * Records the reversal of a chargeback, up to the open amount in the same sums and currency.
 * Without a reference, uses the oldest open chargebacks without one, or of all with `isAny`. No
 * row: the reference is known, or the open amount is below the one that `isStrict` or `isWhole`
 * require.
 */
export const recordReversal = (
  row: FactRow,
  { isStrict, isWhole, isAny, reversedBefore, byHand = null, why = null }: Reversing,
) => sql<Recorded>`
with standing as (
  select reference, record_id, at, is_named, reversed, case
    when currency = ${row.record.amount.currency}::text and balance_id = ${row.record.parentId}::uuid then counted - reversed
    else 0 end as rest
  from tollgate.chargeback
  where payment_id = ${row.paymentId}::uuid and kind = 'chargeback'
    and connector = ${row.record.connector}::text and account = ${row.account}::text
    and (reference = ${row.reverses}::text
      or ${row.reverses}::text is null and (not is_named or ${isAny}::boolean))
  for update),
spread as (
  select reference, is_named, reversed, least(rest, greatest(0,
    ${minorOf(row)}::bigint - (sum(rest) over (order by is_named, at, record_id) - rest)))::bigint as counts
  from standing),
charged as (
  select coalesce(sum(counts), 0)::bigint as counts,
    coalesce(${why}::text, case when ${row.reverses}::text is null and bool_or(is_named and counts > 0)
      then ${guessed}::text end) as why
  from spread
  having count(*) > 0
    and (${text(reversedBefore)}::bigint is null or sum(reversed) = ${text(reversedBefore)}::bigint)
    and (not ${isStrict || isWhole}::boolean or sum(counts) = ${minorOf(row)}::bigint)),
${fact(row, sql`charged.counts`, sql`from charged`)},
reversed as (
  update tollgate.chargeback set reversed = chargeback.reversed + spread.counts
  from spread, fact
  where chargeback.connector = ${row.record.connector}::text and chargeback.account = ${row.account}::text
    and chargeback.kind = 'chargeback' and chargeback.reference = spread.reference),
entry as (
  insert into tollgate.attention (id, kind, payment_id, reference, freezes, detail)
  select ${row.event.id}::uuid, 'beyond-sums', ${row.paymentId}::uuid, ${`reversal ${row.reference}`}::text,
    case when charged.why is null or ${row.record.parentId}::uuid is null then '{}'
      else array[${row.record.parentId}::uuid] end,
    jsonb_strip_nulls(jsonb_build_object('why', charged.why) || jsonb_build_object('reported', 'CR',
      'reference', split_part(${row.reference}::text, chr(10), 1), 'minor', ${minorOf(row)}::text,
      'currency', ${row.record.amount.currency}::text, 'leftMinor', (fact.counted - ${minorOf(row)}::bigint)::text))
  from fact
  cross join charged
  where ${byHand === null}::boolean
    and (fact.counted < ${minorOf(row)}::bigint or charged.why is not null)
  ${freezesToo}
  returning id, freezes),
sums as (
  update tollgate.payment_balance set charged_back = charged_back - fact.counted,
    frozen_by = case when payment_balance.payment_id = any(entry.freezes)
      then array_append(array_remove(frozen_by, entry.id), entry.id) else frozen_by end
  from fact
  left join entry on true
  where payment_balance.payment_id = ${row.record.parentId}::uuid),
${written(row)},
audited as (${auditRows(byHand ?? nobody, {
  from: sql`new_payment where ${byHand !== null}::boolean`,
})})
select new_payment.id, new_payment.seq, fact.counted, null::bigint as left
from new_payment
cross join fact`
