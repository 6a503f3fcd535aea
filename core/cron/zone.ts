import type { WallSeconds } from './search.ts'

/** Seconds since 1970-01-01T00:00:00Z. */
export type UnixSeconds = number

/** A clock change: the instant, and the new offset to UTC in seconds. */
export type Change = {
  readonly at: UnixSeconds
  readonly before: number
  readonly after: number
}

/** A period of a zone's time with known clock changes. */
type Stretch = { readonly offset: number; readonly changes: readonly Change[] }

const daySeconds = 86_400

/** The shortest time between two clock changes of any zone since 1970 is 6.95 days. */
const stepSeconds = 4 * daySeconds
const stretchSeconds = 92 * stepSeconds

/** More than any two offsets differ. The largest jump, where a zone skipped a day, is one day. */
const reachSeconds = 2 * daySeconds

/** The number of cached zones; the least recently used one goes first. */
const zonesKept = 64
const longestName = 64

/**
 * The clock changes of a time zone, found year by year on demand and cached: 92 look-ups for a
 * year, and 17 more for each change.
 */
export class Zone {
  readonly #offsetAt: (at: UnixSeconds) => number
  readonly #stretches = new Map<number, Stretch>()

  constructor(offsetAt: (at: UnixSeconds) => number) {
    this.#offsetAt = offsetAt
  }

  /** The latest local time reached so far; a clock that was put back showed a later one. */
  latestWall(at: UnixSeconds): WallSeconds {
    let wall = at + this.#offset(at)
    for (const change of this.#changes(at - reachSeconds, at)) {
      wall = Math.max(wall, change.at - 1 + change.before)
    }
    return wall
  }

  /**
   * The first instant with this local time or a later one: the first occurrence of a repeated time,
   * and the instant after the gap for a skipped time.
   */
  instantOf(wall: WallSeconds): UnixSeconds {
    let since = wall - reachSeconds
    let offset = this.#offset(since)
    for (const change of this.#changes(since, wall + reachSeconds)) {
      const instant = Math.max(wall - offset, since)
      if (instant < change.at) return instant
      since = change.at
      offset = change.after
    }
    return Math.max(wall - offset, since)
  }

  /** The offset to UTC in seconds. */
  #offset(at: UnixSeconds): number {
    const { offset, changes } = this.#stretch(Math.floor(at / stretchSeconds))
    let current = offset
    for (const change of changes) if (change.at <= at) current = change.after
    return current
  }

  /** The changes after `from` and up to `to`, in order. */
  #changes(from: UnixSeconds, to: UnixSeconds): readonly Change[] {
    const first = Math.floor(from / stretchSeconds)
    const last = Math.floor(to / stretchSeconds)
    const { changes } = this.#stretch(first)
    if (first === last && changes.length === 0) return changes
    const all = first === last ? changes : [...changes, ...this.#stretch(last).changes]
    return all.filter(({ at }) => at > from && at <= to)
  }

  #stretch(index: number): Stretch {
    const known = this.#stretches.get(index)
    if (known !== undefined) return known
    const start = index * stretchSeconds
    const found = this.#lookUp(start)
    this.#stretches.set(index, found)
    return found
  }

  #lookUp(start: UnixSeconds): Stretch {
    const offset = this.#offsetAt(start)
    const changes: Change[] = []
    let before = offset
    for (let step = 1; step <= stretchSeconds / stepSeconds; step++) {
      const until = start + step * stepSeconds
      const after = this.#offsetAt(until)
      if (after !== before) changes.push({ at: this.#changeBefore(until, before), before, after })
      before = after
    }
    return { offset, changes }
  }

  /** The instant of the change in the step that ends with `until`, by bisection. */
  #changeBefore(until: UnixSeconds, before: number): UnixSeconds {
    let low = until - stepSeconds
    let high = until
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#offsetAt(middle) === before) low = middle
      else high = middle
    }
    return high
  }
}

const zones = new Map<string, Zone>()

/**
 * The zone of this IANA name, in any case.
 *
 * @throws RangeError for an unknown name.
 */
export function zoneNamed(name: string): Zone {
  const zone = zones.get(name) ?? new Zone(offsetsOf(name))
  // Re-inserted at the end: a map keeps the order of insertion.
  zones.delete(name)
  zones.set(name, zone)
  if (zones.size > zonesKept) zones.delete(zones.keys().next().value!)
  return zone
}

/** Offsets to UTC, from the time zone database of the JavaScript engine. */
export function offsetsOf(name: string): (at: UnixSeconds) => number {
  const format = formatOf(name)
  return (at) => readOffset(format.format(at * 1000))
}

function formatOf(name: string): Intl.DateTimeFormat {
  // Intl also accepts offsets such as +02:00, which have no clock changes and are no zones.
  const isName = name.length <= longestName && !name.startsWith('+') && !name.startsWith('-')
  try {
    if (isName) {
      const choices = { timeZone: name, hour: '2-digit', timeZoneName: 'longOffset' } as const
      return new Intl.DateTimeFormat('en-US', choices)
    }
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown
  }
  throw new RangeError(
    'the time zone is unknown: write an IANA name such as UTC, Europe/Berlin or America/New_York',
  )
}

/** Reads `07 PM GMT-05:00`, with seconds where an offset has them; GMT alone is zero. */
function readOffset(text: string): number {
  const start = text.indexOf('GMT') + 3
  const part = (from: number) => Number(text.slice(start + from, start + from + 2))
  const seconds = part(1) * 3_600 + part(4) * 60 + part(7)
  return text[start] === '-' ? -seconds : seconds
}
