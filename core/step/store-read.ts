/** Reads other tables' rows about one resource, for its step log. Bounded. */

import type { StoredClaim } from '../acquirer-events/store.ts'
import { sql } from '../db/sql.ts'
import type { PaymentState } from '../payment/types.ts'

export type EventRow = {
  id: string
  seq: number
  type: string
  at: Date
  data: Readonly<Record<string, unknown>>
}

/** Events of a resource besides a payment's first one, which has no index. */
export const laterEvents = (resource: string, limit: number) => sql<EventRow>`
  select id, seq, type, at, data
  from tollgate.event
  where resource = ${resource}::uuid and (seq > 1 or type not like 'payment.%')
  order by seq
  limit ${limit}::integer`

/** The first event of a payment, between two ids. */
export const firstEvent = (resource: string, fromId: string, toId: string) => sql<EventRow>`
  select id, seq, type, at, data
  from tollgate.event
  where id >= ${fromId}::uuid and id < ${toId}::uuid and resource = ${resource}::uuid and seq = 1
  limit 1`

export type AttentionHistoryRow = {
  id: string
  kind: string
  at: Date
  detail: Readonly<Record<string, unknown>>
  resolved_at: Date | null
  resolved_by: string | null
}

export const attentionHistory = (paymentId: string, limit: number) => sql<AttentionHistoryRow>`
  select id, kind, at, detail, resolved_at, resolved_by
  from tollgate.attention
  where payment_id = ${paymentId}::uuid
  order by at
  limit ${limit}::integer`

export type AuditRow = {
  at: Date
  actor: string
  actor_kind: string
  action: string
  detail: Readonly<Record<string, unknown>>
}

/** Decisions about a resource. Changes by merchants are steps by themselves. */
export const auditOf = (resource: string, limit: number) => sql<AuditRow>`
  select at, actor, actor_kind, action, detail
  from tollgate.audit
  where resource = ${resource}::uuid and action not like 'schedule.%' and action not like 'registration.%'
  order by at
  limit ${limit}::integer`

export type WaitingRow = { kind: string; ref: string; due_at: Date; clock_id: string | null }

/** Timers of any of these resources. */
export const timersOf = (refs: readonly string[]) => sql<WaitingRow>`
  select kind, ref, due_at, clock_id
  from tollgate.timer
  where kind in ('look', 'expire', 'continue', 'execution', 'expiring', 'resubmit', 'schedule-end')
    and ref = any(${refs}::text[])
  order by due_at`

export type ReceivedRow = {
  event_id: string
  received_at: Date
  claim: StoredClaim
  processed_at: Date | null
  outcome: string | null
}

/** Messages of the acquirer about one attempt. */
export const eventsOfKey = (key: string, limit: number) => sql<ReceivedRow>`
  select event_id, received_at, claim, processed_at, outcome
  from tollgate.inbound_event
  where claim ->> 'key' = ${key}::text
  order by received_at
  limit ${limit}::integer`

export type BriefPaymentRow = {
  id: string
  channel_id: string
  payment_type: string
  amount_minor: bigint
  currency: string
  created_at: Date
  state: PaymentState
  result_code: string
  merchant_transaction_id: string | null
}

export type SettlementRow = {
  id: string
  at: Date
  record_type: string
  status: string
  settlement_id: string | null
  batch: string
  day: string
  allocated_minor: bigint
  amount_minor: bigint
  currency: string
  /** False: only amount, card and brand name the payment, or several fit. */
  is_final: boolean
}

/** Records of settlement files that are about a payment. */
export const settlementsOf = (paymentId: string, limit: number) => sql<SettlementRow>`
  select record.id, match.at, record.record_type, record.status, record.settlement_id, record.batch,
    to_char(record.settlement_date, 'YYYY-MM-DD') as day, match.allocated_minor, record.amount_minor, record.currency,
    match.is_final
  from tollgate.settlement_match as match
  join tollgate.settlement_record as record on record.id = match.record_id
  where match.payment_id = ${paymentId}::uuid
  order by match.at, record.id
  limit ${limit}::integer`

const brief = sql`
  id, channel_id, payment_type, amount_minor, currency, created_at, state, result_code, merchant_transaction_id`

export const followUpsOf = (paymentId: string, limit: number) => sql<BriefPaymentRow>`
  select ${brief}
  from tollgate.payment
  where referenced_id = ${paymentId}::uuid
  order by id
  limit ${limit}::integer`

/**
 * The latest payments on these channels (null: any) that a cardholder or merchant made with a
 * registration; a schedule's are its own.
 */
export const paymentsWith = (
  registrationId: string,
  channels: readonly string[] | null,
  limit: number,
) => sql<BriefPaymentRow>`
  select ${brief}
  from tollgate.payment
  where registration_id = ${registrationId}::uuid and schedule_id is null
    and (${channels}::uuid[] is null or channel_id = any(${channels}::uuid[]))
  order by id desc
  limit ${limit}::integer`

