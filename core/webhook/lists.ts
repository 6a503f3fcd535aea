/** Pages of webhook endpoints and of their deliveries. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { isId } from '../ids.ts'
import { fitting, weigh } from '../page/portions.ts'
import { readSlowly } from '../query/read-limiter.ts'
import { refuse, textOf } from '../request/values.ts'
import { lookAtEndpoint } from './endpoints.ts'
import { type DeliveryRow, deliveriesOf, endpointsBelow, toEndpoint } from './store.ts'
import type { Endpoint } from './types.ts'

export type Page<Entry> = { readonly entries: readonly Entry[]; readonly nextCursor?: string }

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
    await readSlowly(engine.lanes, deliveriesOf(endpoint.id, state, cursorOf(fields), limit + 1)),
    limit,
  )
}

const limitOf = (fields: RequestFields) => Number(textOf(fields, 'limit') ?? 100)

function cursorOf(fields: RequestFields): string | null {
  const cursor = textOf(fields, 'cursor')
  if (cursor === undefined || isId(cursor)) return cursor ?? null
  throw refuse('200.300.404', 'cursor', 'must be a nextCursor of an earlier answer', cursor)
}

function pageOf<Entry extends { readonly id: string }>(
  rows: readonly Entry[],
  limit: number,
): Page<Entry> {
  const shown = rows.slice(0, limit)
  const entries = shown.slice(0, fitting(shown.map(weigh), 0))
  const last = entries.at(-1)
  return rows.length > entries.length && last !== undefined
    ? { entries, nextCursor: last.id }
    : { entries }
}
