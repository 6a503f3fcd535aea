/** Decides which due times are charged and which are recorded as missed. */

import { WallRuns } from './local-occurrences.ts'
import { latestWall, skippedTimes } from './local-time.ts'
import { nextDueTime, type SchedulePlan } from './plan.ts'

/** Settings of a channel. */
export type MisfirePolicy = {
  /** The greatest age of a late charge, in milliseconds, inclusive. */
  readonly windowMs: number
  /** The most late charges at once, from 0. */
  readonly most: number
}

export const defaultMisfire: MisfirePolicy = { windowMs: 24 * 3_600_000, most: 24 }

/**
 * Consecutive due times without a charge. A range, because a schedule of every second misses 86,400
 * a day; `dueTimesOf` lists the due times one by one.
 */
export type Missed = {
  readonly first: Date
  readonly last: Date
  /** The number of due times from the first to the last, both included. */
  readonly count: number
}

export type Due = {
  /** To be charged, oldest first. */
  readonly charge: readonly Date[]
  /** Two ranges at most, the older one first: before the window, and beyond the number. */
  readonly missed: readonly Missed[]
  /** The first due time after `now`; null after the last one. */
  readonly nextAt: Date | null
}

/**
 * Decides all due times from `nextAt` to `now` at once: each is in `charge` or in one range of
 * `missed`. Inside the window the oldest due times are charged. Without an outage every due time
 * is charged. The cost grows with the days of the outage, not with the due times.
 */
export function decideDueTimes(
  plan: SchedulePlan,
  nextAt: Date,
  now: Date,
  { windowMs, most }: MisfirePolicy = defaultMisfire,
): Due {
  const windowStart = new Date(Math.max(now.getTime() - windowMs, nextAt.getTime()))
  const missed: Missed[] = []
  const tooOld = missedBetween(plan, nextAt, new Date(windowStart.getTime() - 1))
  if (tooOld !== null) missed.push(tooOld)
  const charge: Date[] = []
  let next = firstFrom(plan, windowStart)
  for (; next !== null && next <= now && charge.length < most; next = nextDueTime(plan, next)) {
    charge.push(next)
  }
  const tooMany = next === null ? null : missedBetween(plan, next, now)
  if (tooMany !== null) missed.push(tooMany)
  return { charge, missed, nextAt: now < nextAt ? firstFrom(plan, nextAt) : nextDueTime(plan, now) }
}

/** All due times from `nextAt` to `now` as missed: in one range, or none. */
export function missedUpTo(plan: SchedulePlan, nextAt: Date, now: Date): readonly Missed[] {
  return decideDueTimes(plan, nextAt, now, { windowMs: Number.POSITIVE_INFINITY, most: 0 }).missed
}

/** A range's due times, oldest first, one at a time. */
export function* dueTimesOf(plan: SchedulePlan, { first, last }: Missed): Generator<Date, void> {
  let next = firstFrom(plan, first)
  for (; next !== null && next <= last; next = nextDueTime(plan, next)) yield next
}

/** The first due time at or after this one. */
function firstFrom(plan: SchedulePlan, from: Date): Date | null {
  return nextDueTime(plan, new Date(from.getTime() - 1))
}

function missedBetween(plan: SchedulePlan, from: Date, until: Date): Missed | null {
  const first = firstFrom(plan, from)
  if (first === null || first > until) return null
  const last = lastUpTo(plan, first, until)
  return { first, last, count: countFrom(plan, first, last) }
}

/** The last due time up to `until`, by bisection; `first` is up to `until`. */
function lastUpTo(plan: SchedulePlan, first: Date, until: Date): Date {
  let last = first
  let high = until.getTime()
  while (high - last.getTime() > 1) {
    const middle = Math.floor((last.getTime() + high) / 2)
    const next = nextDueTime(plan, new Date(middle))
    if (next !== null && next <= until) last = next
    else high = middle
  }
  return last
}

/** The number of due times between two, both included. */
function countFrom(plan: SchedulePlan, first: Date, last: Date): number {
  const { cron, zone } = plan
  const runs = new WallRuns(String(cron))
  const after = latestWall(new Date(first.getTime() - 1_000), zone)
  const until = latestWall(last, zone)
  let count = runs.count(after, until)
  for (const { from, to } of skippedTimes(after, until, zone)) {
    // Skipped times and the due time after them are a single run.
    count -= Math.max(0, runs.count(from - 1, to) - 1)
  }
  return count
}
