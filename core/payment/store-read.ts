/** Reads payments, attempts and balances, always within the caller's channels. */

import type { Mode } from '../connector/registry.ts'
import { sql } from '../db/sql.ts'
import type { Effect } from './operation-kinds.ts'
import { withSettlement } from './stored-settlement.ts'
import type { Answer, Attempt, Balance, Payment, PaymentState, StoredRequest } from './types.ts'

export type PaymentRow = {
  id: string
  channel_id: string
  entity_id: string
  root_id: string
  parent_id: string | null
  referenced_id: string | null
  chain_id: string | null
  account_id: string | null
  short_no: bigint
  amount_minor: bigint
  created_at: Date
  currency: string
  payment_type: string
  effect: Effect
  mode: Mode
  method: string | null
  brand: string | null
  connector: string
  attempt_key: string
  merchant_transaction_id: string | null
  registration_id: string | null
  schedule_id: string | null
  checkout_id: string | null
  clock_id: string | null
  state: PaymentState
  result_code: string
  approved_minor: bigint | null
  final_by: string | null
  settled_at: Date | null
  answer: Answer | null
  request: StoredRequest | null
}

/** For statements that join payments: here both tables keep their own names. */
export const columns = {
  ofPayment: sql`
  payment.id, payment.channel_id, payment.entity_id, payment.root_id, payment.parent_id, payment.referenced_id,
  payment.chain_id, payment.account_id,
  payment.short_no, payment.amount_minor, payment.created_at, payment.currency, payment.payment_type,
  payment.effect, payment.mode, payment.method, payment.brand,
  payment.connector, payment.attempt_key, payment.merchant_transaction_id, payment.registration_id,
  payment.schedule_id, payment.checkout_id, payment.clock_id, payment.state, payment.result_code, payment.approved_minor,
  payment.final_by, payment.settled_at, payment.answer, payment_request.request`,
}

/** Whether a commit went through: each commit writes its event. */
export const eventById = (id: string) => sql<{ id: string }>`
  select id
  from tollgate.event
  where id = ${id}::uuid`

export const eventsById = (ids: readonly string[]) => sql<{ id: string }>`
  select id
  from tollgate.event
  where id = any(${ids}::uuid[])`

/** One payment within `channels` (null: any). */
export const paymentById = (id: string, channels: readonly string[] | null) => sql<PaymentRow>`
  select ${columns.ofPayment}
  from tollgate.payment
  left join tollgate.payment_request on payment_request.id = payment.id
  where payment.id = ${id}::uuid and (${channels}::uuid[] is null or payment.channel_id = any(${channels}::uuid[]))`

/** A payment with the last lease of its attempt. */
export const paymentWithLease = (id: string) => sql<
  PaymentRow & { lease: number; lease_until: Date | null }
>`
  select ${columns.ofPayment}, attempt.lease, attempt.lease_until
  from tollgate.payment
  join tollgate.attempt on attempt.key = payment.attempt_key
  left join tollgate.payment_request on payment_request.id = payment.id
  where payment.id = ${id}::uuid`

/** The authorisation of a two-step payment, by the present or future id of its capture. */
export const paymentByChain = (id: string, channels: readonly string[] | null) => sql<PaymentRow>`
  select ${columns.ofPayment}
  from tollgate.payment
  left join tollgate.payment_request on payment_request.id = payment.id
  where payment.chain_id = ${id}::uuid
    and (${channels}::uuid[] is null or payment.channel_id = any(${channels}::uuid[]))`

/** Payments by id; reads only the partitions between the lowest and the highest id. */
export const paymentsById = (ids: readonly string[]) => {
  const sorted = [...ids].sort()
  return sql<PaymentRow & { seq: number }>`
  select ${columns.ofPayment}, payment.seq
  from tollgate.payment
  left join lateral (
    select request from tollgate.payment_request where payment_request.id = payment.id limit 1) payment_request on true
  where payment.id = any(${sorted}::uuid[]) and payment.id >= ${sorted[0]!}::uuid and payment.id <= ${sorted.at(-1)!}::uuid`
}

/** The payment of an attempt. */
export const paymentByAttempt = (key: string) => sql<PaymentRow>`
  select ${columns.ofPayment}
  from tollgate.attempt
  join tollgate.payment on payment.id = attempt.payment_id
  left join tollgate.payment_request on payment_request.id = payment.id
  where attempt.key = ${key}::text`

/** The payment in the slot of a schedule's occurrence. */
export const paymentOfExecution = (id: string) => sql<PaymentRow>`
  select ${columns.ofPayment}
  from tollgate.occurrence
  join tollgate.payment on payment.id = occurrence.payment_id
  left join tollgate.payment_request on payment_request.id = payment.id
  where occurrence.id = ${id}::uuid`

/** The authorisation that replaced this one. */
export const replacedBy = (id: string) => sql<{ id: string }>`
  select id
  from tollgate.payment
  where referenced_id = ${id}::uuid and effect = 'replacement' and state = 'approved'
  limit 1`

/** The due time of a schedule that this payment still occupies. */
export const holdsExecution = (id: string, scheduleId: string) => sql<{ id: string }>`
  select id
  from tollgate.occurrence
  where schedule_id = ${scheduleId}::uuid and payment_id = ${id}::uuid
  limit 1`

