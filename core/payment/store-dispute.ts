/**
 * SQL of chargebacks and their reversals. Each is one statement: the fact, its record among the
 * payments, the sums and the event. The acquirer's reference makes it happen once.
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
  /** Its parent is the balance whose sums it counts in; null: outside of them. It refers to the payment or the chargeback. */
  readonly record: Payment
  readonly kind: FactKind
  readonly account: string
  readonly reference: string
  /** Whether the acquirer gave the reference. */
  readonly isNamed: boolean
  /** Id of the message that says it; null for a merchant's own. */
  readonly source: string | null
  /** What was charged back: also of a reversal. */
  readonly paymentId: string
  /** Of a reversal: the reference of its chargeback; null when it has none. */
  readonly reverses: string | null
  readonly event: PaymentEvent
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

/** What was read before a chargeback is recorded. Where it is otherwise by now, nothing is recorded. */
export type Seen = {
  /** The payment that was named. */
  readonly paymentId: string
  readonly state: PaymentState
  /** Keys of its attempt and those of its captures: late successes among them may be about to be kept. */
  readonly about: readonly string[]
  /** Of an authorisation that stands: its approved captures, and its sums as they were before those were read. */
  readonly authorisation: {
    readonly rootId: string
    readonly captures: readonly string[]
    readonly count: number
    readonly captured: bigint
    readonly capturing: bigint
  } | null
}

export type Recorded = { id: string; seq: number; counted: bigint; left: bigint | null }

/** The record and what follows from it, from `fact`. */
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
 * Locks what was read: the payment, and the sums of an authorisation, which every capture changes. A row
 * only where both are as they were; who waited for a lock looks at what became of the row. A decision by hand
 * to keep a late success, which did not see the chargeback, loses its fence. Rows are locked in the order
 * attempt, payment, balance.
 */
const stillAs = ({ paymentId, state, about, authorisation }: Seen): Sql => sql`
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
still as (
  select named.id
  from named
  where ${authorisation?.rootId ?? null}::uuid is null or exists (select from authorised))`

const text = (value: bigint | undefined): string | null =>
  value === undefined ? null : String(value)

/** An entry that is open already holds up what it is put there for again, too. */
const freezesToo = sql`
  on conflict (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference)
    where resolved_at is null
  do update set detail = attention.detail || excluded.detail, freezes = array(
    select unnest(attention.freezes) union select unnest(excluded.freezes))`

/**
 * A chargeback that the acquirer reported: recorded whatever the sums are. What is beyond them, and
 * what is outside of them, is listed in the same commit. No row back: its reference is known, or it was
 * not decided on what is there by now.
 *
 * @param entry Listed: always where the fact is outside the sums, else when it is beyond them.
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
 * A chargeback that a merchant posts in a test: only within what is left. Running it again after it
 * committed violates the fact's key, and so counts nothing twice.
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
 * The acquirer tells of a reversal that an operator recorded by hand: the same fact, which keeps the acquirer's name
 * and the message. No row back: there is none of this amount that the acquirer did not tell of yet.
 *
 * @param names Begin the names of reversals by hand of the chargebacks that it may be of.
 */
export const confirmReversal = (told: {
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
  from unnest(${told.names}::text[]) as named (beginning)
  join tollgate.chargeback as fact on fact.connector = ${told.connector}::text
    and fact.account = ${told.account}::text and fact.kind = 'reversal'
    and starts_with(fact.reference, named.beginning)
  where fact.told_as is null and fact.source is null and fact.minor = ${String(told.minor)}::bigint
    and fact.currency = ${told.currency}::text
  order by fact.at, fact.record_id
  limit 1
  for update of fact)
update tollgate.chargeback set told_as = ${told.reference}::text, source = ${told.source}::text
from by_hand
where chargeback.connector = ${told.connector}::text and chargeback.account = ${told.account}::text
  and chargeback.kind = 'reversal' and chargeback.reference = by_hand.reference and chargeback.told_as is null
returning chargeback.record_id`

/** How a reversal finds what it gives back. */
export type Reversing = {
  /** Less than all of it is refused: of a merchant, and of an operator. */
  readonly isStrict: boolean
  /** The same; it may be of a chargeback that has not come. */
  readonly isWhole: boolean
  /** Without a reference it gives back also what has one, after what has none. */
  readonly isAny: boolean
  /** What of its chargeback was reversed when that was read: where it is otherwise by now, nothing is recorded. */
  readonly reversedBefore?: bigint
  /** By an operator, on record: what is outside of the sums is no surprise then. */
  readonly byHand?: AuditEntry | null
  /** What an operator has to look at before anything is refunded; null: nothing. */
  readonly why?: string | null
}

/** Of a reversal without a reference that gave back what has one. */
const guessed = 'it names no chargeback, and gave one back that has a reference'

/**
 * The reversal of a chargeback, as far as that still stands in the same sums and currency; without a reference, of those without one
 * that stand longest, or `isAny` of all. No row back: its reference is known, or less is left than `isStrict` or `isWhole` ask for.
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
