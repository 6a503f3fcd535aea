import { monthKind } from './days.ts'
import type { Plan } from './plan.ts'
import { firstYear, lastYear } from './units.ts'

/** Local time: the seconds from 1970-01-01 00:00:00 to the time on a clock in the zone. */
export type WallSeconds = number

const daySeconds = 86_400
const hourSeconds = 3_600

/** The last local time of any schedule: 2099-12-31 23:59:59. */
export const lastWall: WallSeconds = Date.UTC(lastYear + 1, 0, 1) / 1000 - 1

/**
 * The first local time of a schedule after another, or -1. Visits each month of the remaining years
 * at most once: 1,560 in all.
 */
export function nextWall(plan: Plan, after: WallSeconds): WallSeconds {
  if (after >= lastWall) return -1
  const from = Math.max(after + 1, 0)
  const today = Math.floor(from / daySeconds)
  const day = nextDay(plan, today)
  if (day < 0) return -1
  if (day > today) return day * daySeconds + nextTime(plan, 0)
  const time = nextTime(plan, from - today * daySeconds)
  if (time >= 0) return day * daySeconds + time
  const later = nextDay(plan, today + 1)
  return later < 0 ? -1 : later * daySeconds + nextTime(plan, 0)
}

/** The first time of day, in seconds, at or after `from`; -1 without one. */
function nextTime({ hours, minutes, seconds }: Plan, from: number): number {
  const firstHour = Math.floor(from / hourSeconds)
  const firstMinute = Math.floor((from % hourSeconds) / 60)
  let hour = hours.next(firstHour)
  if (hour === firstHour) {
    let minute = minutes.next(firstMinute)
    if (minute === firstMinute) {
      const second = seconds.next(from % 60)
      if (second >= 0) return hour * hourSeconds + minute * 60 + second
      minute = minutes.next(firstMinute + 1)
    }
    if (minute >= 0) return hour * hourSeconds + minute * 60 + seconds.next(0)
    hour = hours.next(firstHour + 1)
  }
  return hour < 0 ? -1 : hour * hourSeconds + minutes.next(0) * 60 + seconds.next(0)
}

/** The first day, counted from 1970-01-01, at or after `from`; -1 without one. */
function nextDay({ dayMasks, months, years }: Plan, from: number): number {
  const date = new Date(from * daySeconds * 1000)
  const thisYear = date.getUTCFullYear()
  // The day after the last one.
  if (thisYear > lastYear) return -1
  const thisMonth = date.getUTCMonth() + 1
  for (let year = years.next(thisYear); year >= 0; year = years.next(year + 1)) {
    let month = months.next(year === thisYear ? thisMonth : 1)
    for (; month >= 0; month = months.next(month + 1)) {
      const first = firstDayOf(year, month)
      let mask = dayMasks[monthKind(lengthOf(year, month), (first + thursday) % 7)]!
      if (year === thisYear && month === thisMonth) mask &= -1 << (date.getUTCDate() - 1)
      if (mask !== 0) return first + lowestBit(mask)
    }
  }
  return -1
}

/** Weekday, from 0 (Sunday), of 1970-01-01. */
const thursday = 4

const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const
const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

/** Every fourth year from 1970 to 2099 is a leap year; 2000 is one, too. */
const isLeap = (year: number): boolean => year % 4 === 0

const lengthOf = (year: number, month: number): number =>
  lengths[month - 1]! + (month === 2 && isLeap(year) ? 1 : 0)

/** Counted from 1970-01-01. The first leap year after it is 1972. */
function firstDayOf(year: number, month: number): number {
  const leapDays = Math.floor((year - firstYear + 1) / 4) + (month > 2 && isLeap(year) ? 1 : 0)
  return (year - firstYear) * 365 + leapDays + daysBefore[month - 1]!
}

const lowestBit = (mask: number): number => 31 - Math.clz32(mask & -mask)
