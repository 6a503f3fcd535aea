/** Pages of webhook endpoints and of their deliveries. */
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { cursorOf, limitOf, type Page, pageOf } from '../page/by-id.ts'
import { readSlowly } from '../query/read-limiter.ts'
import { textOf } from '../request/values.ts'
import { lookAtEndpoint } from './endpoints.ts'
import { type DeliveryRow, deliveriesOf, endpointsBelow, toEndpoint } from './store.ts'
import type { Endpoint } from './types.ts'

/** Endpoints of an entity and of all entities below it, newest first. */
export async function listEndpoints(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<Page<Endpoint>> {
  const entityId = textOf(fields, 'entityId') ?? caller.entityId
  if (entityId !== null) await engine.directory.mayName(caller, entityId)
  const limit = limitOf(fields)
  const isWhole = textOf(fields, 'removed') === 'true'
  const rows = await readSlowly(
    engine.lanes,
    await engine.directory.merchantBehind(caller),
    endpointsBelow(entityId, isWhole, cursorOf(fields), limit + 1),
  )
  return pageOf(rows.map(toEndpoint), limit)
}

/** Deliveries of an endpoint, including removed endpoints, newest first. */
export async function listDeliveries(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<Page<DeliveryRow>> {
  const endpoint = await lookAtEndpoint(engine, caller, id)
  const limit = limitOf(fields)
  const state = textOf(fields, 'state')?.toLowerCase() ?? null
  return pageOf(
    await readSlowly(
      engine.lanes,
      await engine.directory.merchantBehind(caller),
      deliveriesOf(endpoint.id, state, cursorOf(fields), limit + 1),
    ),
    limit,
  )
}
