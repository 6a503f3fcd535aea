import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCron } from '@tollgate/core/cron'
import fc from 'fast-check'
import {
  firstShowing,
  nextByDays,
  referenceOf,
  runsBySeconds,
  type WallClock,
  wallClock,
} from '../../rig/cron/reference.ts'
import { inScope, sampled } from '../../rig/scope.ts'
import { dailyExpression, expression, instant } from './arbitraries.ts'

/** Zones with unusual clock changes since 1970. */
const zones = [
  'Europe/Berlin',
  'Europe/London', // An hour ahead the whole year until 1971.
  'America/New_York',
  'America/St_Johns', // Changes at 00:01; two hours in 1988.
  'America/Sao_Paulo', // Midnight does not exist when summer time begins.
  'America/Noronha', // Seven days of summer time.
  'Africa/Monrovia', // Offset with seconds until 1972.
  'Africa/Casablanca', // Four changes a year.
  'Asia/Kathmandu',
  'Asia/Gaza',
  'Asia/Beirut',
  'Antarctica/Troll', // Two hours.
  'Australia/Lord_Howe', // Half an hour.
  'Pacific/Apia', // Skipped 30 December 2011.
  'Pacific/Kwajalein', // Skipped 21 August 1993.
]

const clocks = new Map<string, WallClock>()

function clockOf(zone: string): WallClock {
  const clock = clocks.get(zone) ?? wallClock(zone)
  clocks.set(zone, clock)
  return clock
}

const lastDay = Date.UTC(2099, 11, 31) / 1000

/** The days on which a zone's offset changed, as midnight in UTC. */
function changeDaysOf(zone: string): number[] {
  const clock = clockOf(zone)
  const offsetAt = (at: number) => clock(at) - at
  const found: number[] = []
  let offset = offsetAt(0)
  // Later years repeat today's rules.
  for (let at = 0; at < Date.UTC(2045, 0, 1) / 1000; at += 86_400) {
    const next = offsetAt(at + 86_400)
    if (next !== offset) found.push(at)
    offset = next
  }
  return found
}

const changes = zones.flatMap((zone) => changeDaysOf(zone).map((day) => ({ zone, day })))

const secondsOf = (date: Date | null) => (date === null ? null : date.getTime() / 1000)
const dateAt = (at: number) => new Date(at * 1000)
const reporting = { seed: 20_271_031, endOnFailure: false }

describe('the next run agrees with a slow walk', () => {
  test('the next run in UTC is right for any schedule and instant', () => {
    fc.assert(
      fc.property(
        expression,
        fc.array(instant, { minLength: 3, maxLength: 3 }),
        (text, instants) => {
          const cron = parseCron(text)
          const reference = referenceOf(text)
          for (const after of instants) {
            const found = secondsOf(cron.next(dateAt(after)))
            assert.equal(found, nextByDays(reference, clockOf('UTC'), after), `after ${after}`)
          }
        },
      ),
      { ...reporting, numRuns: inScope(100, 1_500) },
    )
  })

  test('the next run in a zone is right, also around a clock change', () => {
    const near = fc
      .record({
        change: fc.constantFrom(...changes),
        away: fc.array(fc.integer({ min: -86_400, max: 2 * 86_400 }), {
          minLength: 3,
          maxLength: 3,
        }),
      })
      .map(({ change: { zone, day }, away }) => ({
        zone,
        instants: away.map((seconds) => day + seconds),
      }))
    const far = fc.record({
      zone: fc.constantFrom(...zones),
      instants: fc.array(instant, { minLength: 2, maxLength: 2 }),
    })
    fc.assert(
      fc.property(
        fc.oneof(expression, dailyExpression),
        fc.oneof({ weight: 3, arbitrary: near }, { weight: 1, arbitrary: far }),
        (text, { zone, instants }) => {
          const cron = parseCron(text)
          const reference = referenceOf(text)
          for (const after of instants) {
            const found = secondsOf(cron.next(dateAt(after), zone))
            const expected = nextByDays(reference, clockOf(zone), after)
            assert.equal(found, expected, `${zone} after ${after}`)
          }
        },
      ),
      { ...reporting, numRuns: inScope(150, 1_500) },
    )
  })

  test('every run around a clock change is right, second by second', () => {
    assert.ok(changes.length > 1_000)
    fc.assert(
      fc.property(dailyExpression, fc.constantFrom(...changes), (text, { zone, day }) => {
        const cron = parseCron(text)
        const until = day + 1.25 * 86_400
        const expected = runsBySeconds(referenceOf(text), clockOf(zone), day, until)
        const found: number[] = []
        for (let at = cron.next(dateAt(day), zone); at !== null; at = cron.next(at, zone)) {
          if (at.getTime() / 1000 > until) break
          found.push(at.getTime() / 1000)
        }
        assert.deepEqual(found, expected, zone)
      }),
      { ...reporting, numRuns: inScope(4, 40) },
    )
  })

  test('the next run is right in every zone', () => {
    const everySecond = parseCron('* * * * * ?')
    const all = Intl.supportedValuesOf('timeZone')
    assert.ok(all.length > 400)
    for (const [index, zone] of sampled(all, 60).entries()) {
      const clock = wallClock(zone)
      for (let round = 0; round < 2; round++) {
        // Spread over all years, with another second of another day for each zone.
        const after = ((index * 2 + round) * 4_780_106) % lastDay
        const next = secondsOf(everySecond.next(dateAt(after), zone))
        assert.equal(next, nextByDays(referenceOf('* * * * * ?'), clock, after), `${zone} ${after}`)
      }
    }
  })
})

test('the two reference walks agree', () => {
  const clock = clockOf('Australia/Lord_Howe')
  const reference = referenceOf('0 */7 1-3 * * ?')
  const days = changes.filter(({ zone }) => zone === 'Australia/Lord_Howe').map(({ day }) => day)
  for (const day of days.filter((_, index) => index % 20 === 0)) {
    const runs = runsBySeconds(reference, clock, day, day + 86_400)
    assert.ok(runs.length > 10)
    for (let at = day, index = 0; index < runs.length; index++) {
      assert.equal(nextByDays(reference, clock, at), runs[index])
      at = runs[index] as number
    }
  }
  // Half past two did not exist in Berlin on 28 March 2027, and two o'clock occurred twice on 31
  // October.
  const berlin = clockOf('Europe/Berlin')
  const wall = (text: string) => Date.parse(`${text}Z`) / 1000
  assert.equal(firstShowing(berlin, wall('2027-03-28T02:30')), wall('2027-03-28T01:00'))
  assert.equal(firstShowing(berlin, wall('2027-10-31T02:00')), wall('2027-10-31T00:00'))
})