type BalanceRow = {
  payment_id: string
  kind: Balance['kind']
  authorised: bigint
  increasing: bigint
  capturing: bigint
  captured: bigint
  reversing: bigint
  reversed: bigint
  refunding: bigint
  refunded: bigint
  captures: number
  max_captures: number | null
  capture_final_by: string | null
  refund_final_by: string | null
  reverse_final_by: string | null
  closed_by: string | null
  charged_back: bigint
  is_frozen: boolean
  excess: bigint
  settled_minor: bigint | null
  settled_on: string | null
}

const balanceColumns = sql`
  payment_balance.payment_id, kind, authorised, increasing, capturing, captured, reversing, reversed, refunding, refunded,
  captures, max_captures, capture_final_by, refund_final_by, reverse_final_by, closed_by, charged_back,
  frozen_by <> '{}' as is_frozen, excess, settled.settled_minor, settled.settled_on`

const settlement = withSettlement(sql`payment_balance.payment_id`)

export const balanceById = (id: string) => sql<BalanceRow>`
  select ${balanceColumns}
  from tollgate.payment_balance
  ${settlement}
  where payment_balance.payment_id = ${id}::uuid`

export const balancesByIds = (ids: readonly string[]) => sql<BalanceRow>`
  select ${balanceColumns}
  from tollgate.payment_balance
  ${settlement}
  where payment_balance.payment_id = any(${ids}::uuid[])`

export type AttemptRow = {
  key: string
  payment_id: string
  no: number
  kind: Attempt['kind']
  connector: string
  state: Attempt['state']
  lease: number
  lease_until: Date | null
  sent_at: Date
  enquiries: number
  questions: number
  settled_by: string | null
}

export const attemptByKey = (key: string) => sql<AttemptRow & { age_ms: number }>`
  select key, payment_id, no, kind, connector, state, lease, lease_until, sent_at, enquiries, questions, settled_by,
    (extract(epoch from now() - sent_at) * 1000)::double precision as age_ms
  from tollgate.attempt
  where key = ${key}::text`

/**
 * The resource of an `Idempotency-Key`, by one of its digests; the first digest is the present one.
 */
export const idempotencyByKey = (entityId: string, keys: readonly Buffer[]) => sql<{
  key: Buffer
  payment_id: string
  fingerprint: Buffer
}>`
  select key, payment_id, fingerprint
  from tollgate.idempotency
  where entity_id = ${entityId}::uuid and key = any(${keys}::bytea[])
  order by created_at
  limit 1`

/**
 * The visible digits of the numbers sealed for a payment and for its referenced payments: a refund
 * of a capture shows the digits of the authorisation.
 */
export const sealedNumbersOf = (id: string) => sql<{
  beginning: string | null
  ending: string | null
}>`
  with recursive lineage as (
    select id, referenced_id, 1 as depth
    from tollgate.payment
    where id = ${id}::uuid
    union all
    select payment.id, payment.referenced_id, lineage.depth + 1
    from lineage
    join tollgate.payment on payment.id = lineage.referenced_id
    where lineage.depth < 32)
  select payment_request.request #>> '{card,bin}' as beginning,
    coalesce(payment_request.request #>> '{card,last4Digits}',
      payment_request.request #>> '{tokenAccount,last4Digits}') as ending
  from lineage
  join tollgate.instrument on instrument.id = lineage.id
  join tollgate.payment_request on payment_request.id = lineage.id`

export function toPayment(row: PaymentRow): Payment {
  return {
    id: row.id,
    channelId: row.channel_id,
    entityId: row.entity_id,
    rootId: row.root_id,
    parentId: row.parent_id,
    referencedId: row.referenced_id,
    chainId: row.chain_id,
    accountId: row.account_id,
    shortNo: row.short_no,
    amount: { minor: row.amount_minor, currency: row.currency },
    createdAt: row.created_at,
    paymentType: row.payment_type,
    effect: row.effect,
    mode: row.mode,
    method: row.method,
    brand: row.brand,
    connector: row.connector,
    attemptKey: row.attempt_key,
    merchantTransactionId: row.merchant_transaction_id,
    registrationId: row.registration_id,
    scheduleId: row.schedule_id,
    checkoutId: row.checkout_id,
    clockId: row.clock_id,
    state: row.state,
    resultCode: row.result_code,
    approvedMinor: row.approved_minor,
    finalBy: row.final_by,
    settledAt: row.settled_at,
    answer: row.answer ?? {},
    request: row.request ?? {},
  }
}

export function toBalance(row: BalanceRow): Balance {
  return {
    paymentId: row.payment_id,
    kind: row.kind,
    authorised: row.authorised,
    increasing: row.increasing,
    capturing: row.capturing,
    captured: row.captured,
    reversing: row.reversing,
    reversed: row.reversed,
    refunding: row.refunding,
    refunded: row.refunded,
    captures: row.captures,
    maxCaptures: row.max_captures,
    captureFinalBy: row.capture_final_by,
    refundFinalBy: row.refund_final_by,
    reverseFinalBy: row.reverse_final_by,
    closedBy: row.closed_by,
    chargedBack: row.charged_back,
    isFrozen: row.is_frozen,
    settlement:
      row.settled_minor === null || row.settled_on === null
        ? null
        : { minor: row.settled_minor, on: row.settled_on },
  }
}

export function toAttempt(row: AttemptRow): Attempt {
  return {
    key: row.key,
    paymentId: row.payment_id,
    no: row.no,
    kind: row.kind,
    connector: row.connector,
    state: row.state,
    lease: row.lease,
    leaseUntil: row.lease_until,
    sentAt: row.sent_at,
    enquiries: row.enquiries,
    questions: row.questions,
    settledBy: row.settled_by,
  }
}
