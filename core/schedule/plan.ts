/** The due times of a schedule, from its zone, bounds and end. Pure: the caller gives the time. */
import { type Cron, parseCron } from '../cron/index.ts'

/** Units of notice and duration in requests. */
export const periodUnits = ['YEAR', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE', 'SECOND'] as const

export type PeriodUnit = (typeof periodUnits)[number]

/** A length of time by the calendar of the schedule's zone. */
export type Length = {
  /** Whole, from 0, at most `mostUnits`. */
  readonly number: number
  readonly unit: PeriodUnit
}

export type Notice = Length & { readonly callable: 'ANYTIME' | 'DURATION_END' }

/** The data that decides a schedule's due times; a row contains all of it. */
export type SchedulePlan = {
  readonly cron: Cron
  /** IANA name. */
  readonly zone: string
  /** The earliest due time; null: creation. */
  readonly startAt: Date | null
  /** The latest due time. */
  readonly endAt: Date | null
  /** The effective time of a cancellation: no due time at or after it runs. */
  readonly effectiveEnd: Date | null
  readonly notice: Notice | null
  readonly duration: Length | null
}

/** Any larger number of units has the same meaning: past the end of every schedule. */
export const mostUnits = 1_000_000_000_000

/**
 * The plan of a stored schedule.
 *
 * @throws CronError, RangeError only for values that readJob refuses.
 */
export function openPlan(stored: {
  /** Seven fields. */
  readonly expression: string
  readonly zone: string
  readonly startAt?: Date | null
  readonly endAt?: Date | null
  readonly effectiveEnd?: Date | null
  readonly notice?: Notice | null
  readonly duration?: Length | null
}): SchedulePlan {
  return {
    cron: parseCron(stored.expression),
    zone: stored.zone,
    startAt: stored.startAt ?? null,
    endAt: stored.endAt ?? null,
    effectiveEnd: stored.effectiveEnd ?? null,
    notice: stored.notice ?? null,
    duration: stored.duration ?? null,
  }
}

/** The first due time of the schedule strictly after `after`, or null after the last one. */
export function nextDueTime(plan: SchedulePlan, after: Date): Date | null {
  const { cron, zone, startAt } = plan
  const isBefore = startAt !== null && startAt > after
  const next = cron.next(isBefore ? new Date(startAt.getTime() - 1) : after, zone)
  return next === null || isPastEnd(plan, next) ? null : next
}

/** A due time at the endDate runs; a due time at the cancellation does not. */
function isPastEnd({ endAt, effectiveEnd }: SchedulePlan, dueTime: Date): boolean {
  return (endAt !== null && dueTime > endAt) || (effectiveEnd !== null && dueTime >= effectiveEnd)
}

/**
 * The first due time of a new schedule. Due times before its creation are not charged, even with a
 * startDate in the past.
 */
export function firstDueTime(plan: SchedulePlan, createdAt: Date): Date | null {
  return nextDueTime(plan, createdAt)
}

/** The next due times strictly after `after`, `count` at most. */
export function upcoming(plan: SchedulePlan, after: Date, count: number): Date[] {
  const found: Date[] = []
  for (let next = after; found.length < count; ) {
    const following = nextDueTime(plan, next)
    if (following === null) break
    found.push(following)
    next = following
  }
  return found
}
