/** Ranges of results, in times and in ids. */
import { idTimeMs, lowestId, lowestIdAt } from '../ids.ts'
import type { Stretch } from './scope.ts'
import type { Place } from './sort-key.ts'
import type { FoundRow } from './store.ts'

export type Found = Place & { readonly kind: 'payment' | 'record' }

/** After every result: the years of the API end with 9999. */
const endMs = Date.UTC(10_000, 0, 1)

/** The start of a search that ends before a moment. */
export const placeBefore = (toMs: number | null): Place => ({ atMs: toMs ?? endMs, id: lowestId })

export const toFound = ({ kind, id, at }: FoundRow): Found => ({
  atMs: at === null ? idTimeMs(id) : at.getTime(),
  id,
  kind,
})

/** The range from a moment up to the position `to`. */
export function stretchOf(fromMs: number, to: Place): Stretch {
  const own = idTimeMs(to.id)
  return {
    from: new Date(fromMs),
    to: new Date(to.atMs),
    belowId: to.id,
    fromId: lowestIdAt(fromMs),
    // Where the place has a time of its own, all ids of its millisecond are lower than its id, or none.
    toId: own === to.atMs ? to.id : lowestIdAt(own > to.atMs ? to.atMs + 1 : to.atMs),
  }
}
