/** The event feed: every notification once, oldest first, with or without webhook endpoints. */
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, lowestId, lowestIdAt, newId } from '../ids.ts'
import { fitting, portionsOf } from '../page/portions.ts'
import { refuse, textOf } from '../request/values.ts'
import {
  type Notification,
  type StoredEvent,
  tellableOf,
  Untellable,
} from '../webhook/notification.ts'
import {
  eventTypesOf,
  isMadeBy,
  type NotificationType,
  notificationTypes,
} from '../webhook/notified-events.ts'
import { beginning, cursorOf, floorOf, type Position, positionOf } from './position.ts'
import {
  beginningAfter,
  type EventRow,
  eventById,
  everyChannel,
  type PageRow,
  pageOfEvents,
} from './store.ts'
import { watchOf } from './watch.ts'

export type FeedPage = {
  readonly notifications: readonly Notification[]
  /** The cursor behind each notification, whatever types its reader asks for next. */
  readonly cursors: readonly string[]
  readonly nextCursor: string
  /** Whether the next page already has events. */
  readonly more: boolean
}

const cannotBeTold = 'an event of the feed cannot be told'

type Reading = {
  readonly channels: readonly string[] | null
  readonly types: readonly NotificationType[]
  readonly limit: number
}

/**
 * A page of the feed. If it would be empty, waits for the next event, for the requested time at most.
 *
 * @param isGone True when the client has disconnected.
 * @throws GatewayError 400 for a wrong cursor, 403 for a foreign entity, 429 for too many waiting clients, or
 * too many that read on after a look that found nothing.
 */
export async function readFeed(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
  isGone: () => boolean = () => false,
): Promise<FeedPage> {
  const reading: Reading = {
    channels: await engine.directory.visible(caller, textOf(fields, 'entityId')),
    types: typesIn(textOf(fields, 'types')),
    limit: Number(textOf(fields, 'limit') ?? 100),
  }
  const startedMs = engine.clock.elapsedMs()
  const until = startedMs + Number(textOf(fields, 'wait') ?? 0) * 1000
  const watch = watchOf(engine)
  const merchant = await engine.directory.merchantBehind(caller)
  let isFirst = true
  const run: Run = (statement) => {
    const looked = watch.look(merchant, statement, isFirst)
    isFirst = false
    return looked
  }
  let position = await startOf(engine, textOf(fields, 'cursor'), textOf(fields, 'since'), run)
  let awaited: readonly string[] | undefined
  const isOver = () => engine.clock.elapsedMs() >= until || isGone() || engine.inFlight.closing
  let leave: (() => void) | undefined
  try {
    for (;;) {
      const { sinceMs } = position
      const { notifications, behind, next, more } = await onePage(engine, reading, position, run)
      position = next
      if (notifications.length > 0 || isOver()) {
        const cursors = behind.map((place) => cursorOf({ ...place, sinceMs }))
        return { notifications, cursors, nextCursor: cursorOf(position), more }
      }
      leave ??= watch.enter(caller.id, merchant)
      if (more) continue
      awaited ??= reading.channels ?? (await engine.lanes.read(everyChannel)).map(({ id }) => id)
      // Tracked, so that a closing engine ends waits before it closes connections.
      await engine.inFlight.track(watch.wait(awaited, position, until, isGone))
      if (engine.inFlight.closing) {
        return { notifications: [], cursors: [], nextCursor: cursorOf(position), more: false }
      }
    }
  } finally {
    leave?.()
  }
}

function typesIn(text: string | undefined): readonly NotificationType[] {
  if (text === undefined || text === '') return notificationTypes
  return text.split(',').map((type) => type.trim() as NotificationType)
}

/** The cursor of a new follower. */
export async function firstCursor(engine: Engine, from: 'now' | 'beginning'): Promise<string> {
  return cursorOf(await startOf(engine, undefined, from === 'now' ? 'NOW' : undefined))
}

