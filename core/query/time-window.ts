/** Stretches of the order of answers, in times and in ids. */
import { idTimeMs } from '../ids.ts'
import type { Stretch } from './scope.ts'
import type { Place } from './sort-key.ts'
import type { FoundRow } from './store.ts'

export type Found = Place & { readonly kind: 'payment' | 'record' }

/** After everything: the years of the API end with 9999. */
const endMs = Date.UTC(10_000, 0, 1)

/** Lower than the id of anything. */
export const lowest = '0'.repeat(32)

/** Where a search begins that ends before a moment. */
export const placeBefore = (toMs: number | null): Place => ({ atMs: toMs ?? endMs, id: lowest })

export const toFound = ({ kind, id, at }: FoundRow): Found => ({
  atMs: at === null ? idTimeMs(id) : at.getTime(),
  id,
  kind,
})

/** From a moment on, up to what stands after `to` in the order of answers. */
export function stretchOf(fromMs: number, to: Place): Stretch {
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

/** The lowest id of a millisecond. */
function firstIdAt(ms: number): string {
  return (
    Math.max(0, Math.min(ms, 2 ** 48 - 1))
      .toString(16)
      .padStart(12, '0') + '0'.repeat(20)
  )
}
