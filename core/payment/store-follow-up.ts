/**
 * First commit of a follow-up, in the single lane: reserves the amount on the balance, and writes
 * the payment, attempt and idempotency rows from the reservation. No row: the balance refused, and
 * nothing was written. A second run after the commit violates the payment's primary key, so the
 * amount is reserved once.
 */
import { type Sql, sql } from '../db/sql.ts'
import { type NewEvent, newEvent } from '../event/store-outbox.ts'
import type { Effect } from './operation-kinds.ts'
import { standingOf } from './store-dispute-read.ts'
import { waitingChargeback } from './store-waiting-dispute.ts'
import { newPayment } from './stored-payment.ts'
import { isSettled } from './stored-settlement.ts'
import type { Payment } from './types.ts'

export type FollowUpRow = {
  /** Its parent is the balance of the reservation; null: no reservation. */
  readonly payment: Payment
  /** Null: the whole open rest. */
  readonly amountMinor: bigint | null
  readonly attemptKind: string
  readonly leaseMs: number
  readonly final: boolean
  /** The acquirer supports only the whole amount, or a single capture. */
  readonly wholeOnly: boolean
  readonly onceOnly: boolean
  /** For the reversal of a late success: the attempt that succeeded late. */
  readonly undoneKey: string | null
  readonly dataKeyId: string | null
  readonly fingerprint: Buffer | null
  readonly sealed: Buffer | null
  readonly idempotencyKey: Buffer | null
  readonly idempotencyFingerprint: Buffer | null
}

export type Reserved = { id: string; amount_minor: bigint }

/** The rows of a follow-up, when `reserved` has a row. */
const writtenRows = (row: FollowUpRow): Sql<Reserved> => sql<Reserved>`,
new_key as (
  insert into tollgate.idempotency (entity_id, key, fingerprint, payment_id)
  select ${row.payment.entityId}::uuid, ${row.idempotencyKey}::bytea, ${row.idempotencyFingerprint}::bytea,
    ${row.payment.id}::uuid
  from reserved where ${row.idempotencyKey}::bytea is not null),
${newPayment(row.payment, { amount: sql`reserved.amount`, from: sql`reserved` })},
new_instrument as (
  insert into tollgate.instrument (id, data_key_id, fingerprint, sealed)
  select id, ${row.dataKeyId}::uuid, ${row.fingerprint}::bytea, ${row.sealed}::bytea
  from new_payment where ${row.sealed}::bytea is not null),
new_attempt as (
  insert into tollgate.attempt (key, payment_id, kind, connector, state, lease_until)
  select ${row.payment.attemptKey}::text, id, ${row.attemptKind}::text, ${row.payment.connector}::text, 'sending',
    now() + ${row.leaseMs}::integer * interval '1 millisecond'
  from new_payment)
select id, amount_minor from new_payment`

/** Lost rows that are written again: the acquirer's operation counts regardless of the rules. */
export type Force = { readonly isForced: boolean }
const asked: Force = { isForced: false }

/** The amount beyond the limit, for forced reservations only. */
const beyond = (isForced: boolean, more: Sql) =>
  sql`excess = case when ${isForced}::boolean then greatest(excess, ${more}) else excess end`

/** Money that a chargeback may have given back is not given back beside it, as of this very commit. */
const isNotBesideChargeback = ({ payment }: FollowUpRow) =>
  sql`not exists (${waitingChargeback(payment.referencedId)})`

/** CP, and RC on an authorisation: reserves from the open rest. */
export const reserveCapture = (row: FollowUpRow, { isForced }: Force) => sql<Reserved>`
with reserved as (
  update tollgate.payment_balance set
    capturing = capturing + ${row.amountMinor}::bigint,
    captures = captures + 1,
    excess_captures = case when ${isForced}::boolean
      then greatest(excess_captures, captures + 1 - max_captures) else excess_captures end,
    ${beyond(
      isForced,
      sql`captured + capturing + reversed + reversing + ${row.amountMinor}::bigint - authorised`,
    )},
    capture_final_by = case when ${row.final}::boolean
      then coalesce(capture_final_by, ${row.payment.id}::uuid) else capture_final_by end
  where payment_id = ${row.payment.parentId}::uuid and kind = 'authorisation'
    and (${isForced}::boolean or (
      reversing = 0 and closed_by is null and charged_back = 0 and frozen_by = '{}'
      and capture_final_by is null and (max_captures is null or captures < max_captures)
      and (not ${row.onceOnly}::boolean or captures = 0)
      and (not ${row.wholeOnly}::boolean or ${row.amountMinor}::bigint = authorised)
      and captured + capturing + reversed + ${row.amountMinor}::bigint <= authorised))
  returning ${row.amountMinor}::bigint as amount)${writtenRows(row)}`

