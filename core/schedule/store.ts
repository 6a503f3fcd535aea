/** SQL of schedules for merchants. Every change writes its event in the same commit. */
import type { Actor } from '../audit/actor.ts'
import type { Mode } from '../connector/registry.ts'
import { type Sql, sql } from '../db/sql.ts'
import { newEvent, outbox } from '../event/store-outbox.ts'
import type { PaymentState, StoredRequest } from '../payment/types.ts'
import type { StoredJob } from './parse-job.ts'
import { thenParts } from './store-then.ts'
import { auditedCancellation, auditedChange, auditedCreation } from './stored-audit.ts'
import type { Schedule, ScheduleRecord } from './types.ts'

export type ScheduleRow = {
  id: string
  channel_id: string
  entity_id: string
  registration_id: string
  clock_id: string | null
  short_no: bigint
  mode: Mode
  payment_type: string
  amount_minor: bigint
  currency: string
  zone: string
  expression: string
  start_at: Date | null
  end_at: Date | null
  job: StoredJob
  request: StoredRequest
  merchant_transaction_id: string | null
  created_at: Date
  cancelled_at: Date | null
  effective_end: Date | null
  next_at: Date | null
  seq: number
}

/** Parts of statements, for the other stores of schedules. */
export const parts = {
  schedule: sql`
  schedule.id, schedule.channel_id, schedule.entity_id, schedule.registration_id, schedule.clock_id,
  schedule.short_no, schedule.mode, schedule.payment_type,
  schedule.amount_minor, schedule.currency, schedule.zone, schedule.expression, schedule.start_at, schedule.end_at,
  schedule.job, schedule.request,
  schedule.merchant_transaction_id, schedule.created_at, schedule.cancelled_at, schedule.effective_end,
  schedule.next_at, schedule.seq`,
}

export function toSchedule(row: ScheduleRow): Schedule {
  return {
    id: row.id,
    channelId: row.channel_id,
    entityId: row.entity_id,
    registrationId: row.registration_id,
    clockId: row.clock_id,
    shortNo: row.short_no,
    mode: row.mode,
    paymentType: row.payment_type,
    amount: { minor: row.amount_minor, currency: row.currency },
    zone: row.zone,
    expression: row.expression,
    startAt: row.start_at,
    endAt: row.end_at,
    job: row.job,
    request: row.request,
    merchantTransactionId: row.merchant_transaction_id,
    createdAt: row.created_at,
    cancelledAt: row.cancelled_at,
    effectiveEnd: row.effective_end,
    nextAt: row.next_at,
    seq: row.seq,
  }
}

/** Time of the database: the same for all hosts, regardless of their clocks. */
export const databaseNow = sql<{ now: Date }>`select date_trunc('milliseconds', now()) as now`

/**
 * A schedule with its SD record, which has the same id, and its event. A repeat changes nothing.
 */
export const addSchedule = (
  schedule: Schedule,
  merchantId: string,
  eventId: string,
  by: Actor,
  idempotency: { entityId: string; key: Buffer; fingerprint: Buffer } | null,
) => sql<{ id: string }>`
with new_key as (
  insert into tollgate.idempotency (entity_id, key, fingerprint, payment_id)
  select ${idempotency?.entityId ?? null}::uuid, ${idempotency?.key ?? null}::bytea,
    ${idempotency?.fingerprint ?? null}::bytea, ${schedule.id}::uuid
  where ${idempotency?.key ?? null}::bytea is not null
  on conflict do nothing
  returning payment_id),
new_schedule as (
  insert into tollgate.schedule (id, channel_id, entity_id, merchant_id, registration_id, clock_id, short_no,
    mode, payment_type, amount_minor, currency, zone, expression, start_at, end_at, job, request,
    merchant_transaction_id, created_at, next_at, seq)
  select ${schedule.id}::uuid, ${schedule.channelId}::uuid, ${schedule.entityId}::uuid, ${merchantId}::uuid,
    ${schedule.registrationId}::uuid, ${schedule.clockId}::uuid, ${String(schedule.shortNo)}::bigint,
    ${schedule.mode}::text, ${schedule.paymentType}::text, ${String(schedule.amount.minor)}::bigint,
    ${schedule.amount.currency}::text, ${schedule.zone}::text, ${schedule.expression}::text,
    ${schedule.startAt}::timestamptz, ${schedule.endAt}::timestamptz, ${JSON.stringify(schedule.job)}::jsonb,
    ${JSON.stringify(schedule.request)}::jsonb, ${schedule.merchantTransactionId}::text,
    ${schedule.createdAt}::timestamptz, ${schedule.nextAt}::timestamptz, 1
  where ${idempotency?.key ?? null}::bytea is null or exists (select from new_key)
  on conflict (id) do nothing
  returning id, channel_id, seq, short_no, merchant_transaction_id, created_at, ${thenParts.state}),
new_record as (
  insert into tollgate.record (id, type, resource, channel_id, short_no, merchant_transaction_id, created_at)
  select id, 'SD', id, channel_id, short_no, merchant_transaction_id, created_at
  from new_schedule),
${auditedCreation(schedule, by)},
${newEvent.ofSchedule({ id: eventId, type: 'schedule.created', data: '{}' }, sql`new_schedule`)}
select id from new_schedule`