async function startOf(
  engine: Engine,
  cursor: string | undefined,
  since: string | undefined,
  run: Run = (statement) => engine.lanes.read(statement),
): Promise<Position> {
  if (cursor !== undefined) return positionOf(cursor)
  if (since === undefined) return beginning
  const nowMs = engine.clock.realMs()
  if (since === 'NOW') {
    const [row] = await run(beginningAfter(lowestIdAt(nowMs)))
    return { txid: row!.horizon, seq: 0, id: lowestId, isWithin: false, atMs: nowMs, sinceMs: null }
  }
  const sinceMs = Date.parse(
    `${since.length === 10 ? `${since} 00:00:00` : since}Z`.replace(' ', 'T'),
  )
  if (Number.isNaN(sinceMs)) throw refuse('200.300.404', 'since', 'is no date', since)
  const [row] = await run(beginningAfter(lowestIdAt(sinceMs - limits.eventFeedSlackMs)))
  const atMs = Math.min(sinceMs, nowMs)
  return { txid: row!.txid, seq: 0, id: lowestId, isWithin: false, atMs, sinceMs }
}

type Behind = Omit<Position, 'sinceMs'>

type OnePage = {
  readonly notifications: readonly Notification[]
  /** The position behind each of them. */
  readonly behind: readonly Behind[]
  readonly next: Position
  readonly more: boolean
}

type Run = <Row>(statement: Sql<Row>) => Promise<Row[]>

async function onePage(
  engine: Engine,
  reading: Reading,
  from: Position,
  run: Run,
): Promise<OnePage> {
  const { channels, types, limit } = reading
  const window = windowOf(reading)
  const since = from.sinceMs === null ? null : new Date(from.sinceMs)
  const wanted = [...new Set(types.flatMap(eventTypesOf))]
  const nowMs = engine.clock.realMs()
  const rows = await run(pageOfEvents(channels, from, floorOf(from), wanted, since, window, limit))
  refuseLost(from, rows[0]!.horizon)
  const found = rows.filter((row): row is PageRow & EventRow => row.id !== null)
  const { notifications, last, isWithin } = await fillPage(engine, found, limit, ({ id, type }) => {
    return types.includes(type) && !(from.isWithin && id === from.id)
  })
  const behind = notifications.map((notification) => behindOf(notification, found))
  const [{ horizon, seen, last_txid, last_seq, last_id, last_at }] = rows as [PageRow, ...PageRow[]]
  const { sinceMs } = from
  if (last !== undefined) {
    const { txid, seq, id, at } = last
    return {
      notifications,
      behind,
      next: { txid, seq, id, isWithin, atMs: at.getTime(), sinceMs },
      more: true,
    }
  }
  if (seen === window) {
    const next = { txid: last_txid!, seq: last_seq!, id: last_id!, atMs: last_at!.getTime() }
    return { notifications, behind, next: { ...next, isWithin: false, sinceMs }, more: true }
  }
  // Continues from the last event, not from the horizon: after a crash, the server reuses the numbers of
  // transactions that wrote nothing, and their events would lie before the horizon.
  const read =
    last_txid === null
      ? { ...from, txid: lowerOf(from, horizon) }
      : { txid: last_txid, seq: last_seq!, id: last_id!, isWithin: false }
  return { notifications, behind, next: { ...read, atMs: nowMs, sinceMs }, more: false }
}

const behindOf = ({ id, event }: Notification, rows: readonly EventRow[]): Behind =>
  behindEvent(rows.find((row) => row.id === event.id)!, id)

/** The position behind a notification of an event, which may have a second one. */
function behindEvent({ txid, seq, id, type, at }: EventRow, notification: string): Behind {
  return {
    txid,
    seq,
    id,
    isWithin: notification === id && isMadeBy(type),
    atMs: at.getTime(),
  }
}

/** The cursor behind a notification; undefined when its event is gone. */
export async function cursorBehind(
  engine: Engine,
  notification: string,
): Promise<string | undefined> {
  const [id = ''] = notification.split('-', 1)
  const [row] = isId(id) ? await engine.lanes.single(eventById(id, null)) : []
  return row && cursorOf({ ...behindEvent(row, notification), sinceMs: null })
}

/**
 * A position is behind an event, and all its transactions are decided. A database that has not come so far is an older
 * copy, in which the reader would miss events without a word.
 */
function refuseLost({ txid, id }: Position, horizon: string): void {
  if (id === lowestId || BigInt(txid) < BigInt(horizon)) return
  const what =
    'is ahead of this database, which was probably restored from a backup: start again with since'
  throw refuse('200.300.404', 'cursor', what)
}

