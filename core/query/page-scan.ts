/**
 * Walks back through time for the newest results of a search.
 *
 * A caller may have ten thousand channels, and no index orders the newest payments of all of them.
 * So the scan reads the newest of each channel within a time window, and the windows follow one
 * another into the past, longer where results are rare. The cost of a page depends neither on its
 * age nor on the number of payments.
 */
import type { Engine } from '../engine.ts'
import { lowestId } from '../ids.ts'
import { readOnSlowly, readSlowly } from './read-limiter.ts'
import type { Scope, Walk } from './scope.ts'
import { newestFirst } from './sort-key.ts'
import { areRecordsAsked, countIn, named, newestIn } from './store.ts'
import { type Found, placeBefore, stretchOf, toFound } from './time-window.ts'
import { readsAllChannels, uncommonKindsOf } from './uncommon-kinds.ts'

export type Newest = {
  readonly found: readonly Found[]
  /** Number of results after `after`, if known. */
  readonly total?: number
}

const firstSpanMs = 60_000
const dayMs = 86_400_000
const monthMs = 30 * dayMs
/** This number of index look-ups takes one or two milliseconds. */
const firstLooks = 500
/** The maximum factor between the lengths of two consecutive windows. */
const factor = 8
/** Up to this number, the transactions of a reference are sorted here. Beyond it, the scan walks through time. */
const mostNamed = 5000

/** The newest `wanted` results, or all when fewer exist. */
export async function newest(engine: Engine, walk: Walk): Promise<Newest> {
  // A reference has few results of any age, so an index finds them directly. A started scan
  // continues.
  const isNamed = walk.scope.criteria.merchantTransactionId !== null || isNumbered(walk.scope)
  const looked = isNamed && !walk.spanMs ? await lookUp(engine, walk) : undefined
  return looked ?? { found: await walkBack(engine, walk) }
}

const isNumbered = ({ criteria }: Scope) => criteria.shortNo !== null

/** @returns undefined for too many results to sort. */
async function lookUp(engine: Engine, { scope, after, wanted }: Walk): Promise<Newest | undefined> {
  const rows = await readSlowly(engine.lanes, scope.merchant, named(scope, mostNamed))
  if (rows.length >= mostNamed && !isNumbered(scope)) return undefined
  const { fromMs, toMs } = scope.criteria
  const found = rows
    .map(toFound)
    .filter(({ atMs }) => (fromMs === null || atMs >= fromMs) && (toMs === null || atMs < toMs))
    .filter((place) => after === null || newestFirst(after, place) < 0)
    .sort(newestFirst)
  return { found: found.slice(0, wanted), total: found.length }
}

async function walkBack(engine: Engine, walk: Walk): Promise<readonly Found[]> {
  const { scope, wanted } = walk
  const floor = scope.criteria.fromMs ?? 0
  const now = engine.clock.realMs()
  const found: Found[] = []
  let to = walk.after ?? placeBefore(scope.criteria.toMs)
  let span = walk.spanMs || firstSpan(scope)
  let read = readSlowly
  while (to.atMs >= floor) {
    // Only payments on a test clock can lie in the future: one step covers them.
    const isAhead = to.atMs > now + dayMs
    const from = Math.max(floor, isAhead ? now : to.atMs - span)
    const missing = wanted - found.length
    const next = newestIn(scope, stretchOf(from, to), missing)
    const rows = await read(engine.lanes, scope.merchant, next)
    read = readOnSlowly
    found.push(...rows.map(toFound))
    if (found.length >= wanted || from === floor) break
    if (!isAhead) span = nextSpan(to.atMs - from, rows.length, wanted - found.length)
    to = { atMs: from, id: lowestId }
  }
  return found.sort(newestFirst).slice(0, wanted)
}

/** A search for uncommon kinds reads few entries at any length of time: the number of channels and months limits it. */
function firstSpan(scope: Scope): number {
  const { criteria, channelCount } = scope
  const uncommon = uncommonKindsOf(criteria)
  if (uncommon === null) return firstSpanMs
  if (readsAllChannels(scope, uncommon)) return Number.POSITIVE_INFINITY
  const months = firstLooks / Math.max(1, channelCount * uncommon.kinds.length)
  // The brand of a record is the brand of its account, which needs a look-up for each record.
  const areLookedUp = criteria.brands !== null && areRecordsAsked(criteria)
  return Math.max(firstSpanMs, Math.ceil(monthMs * (areLookedUp ? Math.min(1, months) : months)))
}

/** Length of the next window: enough for the missing results at the present density, with a margin. */
function nextSpan(length: number, found: number, missing: number): number {
  const likely = found === 0 ? factor : (1.25 * missing) / found
  return Math.max(1, Math.ceil(length * Math.min(factor, Math.max(1 / factor, likely))))
}

/** The number of results, exact up to `most`, which is the maximum. */
export async function count(engine: Engine, scope: Scope, most: number): Promise<number> {
  const { fromMs, toMs } = scope.criteria
  const stretch = stretchOf(fromMs ?? 0, placeBefore(toMs))
  const [row] = await readOnSlowly(engine.lanes, scope.merchant, countIn(scope, stretch, most))
  return Math.min(most, Number(row!.count))
}
