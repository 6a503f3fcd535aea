/**
 * Limits pages by bytes as well as by entries: merchants choose the size of a payment's data, and
 * five hundred large payments would exceed the longest text.
 */
import { limits } from '@tollgate/schemas'
import type { Lanes } from '../db/lanes.ts'
import { weightsOf } from './store.ts'

/**
 * Splits entries into portions that fit into memory, to be read one after the other until the page is full.
 * Almost always one portion.
 *
 * @param idsOf the payments, registrations and schedules that have to be read for an entry
 */
export async function portionsOf<Entry>(
  { lanes }: { readonly lanes: Lanes },
  entries: readonly Entry[],
  idsOf: (entry: Entry) => readonly string[],
): Promise<Entry[][]> {
  const ids = [...new Set(entries.flatMap(idsOf))]
  // A single entry is read at any size, since one response can hold the data of one request.
  if (entries.length <= 1 || ids.length === 0) return entries.length === 0 ? [] : [[...entries]]
  const weights = new Map<string, number>()
  for (const { id, bytes } of await lanes.read(weightsOf(ids))) {
    weights.set(id, (weights.get(id) ?? 0) + Number(bytes))
  }
  const portions: Entry[][] = []
  let left = 0
  for (const entry of entries) {
    const weight = idsOf(entry).reduce((sum, id) => sum + (weights.get(id) ?? 0), 0)
    const portion = portions.at(-1)
    if (portion === undefined || weight > left) {
      portions.push([entry])
      left = limits.pageBytes - weight
    } else {
      portion.push(entry)
      left -= weight
    }
  }
  return portions
}

/** The approximate JSON size of a value in characters, which limit a text. */
export function weigh(value: unknown): number {
  if (typeof value === 'string') return value.length + 3
  if (typeof value !== 'object' || value === null) return 8
  let sum = 2
  for (const name in value) {
    sum += name.length + 3 + weigh((value as Readonly<Record<string, unknown>>)[name])
  }
  return sum
}

/** Number of entries that fit into a page that already has the size `taken`. An empty page takes at least one. */
export function fitting(weights: readonly number[], taken: number): number {
  let sum = taken
  for (const [index, weight] of weights.entries()) {
    sum += weight
    if (sum > limits.pageBytes && (index > 0 || taken > 0)) return index
  }
  return weights.length
}