/** A start without an event of its own follows the server's counter down. No events lie between. */
function lowerOf({ txid, id }: Position, horizon: string): string {
  return id === lowestId && BigInt(horizon) < BigInt(txid) ? horizon : txid
}

type FilledPage = {
  readonly notifications: readonly Notification[]
  /** The last event of the full page. Of an event with two notifications, perhaps only the first fits. */
  readonly last: EventRow | undefined
  readonly isWithin: boolean
}

/** The events that fit into a page, by number and by size. */
async function fillPage(
  engine: Engine,
  events: readonly EventRow[],
  limit: number,
  isWanted: (notification: Notification) => boolean,
): Promise<FilledPage> {
  const notifications: Notification[] = []
  let bytes = 0
  for (const portion of await portionsOf(engine, events, ({ resource }) => [resource])) {
    if (bytes > limits.pageBytes) return cutAt(events, notifications, portion[0]!.id)
    const wanted = (await toldOf(engine, portion.map(eventOf))).filter(isWanted)
    const weights = wanted.map(({ body }) => body.length)
    const fit = Math.min(fitting(weights, bytes), limit - notifications.length)
    notifications.push(...wanted.slice(0, fit))
    const next = wanted[fit]
    if (next !== undefined) return cutAt(events, notifications, next.event.id)
    bytes = weights.reduce((sum, weight) => sum + weight, bytes)
  }
  const last = events.length === limit ? events.at(-1) : undefined
  return { notifications, last, isWithin: false }
}

/**
 * The notifications of these events. Without an event that cannot be told, which would end the feed for
 * its clients: operators find it on their list.
 */
async function toldOf(engine: Engine, events: readonly StoredEvent[]): Promise<Notification[]> {
  const told: Notification[] = []
  for (const one of await tellableOf(engine, events)) {
    if (one instanceof Untellable) await listUntellable(engine, one)
    else told.push(one)
  }
  return told
}

async function listUntellable({ lanes, log }: Engine, { event, cause }: Untellable): Promise<void> {
  const { id, resource, type } = event
  log.warn({ event: id, error: cause instanceof Error ? cause.name : 'unknown' }, cannotBeTold)
  const detail = { why: cannotBeTold, event: id, resource, type }
  await lanes.single(
    addAttention(newId(), 'event', null, null, 0, detail, `event ${id} of the feed`),
  )
}

/** @param next The event of the first notification that does not fit. */
function cutAt(
  events: readonly EventRow[],
  notifications: readonly Notification[],
  next: string,
): FilledPage {
  const here = notifications.at(-1)!.event.id
  return { notifications, last: events.find(({ id }) => id === here), isWithin: here === next }
}

/**
 * Number of events to read for a page. Almost every event has a notification, so a page of all types
 * needs few. A page of some types needs more, but less for callers with many channels, because each
 * channel is read that far.
 */
function windowOf({ channels, types, limit }: Reading): number {
  if (types.length === notificationTypes.length) return 2 * limit
  const share = limits.eventFeedRows / Math.max(1, channels?.length ?? limits.eventFeedRows)
  return Math.max(2 * limit, Math.min(Math.floor(share), limits.eventFeedWindow))
}

export function eventOf(row: EventRow): StoredEvent {
  const { id, resource, seq, channel_id: channelId, type, at, data } = row
  return { id, resource, seq, channelId, type, at, data }
}

/**
 * One notification by its own id.
 *
 * @throws GatewayError 404 when the caller may see none with this id.
 */
export async function readNotification(
  engine: Engine,
  caller: Caller,
  id: string,
  entityId: string | undefined,
): Promise<Notification> {
  const channels = await engine.directory.visible(caller, entityId)
  const [eventId = ''] = id.split('-', 1)
  const [row] = isId(eventId) ? await engine.lanes.read(eventById(eventId, channels)) : []
  const all = row === undefined ? [] : await toldOf(engine, [eventOf(row)])
  const found = all.find((notification) => notification.id === id)
  if (found === undefined) throw new GatewayError('700.400.580', { status: 404 })
  return found
}
