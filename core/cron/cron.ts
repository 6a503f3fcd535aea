import { type CronField, cronFields } from './error.ts'
import { type Plan, planOf, type Slices } from './plan.ts'
import { lastWall, nextWall } from './search.ts'
import { zoneNamed } from './zone.ts'

/** A parsed schedule. */
export class Cron {
  /** The text of each field, in capitals, with defaults. */
  readonly fields: Readonly<Record<CronField, string>>
  readonly #plan: Plan

  /** @throws CronError */
  constructor(slices: Slices) {
    this.#plan = planOf(slices)
    this.fields = Object.fromEntries(
      cronFields.map((field) => {
        const { text, start, end } = slices[field]
        return [field, text.slice(start, end).toUpperCase()]
      }),
    ) as Record<CronField, string>
  }

  /**
   * The first instant of the schedule strictly after `after`, on a full second, or null without one
   * up to the end of 2099. `zone` is an IANA name.
   *
   * @throws RangeError for an unknown zone or an invalid date.
   */
  next(after: Date, zone = 'UTC'): Date | null {
    const instant = Math.floor(after.getTime() / 1000)
    if (Number.isNaN(instant)) throw new RangeError('the date to search from is invalid')
    const place = zone === 'UTC' ? null : zoneNamed(zone)
    // Beyond the years of schedules no clock is needed.
    if (instant > lastWall + marginSeconds) return null
    const from = Math.max(instant, -marginSeconds)
    const wall = nextWall(this.#plan, place === null ? from : place.latestWall(from))
    if (wall < 0) return null
    return new Date((place === null ? wall : place.instantOf(wall)) * 1000)
  }

  /** The schedule as an expression of seven fields. */
  toString(): string {
    return cronFields.map((field) => this.fields[field]).join(' ')
  }
}

/** Longer than any offset to UTC. */
const marginSeconds = 2 * 86_400
