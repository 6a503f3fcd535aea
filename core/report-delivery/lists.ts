/** Pages of report destinations and of their deliveries. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { isId } from '../ids.ts'
import { fitting, weigh } from '../page/portions.ts'
import { readSlowly } from '../query/read-limiter.ts'
import { refuse, textOf } from '../request/values.ts'
import { lookAtDestination } from './destinations.ts'
import { type DeliveryRow, deliveriesTo, destinationsOf, toDestination } from './store.ts'
import type { Destination } from './types.ts'

export type Page<Entry> = { readonly entries: readonly Entry[]; readonly nextCursor?: string }

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
      deliveriesTo(destination.id, state, cursorOf(fields), limit + 1),
    ),
    limit,
  )
}

export const limitOf = (fields: RequestFields) => Number(textOf(fields, 'limit') ?? 100)

export function cursorOf(fields: RequestFields): string | null {
  const cursor = textOf(fields, 'cursor')
  if (cursor === undefined || isId(cursor)) return cursor ?? null
  throw refuse('200.300.404', 'cursor', 'must be a nextCursor of an earlier answer', cursor)
}

export function pageOf<Entry extends { readonly id: string }>(
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
