/** When a schedule runs, with its zone, its bounds and its end. Pure: the time is given. */
import { type Cron, parseCron } from '../cron/index.ts'

/** Units of notice and duration, as the request writes them. */
export const periodUnits = ['YEAR', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE', 'SECOND'] as const

export type PeriodUnit = (typeof periodUnits)[number]

/** A length of time by the calendar of the schedule's zone. */
export type Length = {
  /** Whole, from 0; what lies beyond `mostUnits` is cut to it. */
  readonly number: number
  readonly unit: PeriodUnit
}

export type Notice = Length & { readonly callable: 'ANYTIME' | 'DURATION_END' }

/** All that decides when a schedule runs; a row of the database has it. */
export type SchedulePlan = {
  readonly cron: Cron
  /** IANA name. */
  readonly zone: string
  /** The first instant that counts; null: creation. */
  readonly startAt: Date | null
  /** The last instant that counts. */
  readonly endAt: Date | null
  /** Since when it is cancelled: at this instant and after it nothing runs. */
  readonly effectiveEnd: Date | null
  readonly notice: Notice | null
  readonly duration: Length | null
}

/** Any number of units above this means the same: past the end of every schedule. */
export const mostUnits = 1_000_000_000_000

/**
 * The plan of a stored schedule.
 *
 * @throws CronError, RangeError for what was never stored: readJob checks it.
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

/** The first instant of the schedule strictly after `after`, or null when none is left. */
export function nextInstant(plan: SchedulePlan, after: Date): Date | null {
  const { cron, zone, startAt } = plan
  const isBefore = startAt !== null && startAt > after
  const next = cron.next(isBefore ? new Date(startAt.getTime() - 1) : after, zone)
  return next === null || isPastEnd(plan, next) ? null : next
}

/** The endDate itself still counts, the instant of a cancellation does not. */
function isPastEnd({ endAt, effectiveEnd }: SchedulePlan, instant: Date): boolean {
  return (endAt !== null && instant > endAt) || (effectiveEnd !== null && instant >= effectiveEnd)
}

/**
 * The first instant of a schedule that is created now. A startDate in the past is no reason to
 * charge for the time before: only what comes after its creation runs.
 */
export function firstInstant(plan: SchedulePlan, createdAt: Date): Date | null {
  return nextInstant(plan, createdAt)
}

/** The next instants strictly after `after`, `count` at most. */
export function upcoming(plan: SchedulePlan, after: Date, count: number): Date[] {
  const found: Date[] = []
  for (let next = after; found.length < count; ) {
    const following = nextInstant(plan, next)
    if (following === null) break
    found.push(following)
    next = following
  }
  return found
}
