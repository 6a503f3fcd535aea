/**
 * Changes the times of a schedule, or cancels it.
 *
 * A change has a moment T, and every due time up to T is accounted for: it has fired, or the change
 * itself records it as missed, with its event, in its own commit. A change never charges: a
 * merchant who cancels at 10:05, before the 10:00 due time has fired, wants no charge and must see
 * that none happened. For the same reason a cancellation with immediate effect turns fired
 * executions without a payment into missed ones. A change of times leaves those executions to be
 * charged.
 *
 * The computation locks nothing. The write succeeds only when the schedule is unchanged since the
 * read, its next due time included; otherwise the change reads and computes again, with a later T.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import { actorOf } from '../audit/actor.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import { refuseUnlessMayMake } from '../caller/rights.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { refuseRegisteredNumber } from '../payment/stored-number.ts'
import { registrationById, toRegistration } from '../registration/store.ts'
import { textOf } from '../request/values.ts'
import { type Missed, missedUpTo } from './misfire.ts'
import { effectiveEnd } from './periods.ts'
import { readPlan, readSchedule, type ScheduleWithNext, withNext } from './schedules.ts'
import {
  cancelSchedule,
  type Passed,
  reschedule,
  scheduleAtNow,
  toSchedule,
  unbegunOf,
} from './store.ts'
import { planOf } from './stored-plan.ts'
import type { Schedule, ScheduleRecord } from './types.ts'

/**
 * Gives a schedule new times, from now on.
 *
 * @throws GatewayError 404 for an unknown schedule; 400 100.360.300 for a cancelled or ended one.
 */
export async function changeSchedule(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<ScheduleWithNext> {
  const seen = await readSchedule(engine, caller, id, textOf(fields, 'entityId'))
  refuseUnlessMayMake(engine, caller, [seen.schedule.paymentType])
  await refuseItsNumber(engine, seen, fields)
  const anyEntity = { ...caller, entityId: null }
  const channel = await engine.directory.channel(anyEntity, seen.schedule.channelId)
  for (;;) {
    const { schedule, now } = await atNow(engine, id)
    const plan = readPlan(engine, channel, fields, now, schedule.zone)
    if (!hasMore(schedule)) throw new GatewayError('100.360.300')
    const times = {
      expression: plan.expression,
      startAt: plan.startAt,
      endAt: plan.endAt,
      job: plan.fields,
      nextAt: plan.firstAt,
    }
    const passed = unfired(engine, schedule, now)
    const record = await recordOf(engine, caller, fields, now)
    const [moved] = await engine.lanes.single(reschedule(schedule, times, passed, record))
    if (moved !== undefined) return withNext({ ...schedule, ...times, seq: moved.seq })
  }
}

/**
 * Cancels a schedule: at once, or after its notice. Until then the schedule runs, and due times
 * are charged.
 *
 * @throws GatewayError 404 for an unknown schedule; 400 100.360.303 for a cancelled or ended one.
 */
export async function endSchedule(
  engine: Engine,
  caller: Caller,
  id: string,
  fields: RequestFields,
): Promise<ScheduleWithNext> {
  const seen = await readSchedule(engine, caller, id, textOf(fields, 'entityId'))
  refuseUnlessMayMake(engine, caller, [seen.schedule.paymentType])
  await refuseItsNumber(engine, seen, fields)
  for (;;) {
    const { schedule, now } = await atNow(engine, id)
    if (!hasMore(schedule)) throw new GatewayError('100.360.303')
    const end = effectiveEnd(planOf(schedule), schedule.createdAt, now)
    const isAtOnce = end <= now
    const passed = isAtOnce ? await leftBehind(engine, schedule, now) : []
    const record = await recordOf(engine, caller, fields, now)
    const [moved] = await engine.lanes.single(cancelSchedule(schedule, end, passed, record))
    if (moved === undefined) continue
    const nextAt = isAtOnce || schedule.nextAt >= end ? null : schedule.nextAt
    return withNext({ ...schedule, cancelledAt: now, effectiveEnd: end, nextAt, seq: moved.seq })
  }
}

/** Changes are stored with their references, so these must not repeat the registration's number. */
async function refuseItsNumber(
  engine: Engine,
  { schedule }: ScheduleWithNext,
  fields: RequestFields,
): Promise<void> {
  const [row] = await engine.lanes.read(registrationById(schedule.registrationId, null))
  if (row !== undefined) refuseRegisteredNumber(toRegistration(row), fields)
}

async function atNow(engine: Engine, id: string): Promise<{ schedule: Schedule; now: Date }> {
  const [row] = await engine.lanes.single(scheduleAtNow(id))
  if (row === undefined) throw new GatewayError('700.400.580', { status: 404 })
  return { schedule: toSchedule(row), now: row.now }
}

type Running = Schedule & { readonly nextAt: Date }

function hasMore(schedule: Schedule): schedule is Running {
  return schedule.cancelledAt === null && schedule.nextAt !== null
}

/** Due times that fired since the read are missing here, but then the write fails as well. */
async function leftBehind(engine: Engine, schedule: Running, now: Date): Promise<Passed[]> {
  const fired = await engine.lanes.single(unbegunOf(schedule.id))
  return [
    ...fired.map(({ id, at }) => passedBy({ first: at, last: at, count: 1 }, id)),
    ...unfired(engine, schedule, now),
  ]
}

function unfired(engine: Engine, schedule: Running, now: Date): Passed[] {
  if (schedule.nextAt > now) return []
  try {
    return missedUpTo(planOf(schedule), schedule.nextAt, now).map((range) => passedBy(range))
  } catch (error) {
    // An unreadable schedule, such as one whose zone no longer exists, can still be cancelled.
    const kind = error instanceof Error ? error.name : 'unknown'
    engine.log.warn({ schedule: schedule.id, error: kind }, 'a schedule cannot be read')
    return [passedBy({ first: schedule.nextAt, last: schedule.nextAt, count: 1 })]
  }
}

function passedBy({ first, last, count }: Missed, executionId: string | null = null): Passed {
  return { id: newId(), eventId: newId(), executionId, first, last, count }
}

async function recordOf(
  engine: Engine,
  caller: Caller,
  fields: RequestFields,
  at: Date,
): Promise<ScheduleRecord> {
  return {
    recordId: newId(),
    eventId: newId(),
    shortNo: await engine.shortNumbers.take(),
    merchantTransactionId: textOf(fields, 'merchantTransactionId') ?? null,
    at,
    by: actorOf(caller),
  }
}
