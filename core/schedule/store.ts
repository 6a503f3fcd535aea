/** SQL of schedules as merchants see them. One changes only here and where it fires, with its event in the same commit. */
import { sql } from '../db/sql.ts'
import type { Mode, PaymentState, StoredRequest } from '../payment/types.ts'
import { outbox } from '../webhook/store-outbox.ts'
import type { StoredJob } from './job.ts'
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
  s.id, s.channel_id, s.entity_id, s.registration_id, s.clock_id, s.short_no, s.mode, s.payment_type,
  s.amount_minor, s.currency, s.zone, s.expression, s.start_at, s.end_at, s.job, s.request,
  s.merchant_transaction_id, s.created_at, s.cancelled_at, s.effective_end, s.next_at, s.seq`,
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

/** Time of the database: one for all hosts, however wrong their clocks are. */
export const databaseNow = sql<{ now: Date }>`select date_trunc('milliseconds', now()) as now`

/** A schedule with its record of type SD, which has the same id, and its event. Writing it again changes nothing. */
export const addSchedule = (
  schedule: Schedule,
  merchantId: string,
  eventId: string,
  idempotency: { entityId: string; key: string; fingerprint: Buffer } | null,
) => sql<{ id: string }>`
with i as (
  insert into tollgate.idempotency (entity_id, key, fingerprint, payment_id)
  select ${idempotency?.entityId ?? null}::uuid, ${idempotency?.key ?? null}::text,
    ${idempotency?.fingerprint ?? null}::bytea, ${schedule.id}::uuid
  where ${idempotency?.key ?? null}::text is not null
  on conflict do nothing
  returning payment_id),
s as (
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
  where ${idempotency?.key ?? null}::text is null or exists (select from i)
  on conflict (id) do nothing
  returning id, channel_id, short_no, merchant_transaction_id, created_at),
r as (
  insert into tollgate.record (id, type, resource, channel_id, short_no, merchant_transaction_id, created_at)
  select id, 'SD', id, channel_id, short_no, merchant_transaction_id, created_at
  from s),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${eventId}::uuid, id, 1, channel_id, 'schedule.created', '{}'::jsonb
  from s
  returning id, resource, seq),
w as (${outbox.ofEvents})
select id from s`

/** One schedule, when it belongs to one of `channels` (null: any). */
export const scheduleById = (id: string, channels: readonly string[] | null) => sql<ScheduleRow>`
  select ${parts.schedule}
  from tollgate.schedule s
  where s.id = ${id}::uuid and (${channels}::uuid[] is null or s.channel_id = any(${channels}::uuid[]))`

export const schedulesById = (ids: readonly string[]) => sql<ScheduleRow>`
  select ${parts.schedule}
  from tollgate.schedule s
  where s.id = any(${ids}::uuid[])`

/** Schedules of a registration, newest first, below `before` (null: from the newest). */
export const schedulesOf = (
  registrationId: string,
  channels: readonly string[] | null,
  before: string | null,
  limit: number,
) => sql<ScheduleRow>`
  select ${parts.schedule}
  from tollgate.schedule s
  where s.registration_id = ${registrationId}::uuid
    and (${channels}::uuid[] is null or s.channel_id = any(${channels}::uuid[]))
    and (${before}::uuid is null or s.id < ${before}::uuid)
  order by s.id desc
  limit ${limit}::integer`

const recorded = (record: ScheduleRecord, type: 'RS' | 'DS', event: string) => sql`
r as (
  insert into tollgate.record (id, type, resource, channel_id, short_no, merchant_transaction_id, created_at)
  select ${record.recordId}::uuid, ${type}::text, id, channel_id, ${String(record.shortNo)}::bigint,
    ${record.merchantTransactionId}::text, ${record.at}::timestamptz
  from s),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${record.eventId}::uuid, id, seq, channel_id, ${event}::text, '{}'::jsonb
  from s
  returning id, resource, seq),
w as (${outbox.ofEvents})
select s.* from s`

/** Gives a schedule that still runs other times. Empty when it was cancelled or has run out. */
export const reschedule = (
  id: string,
  times: Pick<Schedule, 'expression' | 'startAt' | 'endAt' | 'job' | 'nextAt'>,
  record: ScheduleRecord,
) => sql<{ seq: number }>`
with s as (
  update tollgate.schedule set expression = ${times.expression}::text, start_at = ${times.startAt}::timestamptz,
    end_at = ${times.endAt}::timestamptz, job = ${JSON.stringify(times.job)}::jsonb,
    next_at = ${times.nextAt}::timestamptz, seq = seq + 1
  where id = ${id}::uuid and cancelled_at is null and next_at is not null
  returning id, channel_id, seq),
${recorded(record, 'RS', 'schedule.changed')}`

/**
 * Cancels a schedule. Whoever fires it holds its row meanwhile, so that an instant is either charged
 * before this or never. Empty when it was cancelled before or has run out.
 */
export const cancelSchedule = (id: string, effectiveEnd: Date, record: ScheduleRecord) => sql<{
  seq: number
  effective_end: Date
}>`
with s as (
  update tollgate.schedule set cancelled_at = ${record.at}::timestamptz,
    -- What was charged while this waited for the row was charged before the cancellation.
    effective_end = case when clock_id is null and ${effectiveEnd}::timestamptz <= ${record.at}::timestamptz
      then greatest(${effectiveEnd}::timestamptz, clock_timestamp()) else ${effectiveEnd}::timestamptz end,
    seq = seq + 1,
    next_at = case when next_at < ${effectiveEnd}::timestamptz and ${effectiveEnd}::timestamptz > ${record.at}::timestamptz
      then next_at end
  where id = ${id}::uuid and cancelled_at is null and next_at is not null
  returning id, channel_id, seq, effective_end),
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

/** Executions of a schedule, newest instant first, before `before` (null: from the newest). */
export const executionsOf = (scheduleId: string, before: Date | null, limit: number) =>
  sql<ExecutionRow>`
  select o.id, o.at, o.payment_id, cardinality(o.earlier) as earlier, o.failure, p.state, p.result_code
  from tollgate.occurrence o
  left join tollgate.payment p on p.id = o.payment_id
  where o.schedule_id = ${scheduleId}::uuid and (${before}::timestamptz is null or o.at < ${before}::timestamptz)
  order by o.at desc
  limit ${limit}::integer`

/** What was missed, newest first. */
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
