/** Whether a schedule runs more often than its channel allows. */
import { lastWall } from '../cron/search.ts'
import { type Gap, WallRuns } from './local-occurrences.ts'
import { latestWall } from './local-time.ts'
import type { SchedulePlan } from './plan.ts'

/**
 * Two neighbouring runs after `after` that are closer than the interval, or null.
 *
 * All runs that are left between the schedule's bounds are judged, so no expression can put a close
 * pair where nobody looks. Distances are those of the wall clock, in which a schedule is written: an
 * hourly schedule stays one though a clock change moves two of its runs together.
 */
export function closeRuns(plan: SchedulePlan, after: Date, minimumMs: number): Gap | null {
  // No two runs are closer than a second.
  if (minimumMs <= 1_000) return null
  const { cron, zone, startAt, endAt } = plan
  const isBefore = startAt !== null && startAt > after
  const from = latestWall(isBefore ? new Date(startAt.getTime() - 1) : after, zone) + 1
  const until = endAt === null ? lastWall : Math.min(latestWall(endAt, zone), lastWall)
  return new WallRuns(String(cron)).closerThan(minimumMs / 1_000, from, until)
}
