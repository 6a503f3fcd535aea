/** Sends notifications again. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { actorOf } from '../audit/actor.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { highestIdAt, lowestId, lowestIdAt, newId } from '../ids.ts'
import { readSlowly } from '../query/read-limiter.ts'
import { refuse, textOf } from '../request/values.ts'
import { readWall } from '../schedule/local-time.ts'
import { readEndpoint } from './endpoints.ts'
import type { NotificationType } from './notified-events.ts'
import {
  deadToReplay,
  eventsToReplay,
  eventToReplay,
  type Found,
  type Range,
  replayDead,
  replayEvents,
} from './store-replay.ts'

/**
 * Sends the notifications of one event, or of all events in a time range, to an endpoint again,
 * whether delivered before or not; optionally only those that were given up.
 *
 * @returns the number, and where to continue when the range exceeds one request.
 * @throws GatewayError 404 for an unknown event.
 * @throws GatewayError 429 while another replay of a range by this token or of this endpoint runs.
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
  const wanted = wantedOf(textOf(fields, 'eventId'))
  const eventId = wanted?.eventId ?? null
  const kind = wanted?.kind ?? null
  const from = momentOf(fields, 'from')
  // The parameter has whole seconds, and the range includes its whole last second.
  const until = momentOf(fields, 'until', 999)
  const isDead = textOf(fields, 'which') === 'DEAD'
  const audit = {
    actor: actorOf(caller),
    action: 'webhook.replayed',
    entityId: endpoint.entityId,
    resource: endpoint.id,
    detail: { eventId: wanted?.id ?? null, from, until, which: isDead ? 'DEAD' : 'ALL' },
  }
  const send = async () => {
    engine.setupChanges.count(caller)
    const most = limits.webhooksPerReplay
    if (eventId !== null) await refuseUnknown(engine, endpoint.id, eventId)
    const search = isDead
      ? deadToReplay(endpoint.id, eventId, kind, { from, until }, most)
      : eventsOf(engine, endpoint.id, eventId, { from, until }, most)
    const merchant = await engine.directory.merchantBehind(caller)
    const found = await readSlowly(engine.lanes, merchant, search)
    const replayId = newId()
    let replayed = 0
    for (let first = 0; first === 0 || first < found.length; first += limits.webhooksPerWrite) {
      const ids = found.slice(first, first + limits.webhooksPerWrite).map((one) => one.id)
      const now = new Date(engine.clock.realMs())
      const statement = isDead
        ? replayDead(endpoint.id, ids, now, { ...audit, id: newId() })
        : replayEvents(endpoint.id, replayId, ids, kind, now, { ...audit, id: newId() })
      // One statement at a time, since payments share the connections.
      const [done] = await engine.lanes.inOrder('webhook-replay', () =>
        engine.lanes.single(statement),
      )
      replayed += done!.replayed
    }
    return found.length < most ? { replayed } : { replayed, nextFrom: nextOf(found) }
  }
  // One event is found by its id, whatever else there is.
  if (eventId !== null) return send()
  return engine.webhookReplays.within(caller, endpoint.id, send)
}

type Wanted = {
  readonly id: string
  readonly eventId: string
  readonly kind: NotificationType | null
}

/**
 * The event of a `webhook-id`. A suffix names the second notification of the event; an id without
 * one stands for all notifications of its event.
 */
function wantedOf(id: string | undefined): Wanted | undefined {
  if (id === undefined) return undefined
  const [eventId = '', second] = id.split('-', 2)
  if (second !== undefined && second !== 'registration') throw unknownEvent()
  return { id, eventId, kind: second === undefined ? null : 'REGISTRATION' }
}

async function refuseUnknown(engine: Engine, endpointId: string, eventId: string): Promise<void> {
  const [event] = await engine.lanes.read(eventToReplay(endpointId, eventId))
  if (event === undefined) throw unknownEvent()
}

const unknownEvent = () => new GatewayError('700.400.580', { status: 404 })

function eventsOf(
  engine: Engine,
  endpointId: string,
  eventId: string | null,
  range: Range,
  most: number,
): Sql<Found> {
  if (eventId !== null) return eventToReplay(endpointId, eventId)
  const slackMs = limits.eventFeedSlackMs
  const first = range.from === null ? lowestId : lowestIdAt(range.from.getTime() - slackMs)
  const endMs = range.until === null ? Number.POSITIVE_INFINITY : range.until.getTime() + slackMs
  const isOver = endMs < engine.clock.realMs()
  return eventsToReplay(endpointId, range, { first, last: highestIdAt(endMs) }, isOver, most)
}

/**
 * The start of the next request. Transactions get their numbers in another order than they begin,
 * by at most the time limit of a write. The next request repeats that much, unless the page is
 * shorter.
 */
function nextOf(found: readonly Found[]): Date {
  const times = found.map(({ at }) => at.getTime())
  const last = times.reduce((latest, time) => Math.max(latest, time))
  const overlapping = last - limits.flushBudgetMs
  return new Date(overlapping > times[0]! ? overlapping : last)
}

function momentOf(fields: RequestFields, name: string, more = 0): Date | null {
  const text = textOf(fields, name)
  if (text === undefined) return null
  const wall = readWall(text)
  if (wall !== null) return new Date(wall * 1000 + more)
  throw refuse('200.300.404', name, 'must be a moment, UTC, written yyyy-MM-dd HH:mm:ss', text)
}