/** One schedule within `channels` (null: any). */
export const scheduleById = (id: string, channels: readonly string[] | null) => sql<ScheduleRow>`
  select ${parts.schedule}
  from tollgate.schedule
  where schedule.id = ${id}::uuid and (${channels}::uuid[] is null or schedule.channel_id = any(${channels}::uuid[]))`

export const schedulesById = (ids: readonly string[]) => sql<ScheduleRow>`
  select ${parts.schedule}
  from tollgate.schedule
  where schedule.id = any(${ids}::uuid[])`

/** Ids of the schedules of a registration, newest first, below `before` (null: from the newest). */
export const scheduleIdsOf = (
  registrationId: string,
  channels: readonly string[] | null,
  before: string | null,
  limit: number,
) => sql<{ id: string }>`
  select id
  from tollgate.schedule
  where registration_id = ${registrationId}::uuid
    and (${channels}::uuid[] is null or channel_id = any(${channels}::uuid[]))
    and (${before}::uuid is null or id < ${before}::uuid)
  order by id desc
  limit ${limit}::integer`

/** Schedules of a registration, newest first. */
export const schedulesOf = (
  registrationId: string,
  channels: readonly string[] | null,
  before: string | null,
  limit: number,
) => sql<ScheduleRow>`
  select ${parts.schedule}
  from tollgate.schedule
  where schedule.registration_id = ${registrationId}::uuid
    and (${channels}::uuid[] is null or schedule.channel_id = any(${channels}::uuid[]))
    and (${before}::uuid is null or schedule.id < ${before}::uuid)
  order by schedule.id desc
  limit ${limit}::integer`

/** A schedule at a moment of its clock, or of the database without a clock. */
export type MomentRow = ScheduleRow & { now: Date }

/**
 * Reads the time after the row's version and rounds up, so that every earlier commit lies before
 * this moment.
 */
export const scheduleAtNow = (id: string) => sql<MomentRow>`
  select ${parts.schedule}, coalesce(test_clock.at,
    date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond') as now
  from tollgate.schedule
  left join tollgate.test_clock on test_clock.id = schedule.clock_id
  where schedule.id = ${id}::uuid`

/** Fired due times without a payment. */
export const unbegunOf = (scheduleId: string) => sql<{ id: string; at: Date }>`
  select id, at
  from tollgate.occurrence
  where schedule_id = ${scheduleId}::uuid and payment_id is null and failure is null`

/** Consecutive due times without a charge, and their event. */
export type Passed = {
  readonly id: string
  readonly eventId: string
  /** For a fired due time: missed only when its payment has not begun meanwhile. */
  readonly executionId: string | null
  readonly first: Date
  readonly last: Date
  readonly count: number
}

const passedRow = ({ id, eventId, executionId, first, last, count }: Passed) => ({
  id,
  event_id: eventId,
  occurrence_id: executionId,
  first_at: first,
  last_at: last,
  count,
  data: { from: first, to: last, count },
})

/**
 * Locks a schedule that is unchanged since the read, and records `passed` as missed. A schedule
 * that fired or changed meanwhile is neither locked nor written.
 */
const held = (read: Pick<Schedule, 'id' | 'seq' | 'nextAt'>, passed: readonly Passed[]) => sql`
held as (
  select id, channel_id, seq
  from tollgate.schedule
  where id = ${read.id}::uuid and seq = ${read.seq}::integer and next_at = ${read.nextAt}::timestamptz
    and cancelled_at is null
  for update),
passed as (
  select id, event_id, occurrence_id, first_at, last_at, count, data
  from json_to_recordset(${JSON.stringify(passed.map(passedRow))}::json)
    as given(id uuid, event_id uuid, occurrence_id uuid, first_at timestamptz, last_at timestamptz, count bigint, data jsonb)),
unbegun as (
  delete from tollgate.occurrence
  using held, passed
  where occurrence.id = passed.occurrence_id and occurrence.payment_id is null and occurrence.failure is null
  returning occurrence.id),
missed as (
  insert into tollgate.missed (id, schedule_id, first_at, last_at, count)
  select passed.id, held.id, passed.first_at, passed.last_at, passed.count
  from held, passed
  where passed.occurrence_id is null or passed.occurrence_id in (select id from unbegun)
  returning id),
told as (
  select event_id, data, row_number() over (order by first_at, id) as no
  from passed
  where id in (select id from missed))`