/** RV of an authorisation: the open rest or a part, only while no other operation is under way. */
export const reserveRelease = (row: FollowUpRow, { isForced }: Force) => sql<Reserved>`
with reserved as (
  update tollgate.payment_balance set
    reversing = reversing + coalesce(${row.amountMinor}::bigint, authorised - captured - reversed),
    ${beyond(
      isForced,
      sql`captured + capturing + reversed + reversing + coalesce(${row.amountMinor}::bigint, 0) - authorised`,
    )},
    reverse_final_by = case when ${row.final}::boolean
      then coalesce(reverse_final_by, ${row.payment.id}::uuid) else reverse_final_by end
  where payment_id = ${row.payment.parentId}::uuid and kind = 'authorisation'
    and (${isForced}::boolean or (
      capturing = 0 and reversing = 0 and increasing = 0 and refunding = 0
      and closed_by is null and charged_back = 0 and frozen_by = '{}' and reverse_final_by is null
      and authorised - captured - reversed > 0
      and coalesce(${row.amountMinor}::bigint, 1) <= authorised - captured - reversed
      and (not ${row.wholeOnly}::boolean or (captured = 0 and reversed = 0
        and coalesce(${row.amountMinor}::bigint, authorised) = authorised))
      and ${isNotBesideChargeback(row)}))
  returning coalesce(${row.amountMinor}::bigint, reversing) as amount)${writtenRows(row)}`

/** RV of a sale: the whole amount, only without refunds and before the settlement. */
export const reserveVoid = (row: FollowUpRow, { isForced }: Force) => sql<Reserved>`
with reserved as (
  update tollgate.payment_balance set
    reversing = reversing + captured,
    ${beyond(isForced, sql`refunded + refunding + reversed + reversing`)},
    reverse_final_by = case when ${row.final}::boolean
      then coalesce(reverse_final_by, ${row.payment.id}::uuid) else reverse_final_by end
  where payment_id = ${row.payment.parentId}::uuid and kind = 'sale'
    and (${isForced}::boolean or (
      refunding = 0 and refunded = 0 and reversing = 0 and reversed = 0
      and closed_by is null and charged_back = 0 and frozen_by = '{}' and reverse_final_by is null
      and captured > 0 and coalesce(${row.amountMinor}::bigint, captured) = captured
      and not ${isSettled(sql`payment_balance.payment_id`)} and ${isNotBesideChargeback(row)}))
  returning captured as amount)${writtenRows(row)}`

/** RF: a part of the captured amount. */
export const reserveRefund = (row: FollowUpRow, { isForced }: Force) => sql<Reserved>`
with reserved as (
  update tollgate.payment_balance set
    refunding = refunding + ${row.amountMinor}::bigint,
    ${beyond(
      isForced,
      sql`refunded + refunding + reversed + reversing + ${row.amountMinor}::bigint - captured`,
    )},
    refund_final_by = case when ${row.final}::boolean
      then coalesce(refund_final_by, ${row.payment.id}::uuid) else refund_final_by end
  where payment_id = ${row.payment.parentId}::uuid and kind = 'sale'
    and (${isForced}::boolean or (
      reversing = 0 and reversed = 0
      and closed_by is null and charged_back = 0 and frozen_by = '{}' and refund_final_by is null
      and refunded + refunding + ${row.amountMinor}::bigint <= captured
      and (not ${row.wholeOnly}::boolean or (refunded = 0 and refunding = 0
        and ${row.amountMinor}::bigint = captured))
      and ${isNotBesideChargeback(row)}))
  returning ${row.amountMinor}::bigint as amount)${writtenRows(row)}`

/** PA with INCREMENTAL_AUTH: reserves the increase, so that no reversal overtakes it. */
export const reserveIncrease = (row: FollowUpRow, { isForced }: Force) => sql<Reserved>`
with reserved as (
  update tollgate.payment_balance set increasing = increasing + ${row.amountMinor}::bigint
  where payment_id = ${row.payment.parentId}::uuid and kind = 'authorisation'
    and (${isForced}::boolean or (
      reversing = 0 and closed_by is null and charged_back = 0 and frozen_by = '{}' and capture_final_by is null
      and not (reversed > 0 and captured + reversed >= authorised)))
  returning ${row.amountMinor}::bigint as amount)${writtenRows(row)}`

