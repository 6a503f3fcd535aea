/** Business time of what may live on a test clock. The position is read with each request, never cached. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { isId } from '../ids.ts'
import { refuse, textOf } from '../request/values.ts'
import { clockById } from './store.ts'

/** The time of a test clock, or of the entity where there is none. */
export function businessNow(
  engine: Engine,
  entityId: string,
  clockId: string | null,
): Date | Promise<Date> {
  return clockId === null ? engine.clock.businessAt(entityId) : positionOf(engine, clockId)
}

async function positionOf(engine: Engine, clockId: string): Promise<Date> {
  const [row] = await engine.lanes.read(clockById(clockId))
  if (row === undefined) throw new Error('a test clock is gone')
  return row.at
}

/**
 * The clock that a new resource lives on: that of what it belongs to, or the one its request names.
 *
 * @throws GatewayError 400 in the live environment, for a clock that the channel cannot use and for
 * another one than that of what it belongs to.
 */
export function clockOf(
  engine: Engine,
  channel: Channel,
  fields: RequestFields,
  inherited: string | null,
): string | null | Promise<string> {
  const id = textOf(fields, 'testClock')
  return id === undefined ? inherited : named(engine, channel, id, inherited)
}

async function named(
  engine: Engine,
  channel: Channel,
  id: string,
  inherited: string | null,
): Promise<string> {
  const wrong = (message: string) => refuse('200.300.404', 'testClock', message, id)
  if (engine.environment !== 'test') {
    throw wrong('is not an allowed parameter in the live environment')
  }
  const [row] = isId(id) ? await engine.lanes.read(clockById(id)) : []
  if (row === undefined || !channel.path.includes(row.entity_id)) {
    throw wrong('is no test clock of this channel or of a node above it')
  }
  if (inherited !== null && inherited !== id) {
    throw wrong(`must be left out or be ${inherited}, the clock of what is used here`)
  }
  return id
}
