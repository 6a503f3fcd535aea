/** Periods and notice of a schedule: the time when a cancellation takes effect. */

import { lastMoment, later } from './local-time.ts'
import { type Length, mostUnits, type SchedulePlan } from './plan.ts'

/**
 * The end of a schedule that is cancelled `now`: a due time at this time is not charged. At most
 * 2099-12-31 23:59:59 in the schedule's zone.
 *
 * - Without notice: at once.
 * - ANYTIME: after the notice, counted from now.
 * - DURATION_END: the first end of a period at or after the end of the notice. Periods follow each
 * other from startDate, or from creation, without a break. The first period always runs in full,
 * even after a cancellation before its begin: a notice only prevents the next one.
 */
export function effectiveEnd(plan: SchedulePlan, createdAt: Date, now: Date): Date {
  const { notice, duration, zone } = plan
  if (notice === null) return now
  const earliest = later(now, notice, 1, zone)
  if (notice.callable === 'ANYTIME' || duration === null) return earliest
  if (earliest >= lastMoment(zone)) return earliest
  return firstBoundary(plan.startAt ?? createdAt, duration, earliest, zone)
}

/** The first end of a period at or after `earliest`. */
function firstBoundary(anchor: Date, duration: Length, earliest: Date, zone: string): Date {
  // Always counted from the anchor: the 31st returns after a shorter month.
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
