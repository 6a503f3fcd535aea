/** The commit that creates a schedule, once per idempotency key. */
import { actorOf } from '../audit/actor.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import type { Idempotency } from '../payment/idempotency.ts'
import { keyInUse, resourceOfKey } from '../payment/idempotency.ts'
import { addSchedule, scheduleById, toSchedule } from './store.ts'
import type { Schedule } from './types.ts'

/** @throws GatewayError 200.300.405 when the key was used for another request. */
export async function addOnce(
  engine: Engine,
  caller: Caller,
  schedule: Schedule,
  idempotency: Idempotency | null,
): Promise<{ schedule: Schedule; isNew: boolean }> {
  const merchantId = await engine.directory.merchantOf(schedule.channelId)
  const statement = addSchedule(schedule, merchantId, newId(), actorOf(caller), idempotency)
  const [added] = await engine.lanes.single(statement)
  if (added !== undefined) return { schedule, isNew: true }
  // An earlier run of this commit succeeded, or the key created another schedule.
  const found =
    idempotency === null ? await byId(engine, schedule.id) : await madeBy(engine, idempotency)
  if (found === undefined) throw keyInUse()
  return { schedule: found, isNew: found.id === schedule.id }
}

/** The earlier schedule of this key. @throws GatewayError when the request differs. */
export async function madeBy(
  engine: Engine,
  idempotency: Idempotency,
): Promise<Schedule | undefined> {
  const id = await resourceOfKey(engine, idempotency)
  return id === undefined ? undefined : byId(engine, id)
}

async function byId(engine: Engine, id: string): Promise<Schedule | undefined> {
  const [row] = await engine.lanes.single(scheduleById(id, null))
  return row === undefined ? undefined : toSchedule(row)
}
