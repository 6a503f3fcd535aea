/** Whether a schedule runs more often than its channel allows. */
import { lastWall } from '../cron/search.ts'
import { type Gap, WallRuns } from './local-occurrences.ts'
import { latestWall } from './local-time.ts'
import type { SchedulePlan } from './plan.ts'

/**
 * Two neighbouring runs after `after` that are closer than the interval, or null.
 *
 * Checks all remaining runs of the schedule, so no expression can hide a close pair in the future.
 * Distances are in local time, in which a schedule is written: an hourly schedule stays hourly even
 * when a clock change moves two of its runs together.
 */
export function closeRuns(plan: SchedulePlan, after: Date, minimumMs: number): Gap | null {
  // Two runs are at least a second apart.
  if (minimumMs <= 1_000) return null
  const { cron, zone, startAt, endAt } = plan
  const isBefore = startAt !== null && startAt > after
  const from = latestWall(isBefore ? new Date(startAt.getTime() - 1) : after, zone) + 1
  const until = endAt === null ? lastWall : Math.min(latestWall(endAt, zone), lastWall)
  return new WallRuns(String(cron)).closerThan(minimumMs / 1_000, from, until)
}
