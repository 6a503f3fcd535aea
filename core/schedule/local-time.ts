/** Local time of a zone, and arithmetic by its calendar. */
import { lastWall, type WallSeconds } from '../cron/search.ts'
import { type Zone, zoneNamed } from '../cron/zone.ts'
import type { Length, PeriodUnit } from './plan.ts'

/** Parses `yyyy-MM-dd HH:mm:ss`; null for other forms and for days that do not exist. */
export function readWall(text: string): WallSeconds | null {
  const iso = `${text.slice(0, 10)}T${text.slice(11)}.000Z`
  const ms = text.length === 19 && text[10] === ' ' ? Date.parse(iso) : Number.NaN
  // The parser accepts 30 February as 1 March, and 24:00 as the next day.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== iso) return null
  return ms / 1000
}

/**
 * The instant of this local time: the first one when the time repeats, and the first instant after
 * the gap when a clock change skips the time.
 *
 * @throws RangeError for an unknown zone.
 */
export function instantOfWall(wall: WallSeconds, zone: string): Date {
  return new Date((zone === 'UTC' ? wall : zoneNamed(zone).instantOf(wall)) * 1000)
}

/** The latest local time that the zone has reached up to this instant. */
export function latestWall(instant: Date, zone: string): WallSeconds {
  const at = Math.floor(instant.getTime() / 1000)
  return zone === 'UTC' ? at : zoneNamed(zone).latestWall(at)
}

/** The zone's local time at this instant, in seconds since 1970. */
function shownWall(at: number, zoneName: string): WallSeconds {
  if (zoneName === 'UTC') return at
  const zone = zoneNamed(zoneName)
  const latest = zone.latestWall(at)
  if (zone.instantOf(latest) === at) return latest
  // After a clock was put back, the present offset applies once the clock has caught up.
  return zone.latestWall(at + catchUpSeconds) - catchUpSeconds
}

/** Longer than any clock is put back, shorter than the time between two clock changes. */
const catchUpSeconds = 3 * 86_400

const secondsOf: Readonly<Partial<Record<PeriodUnit, number>>> = {
  HOUR: 3_600,
  MINUTE: 60,
  SECOND: 1,
}
const daysOf: Readonly<Partial<Record<PeriodUnit, number>>> = { WEEK: 7, DAY: 1 }
const monthsOf: Readonly<Partial<Record<PeriodUnit, number>>> = { YEAR: 12, MONTH: 1 }

const daySeconds = 86_400

/** In seconds, the shortest length of the unit. */
function leastSeconds(unit: PeriodUnit): number {
  return secondsOf[unit] ?? (daysOf[unit] ?? 28 * monthsOf[unit]!) * daySeconds
}

/** Longer than the sum of all clock changes between two instants. */
const slackSeconds = 4 * daySeconds

/** The last moment of schedules: 2099-12-31 23:59:59 in the zone. */
export const lastMoment = (zone: string): Date => instantOfWall(lastWall, zone)

/**
 * `times` lengths after an instant, at most `lastMoment`. Years, months, weeks and days follow the
 * zone's calendar at the same time of day; a month without that day uses its last day. Hours,
 * minutes and seconds pass evenly, regardless of clock changes.
 */
export function later(from: Date, { number, unit }: Length, times: number, zone: string): Date {
  const count = number * times
  if (count === 0) return from
  const cap = lastMoment(zone)
  const latest = (to: number) => new Date(Math.max(from.getTime(), Math.min(to, cap.getTime())))
  // The calendar ends there.
  const spanSeconds = (cap.getTime() - from.getTime()) / 1000 + slackSeconds
  if (count * leastSeconds(unit) > spanSeconds) return latest(cap.getTime())
  const seconds = secondsOf[unit]
  if (seconds !== undefined) return latest(from.getTime() + count * seconds * 1000)
  const at = Math.floor(from.getTime() / 1000)
  const wall = shownWall(at, zone)
  const days = daysOf[unit]
  const target =
    days === undefined
      ? plusMonths(wall, count * monthsOf[unit]!)
      : wall + count * days * daySeconds
  const belowSecondMs = from.getTime() - at * 1000
  return latest(instantOfWall(target, zone).getTime() + belowSecondMs)
}

function plusMonths(wall: WallSeconds, months: number): WallSeconds {
  const date = new Date(wall * 1000)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  const month = date.getUTCMonth()
  date.setUTCDate(day)
  // Day 0 of the following month is the last day of the intended one.
  if (date.getUTCMonth() !== month) date.setUTCDate(0)
  return date.getTime() / 1000
}

/** Skipped local time: the clock jumps from `from` to `to`. */
export type Skipped = { readonly from: WallSeconds; readonly to: WallSeconds }

/** Shorter than the time between two clock changes of any zone. */
const strideSeconds = 4 * daySeconds

/**
 * The skipped times after `after` and up to `until`, both existing local times. About a hundred
 * look-ups per year.
 */
export function skippedTimes(after: WallSeconds, until: WallSeconds, zoneName: string): Skipped[] {
  const skipped: Skipped[] = []
  if (zoneName === 'UTC') return skipped
  const zone = zoneNamed(zoneName)
  for (let low = after; low < until; ) {
    const instant = zone.instantOf(Math.min(low + strideSeconds, until))
    // A stride that ends in skipped time continues to the next existing time.
    const high = zone.latestWall(instant)
    const missing = high - low - (instant - zone.instantOf(low))
    if (missing > 0) skipped.push(skippedIn(zone, low, high, missing))
    low = high
  }
  return skipped
}

/**
 * Finds the only gap between two local times by bisection: before it, local time and time pass
 * alike.
 */
function skippedIn(zone: Zone, after: WallSeconds, until: WallSeconds, missing: number): Skipped {
  const start = zone.instantOf(after)
  let low = after
  let high = until
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (zone.instantOf(middle) - start === middle - after) low = middle
    else high = middle
  }
  return { from: low, to: low + missing }
}