export const paymentsById = (ids: readonly string[]) => sql<BriefPaymentRow>`
  select ${brief}
  from tollgate.payment
  where id = any(${ids}::uuid[])
  order by id`

export type RecordRow = {
  id: string
  type: string
  created_at: Date
  merchant_transaction_id: string | null
}

/** Records of a registration or schedule besides payments. */
export const recordsOf = (resource: string, limit: number) => sql<RecordRow>`
  select id, type, created_at, merchant_transaction_id
  from tollgate.record
  where resource = ${resource}::uuid
  order by id
  limit ${limit}::integer`

export type ExecutionRecord = {
  id: string
  schedule_id: string
  merchant_id: string
  channel_id: string
  at: Date
  clock_id: string | null
  payment_id: string | null
  earlier: string[]
  failure: string | null
  created_at: Date
}

const execution = sql`
  select occurrence.id, occurrence.schedule_id, schedule.merchant_id, schedule.channel_id, occurrence.at,
    occurrence.clock_id, occurrence.payment_id, occurrence.earlier, occurrence.failure,
    occurrence.created_at
  from tollgate.occurrence
  join tollgate.schedule on schedule.id = occurrence.schedule_id`

export const executionById = (
  id: string,
  channels: readonly string[] | null,
) => sql<ExecutionRecord>`
  ${execution}
  where occurrence.id = ${id}::uuid and (${channels}::uuid[] is null or schedule.channel_id = any(${channels}::uuid[]))`

/** The executions of a schedule that fired last. */
export const lastExecutionsOf = (scheduleId: string, limit: number) => sql<ExecutionRecord>`
  ${execution}
  where occurrence.schedule_id = ${scheduleId}::uuid
  order by occurrence.at desc
  limit ${limit}::integer`

/**
 * The execution that a payment is for, also when it was declined and another one took its place. Looked
 * for from the time of the payment on backwards, so that the length of a schedule does not matter.
 */
export const executionOfPayment = (paymentId: string, scheduleId: string, madeAt: Date) =>
  sql<ExecutionRecord>`
  ${execution}
  where occurrence.schedule_id = ${scheduleId}::uuid and occurrence.at <= ${madeAt}::timestamptz
    and (occurrence.payment_id = ${paymentId}::uuid or ${paymentId}::uuid = any(occurrence.earlier))
  order by occurrence.at desc
  limit 1`

export type MissedRow = { first_at: Date; last_at: Date; count: bigint; created_at: Date }

export const missedDueTimes = (scheduleId: string, limit: number) => sql<MissedRow>`
  select first_at, last_at, count, created_at
  from tollgate.missed
  where schedule_id = ${scheduleId}::uuid
  order by created_at desc
  limit ${limit}::integer`

/** Payments by a short id or a merchantTransactionId, of the last days only: nothing else limits the search. */
export const paymentsByReference = (
  reference: { readonly shortNo: number | null; readonly merchantTransactionId: string | null },
  days: number,
  limit: number,
) => sql<BriefPaymentRow>`
  select ${brief}
  from tollgate.payment
  where id >= tollgate.id_at(now() - ${days}::integer * interval '1 day')
    and (short_no = ${reference.shortNo === null ? null : String(reference.shortNo)}::bigint
      or merchant_transaction_id = ${reference.merchantTransactionId}::text)
  order by id desc
  limit ${limit}::integer`

export type DeliveryRow = {
  id: string
  entity_id: string
  url: string
  kind: string
  resource: string
  state: string
  reason: string | null
  attempts: number
  replay: boolean
  due_at: Date
  ended_at: Date | null
  created_at: Date
  tries: {
    at: string
    durationMs: number
    status: number | null
    error: string | null
    request: Readonly<Record<string, unknown>>
    answer: string | null
  }[]
}

/** A `notificationUrl` belongs to the channel of its request. */
const delivery = sql`
  select delivery.id, webhook_endpoint.entity_id,
    coalesce(delivery.callback ->> 'url', webhook_endpoint.url) as url, delivery.kind, delivery.resource,
    delivery.state, delivery.reason,
    delivery.attempts, delivery.replay, delivery.due_at, delivery.ended_at, delivery.created_at,
    coalesce(told.tries, '[]') as tries
  from tollgate.delivery
  join tollgate.webhook_endpoint on webhook_endpoint.id = delivery.endpoint_id
  left join lateral (
    select jsonb_agg(jsonb_build_object('at', tried.at, 'durationMs', tried.duration_ms, 'status', tried.status,
      'error', tried.error, 'request', tried.request, 'answer', tried.answer) order by tried.id) as tries
    from tollgate.delivery_attempt tried
    where tried.delivery_id = delivery.id) told on true`

/** Notifications about a resource, in any state. */
export const deliveriesOf = (resource: string, limit: number) => sql<DeliveryRow>`
  ${delivery}
  where delivery.resource = ${resource}::uuid
  order by delivery.id
  limit ${limit}::integer`

export const deliveryById = (id: string) => sql<DeliveryRow>`
  ${delivery}
  where delivery.id = ${id}::uuid`