/** PA with REAUTHORIZATION: closes the old authorisation while the new one is under way. */
export const reserveReplacement = (row: FollowUpRow, { isForced }: Force) => sql<Reserved>`
with reserved as (
  update tollgate.payment_balance set closed_by = coalesce(closed_by, ${row.payment.id}::uuid)
  where payment_id = ${row.payment.parentId}::uuid and kind = 'authorisation'
    and (${isForced}::boolean or (
      capturing = 0 and reversing = 0 and increasing = 0
      and closed_by is null and charged_back = 0 and frozen_by = '{}' and capture_final_by is null
      and not (reversed > 0 and captured + reversed >= authorised)))
  returning ${row.amountMinor}::bigint as amount)${writtenRows(row)}`

/** RB, and RC on a sale: reserves nothing, but needs an approved sale. */
export const reserveNothing = (row: FollowUpRow, { isForced }: Force) => sql<Reserved>`
with reserved as (
  update tollgate.payment_balance set kind = kind
  where payment_id = ${row.payment.parentId}::uuid
    and (${isForced}::boolean or (
      closed_by is null and charged_back = 0 and reversing = 0 and reversed = 0))
  returning ${row.amountMinor}::bigint as amount)${writtenRows(row)}`

/**
 * The engine's RV of a late success: only while it is late, and under the lease of the reversing
 * process, which an operator's decision ends. The amount counts in the sums of the success.
 */
export const reserveUndo = (row: FollowUpRow, { isForced }: Force) => sql<Reserved>`
with reserved as (
  select ${row.amountMinor}::bigint as amount
  from tollgate.attempt
  where key = ${row.undoneKey}::text and state = 'late'
    and (${isForced}::boolean or (lease_until > now() and ${isNotBesideChargeback(row)}
      and not exists (${standingOf(row.payment.referencedId)})))
  for update)${writtenRows(row)}`

/** The record of a step refused before its first commit: without reservation, never sent. */
export type RefusedRow = {
  readonly payment: Payment
  readonly attemptKind: string
  readonly event: NewEvent
  readonly notifies: boolean
  /** The timer of the referenced payment, which continues after this time at the latest. */
  readonly timerId: string
  readonly goesOnAfterMs: number
}

/**
 * The first commit already declines the step, with its event: a crash after an open record would
 * let another process send it. No row: the payment exists.
 */
export const recordRefused = ({ payment, ...row }: RefusedRow) => sql<{ id: string; seq: number }>`
with ${newPayment(payment, {
  amount: sql`${String(payment.amount.minor)}::bigint`,
  from: sql`(select) as refusal`,
  onConflict: sql`on conflict do nothing`,
})},
new_attempt as (
  insert into tollgate.attempt (key, payment_id, kind, connector, state, settled_by)
  select ${payment.attemptKey}::text, id, ${row.attemptKind}::text, ${payment.connector}::text, 'not-sent', 'refused'
  from new_payment),
new_timer as (
  insert into tollgate.timer (id, due_at, kind, ref)
  select ${row.timerId}::uuid, now() + ${row.goesOnAfterMs}::bigint * interval '1 millisecond', 'continue',
    ${payment.referencedId}::text
  from new_payment
  on conflict (kind, ref) do update set due_at = least(timer.due_at, excluded.due_at)),
${newEvent.ofPayment(row.event, sql`new_payment`, row.notifies)}
select id, seq from new_payment`

type Reserve = (row: FollowUpRow, force: Force) => Sql<Reserved>

const byEffect: Readonly<Record<Effect, Reserve | undefined>> = {
  verification: undefined,
  authentication: undefined,
  authorisation: undefined,
  sale: reserveNothing,
  capture: reserveCapture,
  release: reserveRelease,
  void: reserveVoid,
  refund: reserveRefund,
  increase: reserveIncrease,
  replacement: reserveReplacement,
  undo: reserveUndo,
  chargeback: undefined,
  'chargeback-reversal': undefined,
}

/** First commit of a follow-up. */
export function reserve(row: FollowUpRow, force: Force = asked): Sql<Reserved> {
  const { effect } = row.payment
  const statement = byEffect[effect]
  if (statement === undefined) throw new Error(`${effect} is no follow-up that is sent`)
  return statement(row, force)
}
