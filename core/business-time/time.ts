/**
 * Business time, with or without a test clock. Each request reads the clock's position; no process
 * caches it.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Clock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import type { Channel } from '../entity/directory.ts'
import { isId } from '../ids.ts'
import { refuse, textOf } from '../request/values.ts'
import { clockById } from './store.ts'

/** Sources of time: the positions of test clocks are rows. */
type Clocks = { readonly clock: Clock; readonly lanes: Lanes }

/** The time of a test clock, or of the entity without one. */
export function businessNow(
  clocks: Clocks,
  entityId: string,
  clockId: string | null,
): Date | Promise<Date> {
  return clockId === null ? clocks.clock.businessAt(entityId) : positionOf(clocks, clockId)
}

async function positionOf({ lanes }: Clocks, clockId: string): Promise<Date> {
  const [row] = await lanes.read(clockById(clockId))
  if (row === undefined) throw new Error('a test clock is gone')
  return row.at
}

/** Test clocks belong to a database and exist in test environments only. */
type Installation = { readonly lanes: Lanes; readonly environment: 'test' | 'live' }

/**
 * The clock of a new resource: that of its parent resource, or the one in the request.
 *
 * @throws GatewayError 400 in the live environment, for a clock outside of the channel, and for
 * another clock than the parent's.
 */
export function clockOf(
  installation: Installation,
  channel: Channel,
  fields: RequestFields,
  inherited: string | null,
): string | null | Promise<string> {
  const id = textOf(fields, 'testClock')
  return id === undefined ? inherited : named(installation, channel, id, inherited)
}

async function named(
  { lanes, environment }: Installation,
  channel: Channel,
  id: string,
  inherited: string | null,
): Promise<string> {
  const wrong = (message: string) => refuse('200.300.404', 'testClock', message, id)
  if (environment !== 'test') {
    throw wrong('is not an allowed parameter in the live environment')
  }
  const [row] = isId(id) ? await lanes.read(clockById(id)) : []
  if (row === undefined || !channel.path.includes(row.entity_id)) {
    throw wrong('is no test clock of this channel or of a node above it')
  }
  if (inherited !== null && inherited !== id) {
    throw wrong(`must be left out or be ${inherited}, the clock of what is used here`)
  }
  return id
}
