/**
 * Walks back through time for the newest of what a search finds.
 *
 * A caller may stand over ten thousand channels, and no index gives the newest of all of them in
 * order. So a stretch of time is read, unordered and by the index of each channel, and sorted here;
 * stretches follow one another into the past, longer where little is found and shorter where there
 * is too much. What a page costs depends on neither how far back it lies nor how much there is.
 */
import type { Engine } from '../engine.ts'
import { idTimeMs } from '../ids.ts'
import type { Criteria } from './criteria.ts'
import { newestFirst, type Place } from './place.ts'
import { type Channels, countIn, type FoundRow, foundIn, type Stretch } from './store.ts'

export type Found = Place & { readonly kind: 'payment' | 'record' }

export type Walk = {
  readonly channels: Channels
  readonly criteria: Criteria
  /** Everything after it in the order of answers; null from the newest on. */
  readonly after: Place | null
  readonly wanted: number
  /** Length of the first stretch; undefined: not known yet. */
  readonly spanMs: number | undefined
}

const shortestMs = 60_000
const dayMs = 86_400_000
/** What stands in the ids of the API's years: 1970 to 9999. */
const endMs = Date.UTC(10_000, 0, 1)
/** How much longer the next stretch is at most, and how much shorter when it held too much. */
const factor = 8

/** The newest `wanted` of what there is, or all when there is less. */
export async function newest(engine: Engine, walk: Walk): Promise<readonly Found[]> {
  const { criteria, after, wanted } = walk
  const floor = criteria.fromMs ?? 0
  const limit = 2000 + 2 * wanted
  const now = engine.clock.realMs()
  const found: Found[] = []
  let to = Math.min(criteria.toMs ?? endMs, after === null ? endMs : after.atMs + 1)
  let span = walk.spanMs ?? (isByTime(criteria) ? shortestMs : endMs)
  // Nothing but what lives on a test clock can lie ahead: one step passes it.
  if (to > now + dayMs) span = Math.max(span, to - now)
  while (to > floor) {
    const from = Math.max(floor, to - span)
    const length = to - from
    const rows = await read(engine, walk, from, to, length > 1 ? limit : null)
    if (rows === undefined) {
      span = Math.max(1, Math.ceil(length / factor))
      continue
    }
    for (const place of rows) {
      if (after === null || newestFirst(after, place) < 0) found.push(place)
    }
    if (found.length >= wanted) break
    to = from
    span = nextSpan(length, rows.length, wanted - found.length)
  }
  return found.sort(newestFirst).slice(0, wanted)
}

/** As long as what is still wanted takes where there is as much as here, and some more. */
function nextSpan(length: number, found: number, missing: number): number {
  const likely = found === 0 ? factor : (1.25 * missing) / found
  return Math.max(1, Math.ceil(length * Math.min(factor, Math.max(1 / factor, likely))))
}

/** Whether time is all that the search goes by. References find little and are looked up at once. */
export const isByTime = ({ merchantTransactionId, shortNo }: Criteria) =>
  merchantTransactionId === null && shortNo === null

/** @returns undefined when a stream holds more than `limit`. */
async function read(
  engine: Engine,
  { channels, criteria }: Walk,
  from: number,
  to: number,
  limit: number | null,
): Promise<Found[] | undefined> {
  const rows = await engine.lanes.read(
    foundIn({ channels, criteria }, stretchOf(from, to), limit === null ? null : limit + 1),
  )
  if (limit !== null && rows.length > limit) {
    const counts = [0, 0, 0]
    for (const { stream } of rows) counts[stream]! += 1
    if (counts.some((count) => count > limit)) return undefined
  }
  return rows.map(toFound)
}

function toFound({ stream, id, at }: FoundRow): Found {
  return {
    atMs: at === null ? idTimeMs(id) : at.getTime(),
    id,
    kind: stream === 2 ? 'record' : 'payment',
  }
}

/** How many a search finds, exact up to `most`; never more than that. */
export async function count(
  engine: Engine,
  { channels, criteria }: Pick<Walk, 'channels' | 'criteria'>,
  most: number,
): Promise<number> {
  const stretch = stretchOf(criteria.fromMs ?? 0, criteria.toMs ?? endMs)
  const [row] = await engine.lanes.read(countIn({ channels, criteria }, stretch, most))
  return Math.min(most, Number(row!.count))
}

function stretchOf(fromMs: number, toMs: number): Stretch {
  return {
    fromId: firstIdAt(fromMs),
    toId: firstIdAt(toMs),
    from: new Date(fromMs),
    to: new Date(toMs),
  }
}

/** The lowest id of a millisecond. */
function firstIdAt(ms: number): string {
  return (
    Math.max(0, Math.min(ms, 2 ** 48 - 1))
      .toString(16)
      .padStart(12, '0') + '0'.repeat(20)
  )
}
