/** Periods of a schedule and its notice: when does a cancellation take effect? */

import { lastMoment, later } from './local-time.ts'
import { type Length, mostUnits, type SchedulePlan } from './plan.ts'

/**
 * Since when a schedule that is cancelled `now` runs no more: an instant that falls on it is not
 * charged. Not later than 2099-12-31 23:59:59 in the schedule's zone.
 *
 * - Without notice: at once.
 * - ANYTIME: when the notice has passed, counted from now.
 * - DURATION_END: at the first end of a period that is not before that; exactly then is in time.
 *   Periods follow each other from startDate, or from creation, without a break. The first is served
 *   in any case, also when the schedule is cancelled before it begins: notice only prevents the next.
 */
export function effectiveEnd(plan: SchedulePlan, createdAt: Date, now: Date): Date {
  const { notice, duration, zone } = plan
  if (notice === null) return now
  const earliest = later(now, notice, 1, zone)
  if (notice.callable === 'ANYTIME' || duration === null) return earliest
  if (earliest >= lastMoment(zone)) return earliest
  return firstBoundary(plan.startAt ?? createdAt, duration, earliest, zone)
}

/** The first end of a period that is not before `earliest`. */
function firstBoundary(anchor: Date, duration: Length, earliest: Date, zone: string): Date {
  // Always from the anchor: the 31st comes back after a shorter month.
  const boundary = (period: number) => later(anchor, duration, period, zone)
  let high = 1
  while (high < mostUnits && boundary(high) < earliest) high *= 2
  let low = Math.floor(high / 2)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (boundary(middle) < earliest) low = middle
    else high = middle
  }
  return boundary(high)
}
