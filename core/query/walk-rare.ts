/**
 * Reads what few payments have of all channels at once, newest first, and keeps what the caller may see.
 *
 * A caller with ten thousand channels would look ten thousand times into each month for a handful of
 * payments. How many of them are others' nobody knows before: no more entries are read than the looks
 * would cost that they spare, so that what is found in vain at most doubles the time.
 */
import type { Engine } from '../engine.ts'
import { idTimeMs } from '../ids.ts'
import { type Rare, rareOf, rareOfEach } from './rare.ts'
import { readSlowly } from './read-limiter.ts'
import type { Scope, Stretch, Walk } from './scope.ts'
import { newestFirst, type Place } from './sort-key.ts'
import { countIn, countOfAll, type EntryRow, hasOthers, newestIn, newestOfAll } from './store.ts'
import { type Found, stretchOf, toFound } from './time-window.ts'

/** What was found up to a place behind which each channel has to be asked; null: nothing is left to ask. */
export type Begun = { readonly found: Found[]; readonly left: Place | null }

const monthMs = 30 * 86_400_000
/** A partition each; who keeps payments longer has not more of them that matter here. */
const mostMonths = 120
/** Entries that are read while one look into an index is made, which takes a microsecond or two. */
const entriesOfLook = 2
/** However many channels there are: the numbers of a statement are integers. */
const mostWorth = 10_000_000
/** So many are worth a try where the rest of the cost, what the channels have, is not known. */
const triedEntries = 20_000
/** Entries that a first statement reads, and any. */
const [firstEntries, mostEntries] = [5000, 100_000]
/** How many more a statement reads than the one before it. */
const factor = 8

export async function newestOfEverybody(
  engine: Engine,
  { scope, wanted }: Walk,
  start: Place,
): Promise<Begun> {
  const floor = scope.criteria.fromMs ?? 0
  const found: Found[] = []
  let to = start
  const rare = rareOf(scope.criteria)
  if (rare === null) return { found, left: to }
  let worth = worthReading(engine, scope, rare, floor, to.atMs)
  let entries = Math.min(worth, Math.max(firstEntries, wanted))
  let kinds = Math.max(1, rare.kinds.length)
  while (worth >= firstEntries) {
    const missing = wanted - found.length
    const most = Math.ceil(entries / kinds)
    const rows = await readSlowly(
      engine.lanes,
      newestOfAll(scope, rare, stretchOf(floor, to), most, missing),
    )
    const { payments, end } = readUpTo(rows, missing)
    found.push(...payments, ...(await othersUpTo(engine, scope, end, floor, to, missing)))
    if (end === null || found.length >= wanted) return { found, left: null }
    // Of the other kinds everything was read: they are few, and what is read goes to these.
    kinds = rows.filter((row) => row.is_last).length
    worth -= most * kinds
    entries = Math.min(worth, Math.max(entries, Math.min(entries * factor, mostEntries)))
    to = end
  }
  return { found, left: to }
}

/** What fits, and the place up to which it is all there is: null where nothing else follows. */
function readUpTo(
  rows: readonly EntryRow[],
  missing: number,
): { payments: Found[]; end: Place | null } {
  const last = rows.findIndex((row) => row.is_last)
  const payments = rows
    .slice(0, last === -1 ? rows.length : last + 1)
    .filter(({ fits }) => fits)
    .map(({ id }) => toFound({ kind: 'payment', id, at: null }))
    .slice(0, missing)
  if (payments.length === missing) return { payments, end: payments.at(-1)! }
  return { payments, end: last === -1 ? null : placeOf(rows[last]!.id) }
}

const placeOf = (id: string): Place => ({ atMs: idTimeMs(id), id })

/** Records and payments on test clocks, no further back than payments in real time are known. */
async function othersUpTo(
  engine: Engine,
  scope: Scope,
  end: Place | null,
  floor: number,
  to: Place,
  missing: number,
): Promise<Found[]> {
  if (!hasOthers(scope)) return []
  const stretch = stretchOf(end?.atMs ?? floor, to)
  const rows = await readSlowly(engine.lanes, newestIn(scope, stretch, missing, 'others'))
  const found = rows.map(toFound)
  return end === null ? found : found.filter((place) => newestFirst(place, end) <= 0)
}

/** How many a search for something rare finds, up to `most`; undefined where each channel has to be asked. */
export async function countOfEverybody(
  engine: Engine,
  scope: Scope,
  stretch: Stretch,
  most: number,
): Promise<number | undefined> {
  const rare = rareOf(scope.criteria)
  if (rare === null) return undefined
  const worth = worthReading(engine, scope, rare, stretch.from.getTime(), stretch.to.getTime())
  if (worth < firstEntries) return undefined
  const [row] = await readSlowly(engine.lanes, countOfAll(scope, rare, stretch, worth, most))
  const counted = Number(row!.count)
  if (counted >= most) return most
  if (row!.is_cut) return undefined
  if (!hasOthers(scope)) return counted
  const [others] = await readSlowly(engine.lanes, countIn(scope, stretch, most - counted, 'others'))
  return Math.min(most, counted + Number(others!.count))
}

/** How many entries take as long as asking each channel does. */
function worthReading(
  engine: Engine,
  { criteria, channelCount }: Scope,
  { by }: Rare,
  fromMs: number,
  toMs: number,
): number {
  const each = rareOfEach(criteria, channelCount)
  const untilMs = Math.min(toMs, engine.clock.realMs())
  const months = Math.min(mostMonths, Math.max(0, Math.ceil((untilMs - fromMs) / monthMs)) + 1)
  // Nothing is spared to a single channel: a look for each month has to be made anyway.
  const looks = (channelCount - 1) * (each?.kinds.length ?? 1) * months
  const tried = by === each?.by ? 0 : triedEntries
  return Math.min(mostWorth, Math.max(looks * entriesOfLook, tried))
}
