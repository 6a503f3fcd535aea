/** SQL of occurrences while they are charged. */
import { sql } from '../db/sql.ts'
import type { Answer, PaymentState } from '../payment/types.ts'
import { outbox } from '../webhook/store-outbox.ts'
import { parts, type ScheduleRow } from './store.ts'

/** An occurrence, its schedule, and the payment in its slot. */
export type ChargeRow = ScheduleRow & {
  occurrence_id: string
  merchant_id: string
  at: Date
  payment_id: string | null
  earlier: number
  failure: string | null
  state: PaymentState | null
  result_code: string | null
  settled_at: Date | null
  answer: Answer | null
}

export const occurrencesById = (ids: readonly string[]) => sql<ChargeRow>`
  select o.id as occurrence_id, s.merchant_id, o.at, o.payment_id, cardinality(o.earlier) as earlier, o.failure,
    p.state, p.result_code, p.settled_at, p.answer, ${parts.schedule}
  from tollgate.occurrence o
  join tollgate.schedule s on s.id = o.schedule_id
  left join tollgate.payment p on p.id = o.payment_id
  where o.id = any(${ids}::uuid[])
  order by o.at`

/** Ends an occurrence for which no payment can be made; empty when something holds its slot. */
export const failOccurrence = (id: string, code: string, eventId: string) => sql<{
  schedule_id: string
  channel_id: string
  seq: number
}>`
with o as (
  update tollgate.occurrence set failure = ${code}::text
  where id = ${id}::uuid and payment_id is null and failure is null
  returning id, schedule_id, at),
s as (
  update tollgate.schedule set seq = seq + 1
  from o
  where schedule.id = o.schedule_id
  returning schedule.id, schedule.channel_id, schedule.seq, o.id as occurrence_id, o.at),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${eventId}::uuid, id, seq, channel_id, 'schedule.execution.failed',
    jsonb_build_object('execution', replace(occurrence_id::text, '-', ''), 'at', at, 'code', ${code}::text)
  from s
  returning id, resource, seq),
w as (${outbox.ofEvents})
select id as schedule_id, channel_id, seq from s`

/** Looks at an open occurrence again, in real time. */
export const lookAgain = (timerId: string, occurrenceId: string, dueAt: Date) => sql`
  insert into tollgate.timer (id, due_at, kind, ref)
  values (${timerId}::uuid, ${dueAt}::timestamptz, 'execution', ${occurrenceId}::text)
  on conflict (kind, ref) do update set due_at = excluded.due_at`

/** Charges an occurrence again after a declined attempt, by the time of its clock. */
export const resubmitAfter = (
  timerId: string,
  ref: string,
  dueAt: Date,
  clockId: string | null,
) => sql`
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  values (${timerId}::uuid, ${dueAt}::timestamptz, 'resubmit', ${ref}::text, ${clockId}::uuid)
  on conflict (kind, ref) do nothing`
