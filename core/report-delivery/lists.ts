/** Pages of report destinations and of their deliveries. */
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { cursorOf, limitOf, type Page, pageOf } from '../page/by-id.ts'
import { readSlowly } from '../query/read-limiter.ts'
import { textOf } from '../request/values.ts'
import { lookAtDestination } from './destinations.ts'
import { type DeliveryRow, deliveriesTo, destinationsOf, toDestination } from './store.ts'
import type { Destination } from './types.ts'

/** Destinations of one entity, newest first. */
export async function listDestinations(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<Page<Destination>> {
  const entityId = textOf(fields, 'entityId') ?? caller.entityId
  if (entityId !== null) await engine.directory.mayName(caller, entityId)
  const limit = limitOf(fields)
  const isWhole = textOf(fields, 'removed') === 'true'
  const rows = await readSlowly(
    engine.lanes,
    await engine.directory.merchantBehind(caller),
    destinationsOf(entityId, isWhole, cursorOf(fields), limit + 1),
  )
  return pageOf(rows.map(toDestination), limit)
}

/** Deliveries to a destination, including a removed one, newest first. */
export async function listReportDeliveries(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<Page<DeliveryRow>> {
  const destination = await lookAtDestination(engine, caller, id)
  const limit = limitOf(fields)
  const state = textOf(fields, 'state')?.toLowerCase() ?? null
  return pageOf(
    await readSlowly(
      engine.lanes,
      await engine.directory.merchantBehind(caller),
      deliveriesTo(destination.id, state, cursorOf(fields), limit + 1),
    ),
    limit,
  )
}
