/**
 * A slow reference for schedules: no sets, no tables, no look-ahead. It walks over days or seconds
 * and checks each against the schedule. Valid expressions only.
 */

type Wanted = (value: number) => boolean
type Day = { readonly year: number; readonly month: number; readonly day: number }

export type Reference = {
  readonly wantsDay: (day: Day) => boolean
  readonly wantsHour: Wanted
  readonly wantsMinute: Wanted
  readonly wantsSecond: Wanted
}

type Dial = { readonly min: number; readonly max: number; readonly names?: string }

const dials = {
  second: { min: 0, max: 59 },
  minute: { min: 0, max: 59 },
  hour: { min: 0, max: 23 },
  dayOfMonth: { min: 1, max: 31 },
  month: { min: 1, max: 12, names: 'JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC' },
  dayOfWeek: { min: 1, max: 7, names: 'SUNMONTUEWEDTHUFRISAT' },
  year: { min: 1970, max: 2099 },
} as const

const numberOf = (text: string, { min, names = '' }: Dial): number =>
  /^\d+$/.test(text) ? Number(text) : min + names.indexOf(text) / 3

/** The values of one item, found by stepping one value at a time round a cycle. */
function valuesOf(item: string, dial: Dial): number[] {
  const [range = '', step] = item.split('/')
  const [from, to] = range === '*' || range === '' ? [String(dial.min)] : range.split('-')
  const start = numberOf(from as string, dial)
  const isMonth = dial === dials.month
  const isEveryValue = range === '*' || range === ''
  const every = Number(step ?? 1)
  const isOpen = to === undefined && (step !== undefined || isEveryValue)
  const values: number[] = []
  for (let hand = start, moves = 0; ; moves++) {
    if (moves % every === 0) values.push(hand)
    if (!isOpen && hand === (to === undefined ? start : numberOf(to, dial))) break
    if (isOpen && !isMonth && hand === dial.max) break
    hand = hand === dial.max ? dial.min : hand + 1
    if (hand === start) break
  }
  const leavesOutThe31st = dial === dials.dayOfMonth && isOpen && every > 1 && start !== 31
  return leavesOutThe31st ? values.filter((value) => value !== 31) : values
}

function wantedBy(text: string, dial: Dial): Wanted {
  const values = text.split(',').flatMap((item) => valuesOf(item, dial))
  return (value) => values.includes(value)
}

const dateOf = ({ year, month, day }: Day): Date => new Date(Date.UTC(year, month - 1, day))
/** From 1, Sunday. */
const dayOfWeekOf = (day: Day): number => dateOf(day).getUTCDay() + 1
const daysOf = ({ year, month }: Day): Day[] =>
  Array.from({ length: 31 }, (_, index) => ({ year, month, day: index + 1 })).filter(
    (day) => dateOf(day).getUTCMonth() === month - 1,
  )
const isWeekday = (day: Day): boolean => dayOfWeekOf(day) >= 2 && dayOfWeekOf(day) <= 6

function wantsDayOfMonth(text: string): (day: Day) => boolean {
  const last = /^L(?:-(\d+))?$/.exec(text)
  if (last !== null) {
    return (day) => day.day === daysOf(day).length - Number(last[1] ?? 0)
  }
  if (text === 'LW') return (day) => day.day === daysOf(day).findLast(isWeekday)?.day
  const nearest = /^(L-)?(\d+)W$/.exec(text)
  if (nearest !== null) {
    return (day) => {
      const days = daysOf(day)
      const number = Number(nearest[2])
      const wanted = nearest[1] === undefined ? number : days.length - number
      if (wanted < 1 || wanted > days.length) return false
      const distance = (one: Day) => Math.abs(one.day - wanted)
      const [best] = days.filter(isWeekday).sort((a, b) => distance(a) - distance(b))
      return day.day === best?.day
    }
  }
  const wanted = wantedBy(text, dials.dayOfMonth)
  return (day) => wanted(day.day)
}

function wantsDayOfWeek(text: string): (day: Day) => boolean {
  if (text === 'L') return (day) => dayOfWeekOf(day) === 7
  const special = /^(\w+?)(?:(L)|#(\d))$/.exec(text)
  if (special !== null) {
    const wanted = numberOf(special[1] as string, dials.dayOfWeek)
    const isRight: (day: Day) => boolean =
      special[2] === 'L'
        ? (day) => day.day + 7 > daysOf(day).length
        : (day) => Math.ceil(day.day / 7) === Number(special[3])
    return (day) => dayOfWeekOf(day) === wanted && isRight(day)
  }
  const wanted = wantedBy(text, dials.dayOfWeek)
  return (day) => wanted(dayOfWeekOf(day))
}

export function referenceOf(expression: string): Reference {
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = '', year] =
    expression.toUpperCase().trim().split(/\s+/)
  const wantsMonth = wantedBy(month, dials.month)
  const wantsYear = wantedBy(year ?? '*', dials.year)
  const wantsDate = dayOfMonth === '?' ? wantsDayOfWeek(dayOfWeek) : wantsDayOfMonth(dayOfMonth)
  return {
    wantsDay: (day) => wantsYear(day.year) && wantsMonth(day.month) && wantsDate(day),
    wantsHour: wantedBy(hour, dials.hour),
    wantsMinute: wantedBy(minute, dials.minute),
    wantsSecond: wantedBy(second, dials.second),
  }
}

