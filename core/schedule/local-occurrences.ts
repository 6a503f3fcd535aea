/**
 * The runs of a schedule in its zone's local time. Counts runs without visiting each, since a
 * schedule may have four billion.
 */
import { cut, type Plan, planOf } from '../cron/plan.ts'
import { nextWall, type WallSeconds } from '../cron/search.ts'
import type { ValueSet } from '../cron/units.ts'

const daySeconds = 86_400
const dayOf = (wall: WallSeconds): number => Math.floor(wall / daySeconds)

/** The level of two neighbouring runs: neighbours of level `minute` lie in the same hour. */
export type Level = 'second' | 'minute' | 'hour' | 'day'

export type Gap = { readonly seconds: number; readonly level: Level }

export class WallRuns {
  readonly #plan: Plan
  readonly #hours: readonly number[]
  readonly #minutes: readonly number[]
  readonly #seconds: readonly number[]
  readonly #timesOfDay: number

  /** @throws CronError */
  constructor(expression: string) {
    this.#plan = planOf(cut(expression))
    this.#hours = membersOf(this.#plan.hours, 23)
    this.#minutes = membersOf(this.#plan.minutes, 59)
    this.#seconds = membersOf(this.#plan.seconds, 59)
    this.#timesOfDay = this.#hours.length * this.#minutes.length * this.#seconds.length
  }

  /** The first run after this time, or -1. */
  next(after: WallSeconds): WallSeconds {
    return nextWall(this.#plan, after)
  }

  /** The number of runs after `after` and up to `until`. Visits each of their days once. */
  count(after: WallSeconds, until: WallSeconds): number {
    let count = 0
    for (let run = this.next(after); run >= 0 && run <= until; ) {
      const midnight = dayOf(run) * daySeconds
      const endOfDay = midnight + daySeconds - 1
      count += this.#timesOfDay
      if (after >= midnight) count -= this.#timesUpTo(after - midnight)
      if (until < endOfDay) count -= this.#timesAfter(until - midnight)
      run = this.next(endOfDay)
    }
    return count
  }

  #timesAfter(time: number): number {
    return this.#timesOfDay - this.#timesUpTo(time)
  }

  /** The number of a day's runs up to this time, in seconds since midnight. */
  #timesUpTo(time: number): number {
    const [hours, minutes, seconds] = [this.#hours, this.#minutes, this.#seconds]
    const hour = Math.floor(time / 3_600)
    const minute = Math.floor((time % 3_600) / 60)
    let count = below(hours, hour) * minutes.length * seconds.length
    if (!hours.includes(hour)) return count
    count += below(minutes, minute) * seconds.length
    return minutes.includes(minute) ? count + below(seconds, (time % 60) + 1) : count
  }

  /**
   * Two neighbouring runs from `from` to `until` that are closer than `seconds`, or null. Exact at
   * any distance in the future. Runs of a day are compared by the sets of hours, minutes and
   * seconds, and days with each other, 47,482 at most.
   */
  closerThan(seconds: number, from: WallSeconds, until: WallSeconds): Gap | null {
    const first = this.next(from - 1)
    if (first < 0 || first > until) return null
    const withinDay = this.#gapsOfDay().find((gap) => gap.seconds < seconds)
    if (withinDay !== undefined) {
      const found = this.#holdsWholeDay(first, until)
        ? withinDay
        : this.#closePair(seconds, first, until)
      if (found !== null) return found
    }
    const [earliest, latest] = this.#endsOfDay()
    const days = this.#leastDays(first, until)
    const overnight = days * daySeconds - (latest - earliest)
    return overnight < seconds ? { seconds: overnight, level: 'day' } : null
  }

  /** The shortest time between neighbours of one minute, of one hour and of one day. */
  #gapsOfDay(): Gap[] {
    const spanOfMinute = spanOf(this.#seconds)
    const spanOfHour = spanOf(this.#minutes) * 60 + spanOfMinute
    return [
      { level: 'second', seconds: leastStep(this.#seconds) },
      { level: 'minute', seconds: leastStep(this.#minutes) * 60 - spanOfMinute },
      { level: 'hour', seconds: leastStep(this.#hours) * 3_600 - spanOfHour },
    ]
  }

  /** First and last run of a day. */
  #endsOfDay(): [earliest: number, latest: number] {
    const at = (index: 0 | -1) =>
      this.#hours.at(index)! * 3_600 + this.#minutes.at(index)! * 60 + this.#seconds.at(index)!
    return [at(0), at(-1)]
  }

  /**
   * Whether all runs of a day lie between `first`, a run, and `until`: of the first day or the
   * second.
   */
  #holdsWholeDay(first: WallSeconds, until: WallSeconds): boolean {
    const [earliest, latest] = this.#endsOfDay()
    const isWhole = (run: WallSeconds) =>
      run >= 0 && run % daySeconds === earliest && dayOf(run) * daySeconds + latest <= until
    return isWhole(first) || isWhole(this.next((dayOf(first) + 1) * daySeconds - 1))
  }

  /** Visits the runs of the first and the second day, when the range holds neither as a whole. */
  #closePair(seconds: number, first: WallSeconds, until: WallSeconds): Gap | null {
    let run = first
    for (;;) {
      const next = this.next(run)
      if (next < 0 || next > until) return null
      if (next - run < seconds) return { seconds: next - run, level: levelOf(run, next) }
      run = next
    }
  }

  /** The smallest number of days between two days with runs; infinite without a next day. */
  #leastDays(first: WallSeconds, until: WallSeconds): number {
    let least = Number.POSITIVE_INFINITY
    for (let day = dayOf(first); least > 1; ) {
      const run = this.next((day + 1) * daySeconds - 1)
      if (run < 0 || run > until) break
      least = Math.min(least, dayOf(run) - day)
      day = dayOf(run)
    }
    return least
  }
}

function levelOf(one: WallSeconds, other: WallSeconds): Level {
  const isSame = (seconds: number) => Math.floor(one / seconds) === Math.floor(other / seconds)
  if (isSame(60)) return 'second'
  if (isSame(3_600)) return 'minute'
  return isSame(daySeconds) ? 'hour' : 'day'
}

function membersOf(set: ValueSet, last: number): number[] {
  const members: number[] = []
  for (let value = 0; value <= last; value++) if (set.has(value)) members.push(value)
  return members
}

const below = (members: readonly number[], limit: number): number =>
  members.filter((member) => member < limit).length

const spanOf = (members: readonly number[]): number => members.at(-1)! - members[0]!

function leastStep(members: readonly number[]): number {
  const steps = members.slice(1).map((member, index) => member - members[index]!)
  return Math.min(...steps)
}