/**
 * The record of the change in `changed`, and the events: first of missed due times, then of the
 * change.
 */
const recorded = (record: ScheduleRecord, type: 'RS' | 'DS', event: string): Sql => sql`
new_record as (
  insert into tollgate.record (id, type, resource, channel_id, short_no, merchant_transaction_id, created_at)
  select ${record.recordId}::uuid, ${type}::text, id, channel_id, ${String(record.shortNo)}::bigint,
    ${record.merchantTransactionId}::text, ${record.at}::timestamptz
  from changed),
new_event as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select told.event_id, held.id, held.seq + told.no as seq, held.channel_id, 'schedule.missed',
    told.data || changed.as_then
  from held, told, changed
  union all
  select ${record.eventId}::uuid, id, seq, channel_id, ${event}::text, as_then
  from changed
  order by seq
  returning id, resource, seq),
new_outbox as (${outbox.ofEvents})
select seq from changed`

/**
 * Gives a schedule new times. Empty after a concurrent change.
 *
 * @param passed Due times of the old times that this commit records as missed.
 */
export const reschedule = (
  read: Pick<Schedule, 'id' | 'seq' | 'nextAt' | 'expression' | 'startAt' | 'endAt'>,
  times: Pick<Schedule, 'expression' | 'startAt' | 'endAt' | 'job' | 'nextAt'>,
  passed: readonly Passed[],
  record: ScheduleRecord,
) => sql<{ seq: number }>`
with ${held(read, passed)},
changed as (
  update tollgate.schedule set expression = ${times.expression}::text, start_at = ${times.startAt}::timestamptz,
    end_at = ${times.endAt}::timestamptz, job = ${JSON.stringify(times.job)}::jsonb,
    next_at = ${times.nextAt}::timestamptz, seq = held.seq + 1 + (select count(*) from told)
  from held
  where schedule.id = held.id
  returning schedule.id, schedule.channel_id, schedule.seq, ${thenParts.state}),
${auditedChange(read, times, record.by)},
${recorded(record, 'RS', 'schedule.changed')}`

/**
 * Cancels a schedule. A firing locks the row, so each due time either fires before the cancellation
 * or is missed by it. Empty after a concurrent change or firing.
 *
 * @param passed Due times that a cancellation with immediate effect records as missed.
 */
export const cancelSchedule = (
  read: Pick<Schedule, 'id' | 'seq' | 'nextAt'>,
  effectiveEnd: Date,
  passed: readonly Passed[],
  record: ScheduleRecord,
) => sql<{ seq: number }>`
with ${held(read, passed)},
changed as (
  update tollgate.schedule set cancelled_at = ${record.at}::timestamptz,
    effective_end = ${effectiveEnd}::timestamptz,
    seq = held.seq + 1 + (select count(*) from told),
    next_at = case when next_at < ${effectiveEnd}::timestamptz and ${effectiveEnd}::timestamptz > ${record.at}::timestamptz
      then next_at end
  from held
  where schedule.id = held.id
  returning schedule.id, schedule.channel_id, schedule.seq, ${thenParts.state}),
${auditedCancellation(effectiveEnd, record.by)},
${recorded(record, 'DS', 'schedule.cancelled')}`

export type ExecutionRow = {
  id: string
  at: Date
  payment_id: string | null
  earlier: number
  failure: string | null
  state: PaymentState | null
  result_code: string | null
}

/** Executions of a schedule, newest due time first, before `before` (null: from the newest). */
export const executionsOf = (scheduleId: string, before: Date | null, limit: number) =>
  sql<ExecutionRow>`
  select occurrence.id, occurrence.at, occurrence.payment_id, cardinality(occurrence.earlier) as earlier,
    occurrence.failure, payment.state, payment.result_code
  from tollgate.occurrence
  left join tollgate.payment on payment.id = occurrence.payment_id
  where occurrence.schedule_id = ${scheduleId}::uuid
    and (${before}::timestamptz is null or occurrence.at < ${before}::timestamptz)
  order by occurrence.at desc
  limit ${limit}::integer`

/** Missed due times, newest first. */
export const missedOf = (scheduleId: string, limit: number) => sql<{
  first_at: Date
  last_at: Date
  count: bigint
}>`
  select first_at, last_at, count
  from tollgate.missed
  where schedule_id = ${scheduleId}::uuid
  order by first_at desc
  limit ${limit}::integer`
