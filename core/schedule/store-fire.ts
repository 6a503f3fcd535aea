/** SQL of due times: locks the schedule's row and writes in one commit. */
import { fewIds } from '../db/group-statement.ts'
import { sql } from '../db/sql.ts'
import { newEvent, outbox } from '../event/store-outbox.ts'
import { isRestoring } from '../process/store-restoration.ts'
import { parts, type ScheduleRow } from './store.ts'
import { thenParts } from './store-then.ts'

export type DueRow = ScheduleRow & { merchant_id: string; now: Date }

/**
 * Due schedules by the database's time, oldest first, locked until this transaction ends, so that
 * no cancellation or change overlaps. Skips schedules that another process has locked. None right after a
 * failover: the charge of a due time that it lost may be remembered.
 */
export const lockDue = (limit: number) => sql<DueRow>`
  select ${parts.schedule}, schedule.merchant_id, date_trunc('milliseconds', now()) as now
  from tollgate.schedule
  where schedule.clock_id is null and schedule.next_at <= now() and not (${isRestoring})
  order by schedule.next_at
  limit ${limit}::integer
  for update of schedule skip locked`

/** Due schedules of a test clock. */
export const lockDueOfClock = (clockId: string, at: Date, limit: number) => sql<DueRow>`
  select ${parts.schedule}, schedule.merchant_id, ${at}::timestamptz as now
  from tollgate.schedule
  where schedule.clock_id = ${clockId}::uuid and schedule.next_at <= ${at}::timestamptz
  order by schedule.next_at
  limit ${limit}::integer
  for update of schedule`

/** The rows of a firing, ready to send: times as ISO texts. */
export type Fired = {
  readonly schedules: readonly { id: string; next_at: string | null; seq: number }[]
  readonly executions: readonly {
    id: string
    schedule_id: string
    at: string
    clock_id: string | null
  }[]
  readonly missed: readonly {
    id: string
    schedule_id: string
    first_at: string
    last_at: string
    count: number
  }[]
  readonly events: readonly {
    id: string
    resource: string
    seq: number
    channel_id: string
    type: string
    data: object
  }[]
  /** Schedules without a further due time: their end is told after their last execution. */
  readonly ended: readonly { id: string; ref: string; clock_id: string | null }[]
}

/** Returns the new executions; a due time that fired before stays unchanged. */
export const writeFired = (fired: Fired) => sql<{ id: string }>`
with moved as (
  update tollgate.schedule set next_at = given.next_at, seq = given.seq
  from json_to_recordset(${JSON.stringify(fired.schedules)}::json) as given(id uuid, next_at timestamptz, seq integer)
  where schedule.id = given.id and given.${fewIds}),
new_missed as (
  insert into tollgate.missed (id, schedule_id, first_at, last_at, count)
  select id, schedule_id, first_at, last_at, count
  from json_to_recordset(${JSON.stringify(fired.missed)}::json)
    as given(id uuid, schedule_id uuid, first_at timestamptz, last_at timestamptz, count bigint)),
new_event as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select id, resource, seq, channel_id, type, data
  from json_to_recordset(${JSON.stringify(fired.events)}::json)
    as given(id uuid, resource uuid, seq integer, channel_id uuid, type text, data jsonb)
  -- The event feed shows the events in the order of their insertion.
  order by resource, seq
  returning id, resource, seq),
new_outbox as (${outbox.ofEvents}),
new_timer as (
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  select id, coalesce((select at from tollgate.test_clock where test_clock.id = clock_id), now()), 'schedule-end',
    replace(ref, '-', ''), clock_id
  from json_to_recordset(${JSON.stringify(fired.ended)}::json) as given(id uuid, ref text, clock_id uuid)
  on conflict (kind, ref) do nothing)
insert into tollgate.occurrence (id, schedule_id, at, clock_id)
select id, schedule_id, at, clock_id
from json_to_recordset(${JSON.stringify(fired.executions)}::json)
  as given(id uuid, schedule_id uuid, at timestamptz, clock_id uuid)
on conflict (schedule_id, at) do nothing
returning id`

/** A forgotten, paused or disconnected transaction must not lock its schedules for long. */
export const boundTransaction = sql`
  select set_config('idle_in_transaction_session_timeout', '10s', true) as within`

export const somethingToFire = sql<{ due: boolean }>`
  select exists (
    select from tollgate.schedule where clock_id is null and next_at <= now()) as due`

/** Executions in real time whose job was lost: no payment exists some time after they fired. */
export const forgotten = (afterMs: number, limit: number) => sql<{
  id: string
  merchant_id: string
}>`
  select occurrence.id, schedule.merchant_id
  from tollgate.occurrence
  join tollgate.schedule on schedule.id = occurrence.schedule_id
  where occurrence.payment_id is null and occurrence.failure is null and occurrence.clock_id is null
    and occurrence.created_at < now() - ${afterMs}::integer * interval '1 millisecond'
  order by occurrence.created_at
  limit ${limit}::integer`

/** Unbegun executions of a test clock, oldest due time first. */
export const openOfClock = (clockId: string, limit: number) => sql<{ id: string }>`
  select id
  from tollgate.occurrence
  where payment_id is null and failure is null and clock_id = ${clockId}::uuid
  order by at
  limit ${limit}::integer`

/**
 * Tells the end of a schedule once none of its executions is left to begin. Safe to run twice: the event's commit
 * deletes the timer. Empty while an execution is left, and when the end was told.
 */
export const tellEnd = (scheduleId: string, eventId: string) => sql<{
  channel_id: string
  seq: number
}>`
with held as (
  select id
  from tollgate.schedule
  where id = ${scheduleId}::uuid and next_at is null
    and not exists (
      select from tollgate.occurrence
      where schedule_id = ${scheduleId}::uuid and payment_id is null and failure is null)
  for no key update),
gone as (
  delete from tollgate.timer
  using held
  where timer.kind = 'schedule-end' and timer.ref = replace(held.id::text, '-', '')
  returning held.id),
changed as (
  update tollgate.schedule set seq = seq + 1
  from gone
  where schedule.id = gone.id
  returning schedule.id, schedule.channel_id, schedule.seq, ${thenParts.state}),
${newEvent.ofSchedule({ id: eventId, type: 'schedule.ended', data: '{}' }, sql`changed`)}
select channel_id, seq from changed`
