/** The instants of a schedule, from its zone, bounds and end. Pure: the caller gives the time. */
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

/** The data that decides a schedule's instants; a row contains all of it. */
export type SchedulePlan = {
  readonly cron: Cron
  /** IANA name. */
  readonly zone: string
  /** The earliest instant; null: creation. */
  readonly startAt: Date | null
  /** The latest instant. */
  readonly endAt: Date | null
  /** The effective time of a cancellation: no instant at or after it runs. */
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

/** The first instant of the schedule strictly after `after`, or null after the last one. */
export function nextInstant(plan: SchedulePlan, after: Date): Date | null {
  const { cron, zone, startAt } = plan
  const isBefore = startAt !== null && startAt > after
  const next = cron.next(isBefore ? new Date(startAt.getTime() - 1) : after, zone)
  return next === null || isPastEnd(plan, next) ? null : next
}

/** An instant at the endDate runs; an instant at the cancellation does not. */
function isPastEnd({ endAt, effectiveEnd }: SchedulePlan, instant: Date): boolean {
  return (endAt !== null && instant > endAt) || (effectiveEnd !== null && instant >= effectiveEnd)
}

/**
 * The first instant of a new schedule. Instants before its creation are not charged, even with a
 * startDate in the past.
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
