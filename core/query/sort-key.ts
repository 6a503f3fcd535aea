/** The position of a transaction in the order of results. */
export type Place = {
  /** Creation in business time, milliseconds since 1970. */
  readonly atMs: number
  readonly id: string
}

/** Newest first; the id breaks ties. */
export function newestFirst(one: Place, other: Place): number {
  if (one.atMs !== other.atMs) return other.atMs - one.atMs
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0
}
