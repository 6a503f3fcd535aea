/** Sends notifications once more. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { actorOf } from '../audit/actor.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { highestIdAt, lowestId, lowestIdAt, newId } from '../ids.ts'
import { refuse, textOf } from '../request/values.ts'
import { readWall } from '../schedule/local-time.ts'
import { readEndpoint } from './endpoints.ts'
import { replayDead, replayEvents } from './store-replay.ts'

/** Ids are made a moment before their commit, by clocks that differ. */
const marginMs = 600_000

/**
 * Sends the notifications of one event, or of all events of a range of time, to an endpoint again,
 * delivered before or not; or only those that were given up.
 *
 * @returns how many, and where to go on when the range holds more than one request replays.
 */
export async function replay(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<{ replayed: number; nextFrom?: Date }> {
  const endpoint = await readEndpoint(engine, caller, id)
  if (!endpoint.active) {
    throw refuse('200.300.404', 'id', 'the endpoint is switched off: set active to true first')
  }
  const now = new Date(engine.clock.realMs())
  const eventId = textOf(fields, 'eventId') ?? null
  const from = momentOf(fields, 'from')
  // The moment has seconds: all of its last one belongs to the range.
  const until = momentOf(fields, 'until', 999)
  const range = { eventId, from, until }
  const most = limits.webhooksPerReplay
  const isDead = textOf(fields, 'which') === 'DEAD'
  const audit = {
    actor: actorOf(caller),
    action: 'webhook.replayed',
    entityId: endpoint.entityId,
    resource: endpoint.id,
    detail: { ...range, which: isDead ? 'DEAD' : 'ALL' },
  }
  const statement = isDead
    ? replayDead(endpoint.id, range, now, most, audit)
    : replayEvents(endpoint.id, newId(), range, idsOf(range), now, most, audit)
  const [done] = await engine.lanes.single(statement)
  const { replayed, seen, last } = done!
  return { replayed, ...(seen === most && last !== null ? { nextFrom: last } : {}) }
}

function idsOf(range: { eventId: string | null; from: Date | null; until: Date | null }) {
  if (range.eventId !== null) return { first: range.eventId, last: range.eventId }
  return {
    first: range.from === null ? lowestId : lowestIdAt(range.from.getTime() - marginMs),
    last: highestIdAt(
      range.until === null ? Number.POSITIVE_INFINITY : range.until.getTime() + marginMs,
    ),
  }
}

function momentOf(fields: RequestFields, name: string, more = 0): Date | null {
  const text = textOf(fields, name)
  if (text === undefined) return null
  const wall = readWall(text)
  if (wall !== null) return new Date(wall * 1000 + more)
  throw refuse('200.300.404', name, 'must be a moment, UTC, written yyyy-MM-dd HH:mm:ss', text)
}
