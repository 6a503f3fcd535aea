/** SQL of executions during their charge. */
import { sql } from '../db/sql.ts'
import { newEvent, outbox } from '../event/store-outbox.ts'
import { withoutMoney } from '../payment/stored-earlier-tries.ts'
import type { Answer, PaymentState } from '../payment/types.ts'
import { parts, type ScheduleRow } from './store.ts'
import { thenParts } from './store-then.ts'

/** An execution, its schedule, and the payment in its slot. */
export type ChargeRow = ScheduleRow & {
  occurrence_id: string
  merchant_id: string
  at: Date
  payment_id: string | null
  earlier: number
  failure: string | null
  state: PaymentState | null
  /** This payment or an earlier one has a late success that is not undone yet. */
  is_late: boolean
  result_code: string | null
  settled_at: Date | null
  answer: Answer | null
  connector: string | null
  /** The moment of this read, by the schedule's clock. */
  now: Date
}

export const executionsById = (ids: readonly string[]) => sql<ChargeRow>`
  select occurrence.id as occurrence_id, schedule.merchant_id, occurrence.at, occurrence.payment_id,
    cardinality(occurrence.earlier) as earlier, occurrence.failure,
    payment.state, payment.result_code, payment.settled_at, payment.answer, payment.connector,
    coalesce(attempt.state = 'late', false) or exists (
      select from unnest(occurrence.earlier) as before(id)
      join tollgate.payment as former on former.id = before.id
      join tollgate.attempt as tried on tried.key = former.attempt_key
      where tried.state not in ${withoutMoney}) as is_late,
    coalesce(test_clock.at, date_trunc('milliseconds', clock_timestamp())) as now, ${parts.schedule}
  from tollgate.occurrence
  join tollgate.schedule on schedule.id = occurrence.schedule_id
  left join tollgate.test_clock on test_clock.id = schedule.clock_id
  left join tollgate.payment on payment.id = occurrence.payment_id
  left join tollgate.attempt on attempt.key = payment.attempt_key
  where occurrence.id = any(${ids}::uuid[])
  order by occurrence.at`

/**
 * Changes of an unbegun execution lock the schedule first, in the same order as a cancellation.
 */
const unbegun = (id: string) => sql`
held as (
  select schedule.id, occurrence.id as occurrence_id
  from tollgate.occurrence
  join tollgate.schedule on schedule.id = occurrence.schedule_id
  where occurrence.id = ${id}::uuid and occurrence.payment_id is null and occurrence.failure is null
  for no key update of schedule)`

/** Ends an execution that cannot be charged; empty when a payment holds its slot. */
export const failExecution = (id: string, code: string, eventId: string) => sql<{
  schedule_id: string
  channel_id: string
  seq: number
}>`
with ${unbegun(id)},
failed as (
  update tollgate.occurrence set failure = ${code}::text
  from held
  where occurrence.id = held.occurrence_id and payment_id is null and failure is null
  returning occurrence.id, schedule_id, at),
changed as (
  update tollgate.schedule set seq = seq + 1
  from failed
  where schedule.id = failed.schedule_id
  returning schedule.id, schedule.channel_id, schedule.seq, failed.id as occurrence_id, failed.at, ${thenParts.state}),
new_event as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${eventId}::uuid, id, seq, channel_id, 'schedule.execution.failed',
    jsonb_build_object('execution', replace(occurrence_id::text, '-', ''), 'at', at, 'code', ${code}::text) || as_then
  from changed
  returning id, resource, seq),
new_outbox as (${outbox.ofEvents})
select id as schedule_id, channel_id, seq from changed`

/** Turns an unbegun execution into a missed due time; empty when a payment holds its slot. */
export const missExecution = (id: string, at: Date, missedId: string, eventId: string) => sql<{
  schedule_id: string
}>`
with ${unbegun(id)},
gone as (
  delete from tollgate.occurrence
  using held
  where occurrence.id = held.occurrence_id and payment_id is null and failure is null
  returning occurrence.schedule_id, occurrence.at),
missed as (
  insert into tollgate.missed (id, schedule_id, first_at, last_at, count)
  select ${missedId}::uuid, schedule_id, at, at, 1
  from gone),
changed as (
  update tollgate.schedule set seq = seq + 1
  from gone
  where schedule.id = gone.schedule_id
  returning schedule.id, schedule.channel_id, schedule.seq, ${thenParts.state}),
${newEvent.ofSchedule(
  {
    id: eventId,
    type: 'schedule.missed',
    data: JSON.stringify({ from: at, to: at, count: 1 }),
  },
  sql`changed`,
)}
select id as schedule_id from changed`

/** The results of earlier payments in an execution's slot, oldest first. */
export const endedBefore = (id: string) => sql<{ result_code: string; answer: Answer | null }>`
  select payment.result_code, payment.answer
  from tollgate.occurrence
  cross join unnest(occurrence.earlier) with ordinality as former(id, no)
  join tollgate.payment on payment.id = former.id
  where occurrence.id = ${id}::uuid
  order by former.no`

/**
 * Sets a timer for the execution that this attempt's payment belongs to, in real time; empty
 * without such an occurrence.
 */
export const lookAfterAttempt = (timerId: string, attemptKey: string, afterMs: number) => sql<{
  ref: string
}>`
  insert into tollgate.timer (id, due_at, kind, ref)
  select ${timerId}::uuid, now() + ${afterMs}::integer * interval '1 millisecond', 'execution',
    replace(occurrence.id::text, '-', '')
  from tollgate.attempt
  join tollgate.payment on payment.id = attempt.payment_id
  join tollgate.occurrence
    on occurrence.schedule_id = payment.schedule_id and occurrence.payment_id = payment.id
  where attempt.key = ${attemptKey}::text
  on conflict (kind, ref) do update set due_at = excluded.due_at
  returning ref`

/** Sets the next look at an open execution, in real time. */
export const lookAgain = (timerId: string, executionId: string, dueAt: Date) => sql`
  insert into tollgate.timer (id, due_at, kind, ref)
  values (${timerId}::uuid, ${dueAt}::timestamptz, 'execution', ${executionId}::text)
  on conflict (kind, ref) do update set due_at = excluded.due_at`

/** Charges an execution again after a declined attempt, by the time of its clock. */
export const resubmitAfter = (
  timerId: string,
  ref: string,
  dueAt: Date,
  clockId: string | null,
) => sql`
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  values (${timerId}::uuid, ${dueAt}::timestamptz, 'resubmit', ${ref}::text, ${clockId}::uuid)
  on conflict (kind, ref) do nothing`
