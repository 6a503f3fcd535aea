/** The state of a schedule that its events keep, so that a notification tells the state at its event. */
import { sql } from '../db/sql.ts'
import type { StoredJob } from './parse-job.ts'
import type { Schedule } from './types.ts'

/** Parts of statements that write an event of a schedule. */
export const thenParts = {
  /** A column, `as_then`. */
  state: sql`jsonb_build_object('then', jsonb_build_object(
  'expression', schedule.expression, 'startAt', schedule.start_at, 'endAt', schedule.end_at, 'job', schedule.job,
  'cancelledAt', schedule.cancelled_at, 'effectiveEnd', schedule.effective_end, 'nextAt', schedule.next_at)) as as_then`,
}

/** The parts of a schedule that change, as its events keep them. */
type ScheduleThen = {
  readonly expression: string
  readonly startAt: string | null
  readonly endAt: string | null
  readonly job: StoredJob
  readonly cancelledAt: string | null
  readonly effectiveEnd: string | null
  readonly nextAt: string | null
}

/** What `thenParts.state` writes, for statements that get their events ready. */
export const stateThen = (schedule: Schedule): ScheduleThen => ({
  expression: schedule.expression,
  startAt: schedule.startAt?.toISOString() ?? null,
  endAt: schedule.endAt?.toISOString() ?? null,
  job: schedule.job,
  cancelledAt: schedule.cancelledAt?.toISOString() ?? null,
  effectiveEnd: schedule.effectiveEnd?.toISOString() ?? null,
  nextAt: schedule.nextAt?.toISOString() ?? null,
})

/** The schedule at one of its events. Events of earlier versions kept no state. */
export function asOf(schedule: Schedule, event: { readonly then?: unknown }): Schedule {
  if (event.then === undefined) return schedule
  const then = event.then as ScheduleThen
  const moment = (text: string | null) => (text === null ? null : new Date(text))
  return {
    ...schedule,
    expression: then.expression,
    startAt: moment(then.startAt),
    endAt: moment(then.endAt),
    job: then.job,
    cancelledAt: moment(then.cancelledAt),
    effectiveEnd: moment(then.effectiveEnd),
    nextAt: moment(then.nextAt),
  }
}
