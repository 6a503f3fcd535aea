/**
 * Walks back through time for the newest of what a search finds.
 *
 * A caller may stand over ten thousand channels, and no index gives the newest of all of them in
 * order. So each channel is asked for its newest in a stretch of time, and the stretches follow one
 * another into the past, longer where little is found. What a page costs depends on neither how far
 * back it lies nor how much there is.
 */
import type { Engine } from '../engine.ts'
import { idTimeMs } from '../ids.ts'
import { newestFirst, type Place } from './place.ts'
import { readSlowly } from './slow-reads.ts'
import { countIn, type FoundRow, named, newestIn, type Scope, type Stretch } from './store.ts'

export type Found = Place & { readonly kind: 'payment' | 'record' }

export type Walk = {
  readonly scope: Scope
  /** Everything after it in the order of answers; null from the newest on. */
  readonly after: Place | null
  readonly wanted: number
  /** Length of the first stretch; undefined: not known yet. */
  readonly spanMs: number | undefined
}

export type Newest = {
  readonly found: readonly Found[]
  /** How many there are behind `after`, where that is known. */
  readonly total?: number
}

const firstSpanMs = 60_000
const dayMs = 86_400_000
/** After everything: the years of the API end with 9999. */
const endMs = Date.UTC(10_000, 0, 1)
/** How much longer or shorter the next stretch is at most. */
const factor = 8
/** So many transactions of one reference are sorted here; more of them are walked through. */
const mostNamed = 5000

/** The newest `wanted` of what there is, or all when there is less. */
export async function newest(engine: Engine, walk: Walk): Promise<Newest> {
  // A reference finds little, wherever it lies: it is looked up at once. A walk that began is gone on with.
  const isNamed = walk.scope.criteria.merchantTransactionId !== null || isNumbered(walk.scope)
  const looked = isNamed && !walk.spanMs ? await lookUp(engine, walk) : undefined
  return looked ?? { found: await walkBack(engine, walk) }
}

const isNumbered = ({ criteria }: Scope) => criteria.shortNo !== null

/** @returns undefined when there are too many to sort them. */
async function lookUp(engine: Engine, { scope, after, wanted }: Walk): Promise<Newest | undefined> {
  const rows = await readSlowly(engine.lanes, named(scope, mostNamed))
  if (rows.length >= mostNamed && !isNumbered(scope)) return undefined
  const { fromMs, toMs } = scope.criteria
  const found = rows
    .map(toFound)
    .filter(({ atMs }) => (fromMs === null || atMs >= fromMs) && (toMs === null || atMs < toMs))
    .filter((place) => after === null || newestFirst(after, place) < 0)
    .sort(newestFirst)
  return { found: found.slice(0, wanted), total: found.length }
}

async function walkBack(
  engine: Engine,
  { scope, after, wanted, spanMs }: Walk,
): Promise<readonly Found[]> {
  const floor = scope.criteria.fromMs ?? 0
  const now = engine.clock.realMs()
  const found: Found[] = []
  let to = after ?? { atMs: scope.criteria.toMs ?? endMs, id: lowest }
  let span = spanMs || firstSpanMs
  while (to.atMs >= floor) {
    // Nothing but what lives on a test clock can lie ahead: one step passes it.
    const isAhead = to.atMs > now + dayMs
    const from = Math.max(floor, isAhead ? now : to.atMs - span)
    const rows = await readSlowly(engine.lanes, newestIn(scope, stretchOf(from, to), wanted))
    found.push(...rows.map(toFound))
    if (found.length >= wanted || from === floor) break
    if (!isAhead) span = nextSpan(to.atMs - from, rows.length, wanted - found.length)
    to = { atMs: from, id: lowest }
  }
  return found.sort(newestFirst).slice(0, wanted)
}

/** As long as what is still wanted takes where there is as much as here, and some more. */
function nextSpan(length: number, found: number, missing: number): number {
  const likely = found === 0 ? factor : (1.25 * missing) / found
  return Math.max(1, Math.ceil(length * Math.min(factor, Math.max(1 / factor, likely))))
}

const toFound = ({ kind, id, at }: FoundRow): Found => ({
  atMs: at === null ? idTimeMs(id) : at.getTime(),
  id,
  kind,
})

/** How many a search finds, exact up to `most`; never more than that. */
export async function count(engine: Engine, scope: Scope, most: number): Promise<number> {
  const { criteria } = scope
  const stretch = stretchOf(criteria.fromMs ?? 0, { atMs: criteria.toMs ?? endMs, id: lowest })
  const [row] = await readSlowly(engine.lanes, countIn(scope, stretch, most))
  return Math.min(most, Number(row!.count))
}

/** From a moment on, up to what stands after `to` in the order of answers. */
function stretchOf(fromMs: number, to: Place): Stretch {
  const own = idTimeMs(to.id)
  return {
    from: new Date(fromMs),
    to: new Date(to.atMs),
    belowId: to.id,
    fromId: firstIdAt(fromMs),
    // Where the place has a time of its own, all ids of its millisecond are lower than its id, or none.
    toId: own === to.atMs ? to.id : firstIdAt(own > to.atMs ? to.atMs + 1 : to.atMs),
  }
}

const lowest = '0'.repeat(32)

/** The lowest id of a millisecond. */
function firstIdAt(ms: number): string {
  return (
    Math.max(0, Math.min(ms, 2 ** 48 - 1))
      .toString(16)
      .padStart(12, '0') + '0'.repeat(20)
  )
}
