/** The plan of a stored schedule, and its clock. */

import { businessNow } from '../business-time/time.ts'
import { type Cron, parseCron } from '../cron/index.ts'
import type { Engine } from '../engine.ts'
import { type Length, mostUnits, type Notice, type PeriodUnit, type SchedulePlan } from './plan.ts'
import { databaseNow } from './store.ts'
import type { Schedule } from './types.ts'

/** Caches parsed expressions: many schedules share one, and each charge needs one. */
const read = new Map<string, Cron>()
const mostRead = 1000

function cronOf(expression: string): Cron {
  const known = read.get(expression)
  if (known !== undefined) return known
  if (read.size >= mostRead) read.clear()
  const cron = parseCron(expression)
  read.set(expression, cron)
  return cron
}

type Planned = Pick<Schedule, 'expression' | 'zone' | 'startAt' | 'endAt' | 'effectiveEnd' | 'job'>

export function planOf(schedule: Planned): SchedulePlan {
  const { job } = schedule
  const notice = lengthOf(job.noticeUnit, job.noticeNumber)
  const callable = (job.noticeCallable ?? 'ANYTIME') as Notice['callable']
  return {
    cron: cronOf(schedule.expression),
    zone: schedule.zone,
    startAt: schedule.startAt,
    endAt: schedule.endAt,
    effectiveEnd: schedule.effectiveEnd,
    notice: notice === null ? null : { ...notice, callable },
    duration: lengthOf(job.durationUnit, job.durationNumber),
  }
}

function lengthOf(unit: string | undefined, number: string | undefined): Length | null {
  if (unit === undefined || number === undefined) return null
  return { unit: unit as PeriodUnit, number: Math.min(Number(number), mostUnits) }
}

/** Schedules without a test clock use the database's time: the same for all hosts. */
export async function timeOf(engine: Engine, clockId: string | null): Promise<Date> {
  if (clockId !== null) return businessNow(engine, '', clockId)
  const [row] = await engine.lanes.read(databaseNow)
  return row!.now
}
