/** The known name that a wrong one probably means: of parameters, options and settings. */
import { limits } from '@tollgate/schemas'

const maxDistance = 2

/** Names of one operation, indexed for suggestions. */
export type Vocabulary = ReadonlyMap<number, readonly { name: string; folded: string }[]>

/** Case and separators are the likeliest errors, so the distance ignores them. */
const fold = (name: string) => name.toLowerCase().replace(/[_-]/g, '.')

export function vocabularyOf(names: Iterable<string>): Vocabulary {
  const byLength = new Map<number, { name: string; folded: string }[]>()
  for (const name of names) {
    const folded = fold(name)
    const sameLength = byLength.get(folded.length)
    if (sameLength === undefined) byLength.set(folded.length, [{ name, folded }])
    else sameLength.push({ name, folded })
  }
  return byLength
}

/**
 * The known name that `unknown` probably means: at most two edits away, one for short names. The
 * vocabulary limits the cost, regardless of the input.
 */
export function suggest(unknown: string, vocabulary: Vocabulary): string | undefined {
  if (unknown.length > limits.unknownNameEchoCharacters) return undefined
  const indexes = [...unknown.matchAll(/\[[0-9]{1,4}\]/g)].map(([index]) => index)
  const folded = fold(unknown.replace(/\[[0-9]{1,4}\]/g, '[n]'))
  let nearest: string | undefined
  let smallest = (folded.length < 6 ? 1 : maxDistance) + 1
  for (let length = folded.length - maxDistance; length <= folded.length + maxDistance; length++) {
    for (const known of vocabulary.get(length) ?? []) {
      const distance = distanceUpTo(smallest - 1, folded, known.folded)
      if (distance >= smallest) continue
      smallest = distance
      nearest = known.name
    }
  }
  let next = 0
  return nearest?.replace(/\[n\]/g, (unnumbered) => indexes[next++] ?? unnumbered)
}

/**
 * Edit distance (insert, delete, replace, swap of neighbours), or `limit + 1` beyond the limit.
 * Fills only the diagonal band within the limit.
 */
function distanceUpTo(limit: number, a: string, b: string): number {
  const far = limit + 1
  if (Math.abs(a.length - b.length) > limit) return far
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = new Array<number>(b.length + 1).fill(far)
    current[0] = row
    let smallest = row
    for (
      let column = Math.max(1, row - limit);
      column <= Math.min(b.length, row + limit);
      column++
    ) {
      const same = a[row - 1] === b[column - 1]
      let distance = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (same ? 0 : 1),
      )
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (row > 1 && column > 1 && swapped) {
        distance = Math.min(distance, (beforeLast[column - 2] as number) + 1)
      }
      current[column] = distance
      smallest = Math.min(smallest, distance)
    }
    if (smallest > limit) return far
    beforeLast = last
    last = current
  }
  return last[b.length] as number
}
