/**
 * SQL of chargebacks. One statement: the fact, its payment record, the sums and the event. The
 * acquirer's reference makes the fact unique.
 */
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
  /** The institute's number of the settlement line; null for others. */
  readonly settlementId: string | null
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
   * For a chain with an authorisation that stands: its captures that took money, and its sums, read before the
   * captures.
   */
  readonly authorisation: {
    readonly id: string
    readonly captures: readonly string[]
    readonly sums: readonly SeenSums[]
  } | null
  /** The sums of the charged-back payment, which every chargeback within them changes; null: none. */
  readonly sums: { readonly paymentId: string; readonly chargedBack: bigint } | null
  readonly place: Place
}

/** The sums of an authorisation that its captures and its replacement change. */
export type SeenSums = {
  readonly rootId: string
  readonly count: number
  readonly captured: bigint
  readonly capturing: bigint
  readonly closedBy: string | null
}

/** The place of a reported chargeback among those of its family; two reports that read the same facts compete for one. */
export type Place = { readonly family: string; readonly number: number }

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

export const minorOf = ({ record }: FactRow): string => String(record.amount.minor)

const known = sql`on conflict do nothing`

const fact = (row: FactRow, counted: Sql, from: Sql, place?: Place, onConflict = known): Sql => sql`
fact as (
  insert into tollgate.chargeback (connector, account, kind, reference, is_named, source, settlement_id,
    record_id, payment_id, balance_id, minor, currency, counted, reverses, family, place)
  select ${row.record.connector}::text, ${row.account}::text, ${row.kind}::text, ${row.reference}::text,
    ${row.isNamed}::boolean, ${row.source}::text, ${row.settlementId}::text,
    ${row.record.id}::uuid, ${row.paymentId}::uuid,
    ${row.record.parentId}::uuid, ${minorOf(row)}::bigint, ${row.record.amount.currency}::text, ${counted},
    ${row.reverses}::text, ${place?.family ?? null}::uuid, ${place?.number ?? null}::integer
  ${from}
  ${onConflict}
  returning counted)`

/**
 * Locks the payment and the sums of its chain, which every capture and every replacement changes, and returns a
 * row only when they are unchanged. A statement that waited for a lock sees the changed row. The
 * statement also ends the fence of an operator's decision that did not see the chargeback. Lock
 * order: attempt, payment, balance.
 */
const stillAs = ({ paymentId, state, about, authorisation, sums: counted }: Seen): Sql => {
  const sums = authorisation?.sums ?? []
  return sql`
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
  from unnest(${sums.map(({ rootId }) => rootId)}::uuid[], ${sums.map(({ count }) => count)}::integer[],
    ${sums.map(({ captured }) => text(captured))}::bigint[], ${sums.map(({ capturing }) => text(capturing))}::bigint[],
    ${sums.map(({ closedBy }) => closedBy)}::uuid[]) as seen (root_id, captures, captured, capturing, closed_by)
  join tollgate.payment_balance as balance on balance.payment_id = seen.root_id
  where balance.captures = seen.captures and balance.captured = seen.captured and balance.capturing = seen.capturing
    and balance.closed_by is not distinct from seen.closed_by
    and (
      select coalesce(array_agg(known.id order by known.id) filter (where known.has_taken), '{}')
      from (${capturesOf(authorisation?.id ?? null)}) as known) = ${authorisation?.captures ?? []}::uuid[]
  order by balance.payment_id
  for update of balance),
counted as (
  select balance.payment_id
  from tollgate.payment_balance as balance
  where balance.payment_id = ${counted?.paymentId ?? null}::uuid
    and balance.charged_back = ${text(counted?.chargedBack)}::bigint
  for update),
still as (
  select named.id
  from named
  where (select count(*) from authorised) = ${sums.length}::integer
    and (${counted?.paymentId ?? null}::uuid is null or exists (select from counted)))`
}

export const text = (value: bigint | undefined): string | null =>
  value === undefined ? null : String(value)

/** An existing open entry freezes further balances, too. */
const freezesToo = sql`
  on conflict (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference)
    where resolved_at is null
  do update set detail = attention.detail || excluded.detail, freezes = array(
    select unnest(attention.freezes) union select unnest(excluded.freezes))`

/** The balances of the entry. A balance with the sums of the fact is left to the statement. */
const frozen = ({ record }: FactRow): Sql => sql`
frozen as (
  select tollgate.freeze(entry.id, array_remove(entry.freezes, ${record.parentId}::uuid))
  from entry)`

/** Parts of the statements of reversals, too. */
export const factParts = { written, fact, freezesToo, frozen }

/**
 * Records an acquirer's chargeback regardless of the sums. The same commit lists an amount beyond
 * or outside of the sums. No row: the reference is known, or the state has changed since the read.
 *
 * @param entry Listed always for a fact outside of the sums, otherwise only beyond them.
 */
export const recordChargeback = (row: FactRow, entry: FactEntry, seen: Seen) => sql<Recorded>`
with ${stillAs(seen)},
${fact(row, sql`case when ${row.record.parentId}::uuid is null then 0 else ${minorOf(row)}::bigint end`, sql`from still`, seen.place)},
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
${frozen(row)}
select new_payment.id, new_payment.seq, fact.counted, sums.left_minor as left
from new_payment
cross join fact
left join sums on true
left join frozen on true`

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
${fact(row, sql`${minorOf(row)}::bigint`, sql`from sums`, undefined, sql``)},
${written(row)}
select new_payment.id, new_payment.seq, fact.counted, null::bigint as left
from new_payment
cross join fact`