function wantsWall(reference: Reference, wall: number): boolean {
  const date = new Date(wall * 1000)
  return (
    reference.wantsSecond(date.getUTCSeconds()) &&
    reference.wantsMinute(date.getUTCMinutes()) &&
    reference.wantsHour(date.getUTCHours()) &&
    reference.wantsDay(dayOf(wall))
  )
}

function dayOf(wall: number): Day {
  const date = new Date(wall * 1000)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

/** The time of a clock at an instant; both in seconds since 1970. */
export type WallClock = (at: number) => number

/** Every clock change since 1970 happened on a full half minute of UTC. */
const slotSeconds = 30

/** A zone's clock, read from the date and time of Intl. */
export function wallClock(zone: string): WallClock {
  if (zone === 'UTC') return (at) => at
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const offsets = new Map<number, number>()
  let lastSlot = Number.NaN
  let lastOffset = 0
  return (at) => {
    const slot = Math.floor(at / slotSeconds)
    if (slot === lastSlot) return at + lastOffset
    let offset = offsets.get(slot)
    if (offset === undefined) {
      const shown = format.format(slot * slotSeconds * 1000)
      const [month, day, year, hour, minute, second] = (shown.match(/\d+/g) ?? []).map(Number)
      const wall = Date.UTC(year!, month! - 1, day, hour, minute, second) / 1000
      offset = wall - slot * slotSeconds
      offsets.set(slot, offset)
    }
    lastSlot = slot
    lastOffset = offset
    return at + offset
  }
}

const daySeconds = 86_400

/** The first instant at which a clock shows a time, or a later one if it skips that time. */
export function firstShowing(clock: WallClock, wall: number): number {
  const showing: number[] = []
  // No zone changes its clock twice within six hours, so these find every offset.
  for (let hour = -48; hour <= 48; hour += 6) {
    const at = wall + hour * 3_600
    const candidate = wall - (clock(at) - at)
    if (clock(candidate) === wall) showing.push(candidate)
  }
  if (showing.length > 0) return Math.min(...showing)
  const start = Math.floor(wall / slotSeconds) * slotSeconds
  for (let at = start - 2 * daySeconds; ; at += slotSeconds) if (clock(at) >= wall) return at
}

/**
 * The first run after an instant, walking over the days of the wall calendar to the end of 2099.
 */
export function nextByDays(reference: Reference, clock: WallClock, after: number): number | null {
  const { wantsDay, wantsHour, wantsMinute, wantsSecond } = reference
  // Times that the clock shows now or showed before are past.
  const from = Math.max(clock(after) + 1, 0)
  const end = Date.UTC(2100, 0, 1) / 1000
  for (let midnight = from - (from % daySeconds); midnight < end; midnight += daySeconds) {
    if (!wantsDay(dayOf(midnight))) continue
    for (let hour = 0; hour < 24; hour++) {
      if (!wantsHour(hour)) continue
      for (let minute = 0; minute < 60; minute++) {
        if (!wantsMinute(minute)) continue
        for (let second = 0; second < 60; second++) {
          const wall = midnight + hour * 3_600 + minute * 60 + second
          if (!wantsSecond(second) || wall < from) continue
          const instant = firstShowing(clock, wall)
          if (instant > after) return instant
        }
      }
    }
  }
  return null
}

/**
 * All runs after one instant and up to another, walking over seconds. When a clock first shows a
 * later time than all before, the times up to it have come: one second, or a gap of many.
 */
export function runsBySeconds(
  reference: Reference,
  clock: WallClock,
  after: number,
  until: number,
): number[] {
  const runs: number[] = []
  let latest = Number.NEGATIVE_INFINITY
  // No clock was ever set back by more than a day.
  for (let at = after - daySeconds; at <= after; at++) latest = Math.max(latest, clock(at))
  for (let at = after + 1; at <= until; at++) {
    const shown = clock(at)
    let isDue = false
    for (let wall = latest + 1; wall <= shown && !isDue; wall++) isDue = wantsWall(reference, wall)
    if (isDue) runs.push(at)
    latest = Math.max(latest, shown)
  }
  return runs
}
