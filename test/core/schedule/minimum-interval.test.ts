import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCron } from '@tollgate/core/cron'
import fc from 'fast-check'
import { WallRuns } from '../../../core/schedule/local-occurrences.ts'
import { dailyExpression, expression } from '../cron/arbitraries.ts'
import { read, refuses } from './jobs.ts'

const hour = 3_600_000
const day = 24 * hour

describe('minimum interval of a channel', () => {
  const refusesAt = (minimumIntervalMs: number, expression: string, seconds: number) =>
    refuses(
      { expression },
      '100.250.120',
      ['expression'],
      new RegExp(`runs ${seconds} s after each other; ${minimumIntervalMs / 1_000} s is the least`),
      { minimumIntervalMs },
    )
  const accepts = (minimumIntervalMs: number, expression: string, zone = 'UTC') =>
    assert.ok(read({ expression }, { minimumIntervalMs, zone }))

  test('runs too close within a minute, an hour or a day, or across midnight, are refused', () => {
    refusesAt(hour, '* * * * * ?', 1)
    refusesAt(hour, '0,59 0 0 1 1 ?', 59)
    refusesAt(hour, '0 0/30 9 1 1 ?', 1_800)
    refusesAt(hour, '0 0,59 * * * ?', 3_540)
    refusesAt(2 * hour, '0 0 9,10 1 1 ?', 3_600)
    refusesAt(2 * hour, '0 0 0,23 * * ?', 3_600)
    refusesAt(day, '0 0 0,12 * * ?', 43_200)
    refusesAt(7 * day, '0 0 0 1,15,17 * ?', 2 * 86_400)
    refusesAt(30 * day, '0 0 0 1 * ?', 28 * 86_400)
    accepts(hour, '0 0 * * * ?')
    accepts(hour, '0 0 0,23 * * ?')
    accepts(day, '0 0 0 * * ?')
    accepts(28 * day, '0 0 0 1 * ?')
    accepts(366 * day - 1, '0 0 0 29 2 ?')
  })

  test('a close pair is refused however far in the future', () => {
    // Adjacent only at the end of 2099.
    refusesAt(2 * hour, '0 0 0,23 30,31 12 ? 2099', 3_600)
    // 28 February and 1 March are adjacent except in leap years.
    refusesAt(2 * hour, '0 0 0,23 1,28 2,3 ?', 3_600)
    accepts(2 * hour, '0 0 0,23 1,28 2,3 ? 2028,2032')
    refusesAt(2 * hour, '0 0 0,23 1,28 2,3 ? 2028,2032,2099', 3_600)
    // 31 December and 1 January are adjacent only across a year's end.
    accepts(31 * day, '0 0 0 31 12 ? 2027-2090')
    refusesAt(31 * day + 1_000, '0 0 0 1,31 1,12 ? 2027-2030', 86_400)
  })

  test('the refusal names the field that causes the close pair', () => {
    const rules = { minimumIntervalMs: 32 * day }
    const what = /is the least allowed/
    refuses({ second: '0,30' }, '100.250.120', ['second'], what, rules)
    refuses({ minute: '*/5' }, '100.250.120', ['minute'], what, rules)
    refuses({ hour: '*/6' }, '100.250.120', ['hour'], what, rules)
    refuses({ dayOfMonth: '1,2' }, '100.250.120', ['dayOfMonth'], what, rules)
    refuses({ dayOfWeek: 'MON' }, '100.250.120', ['dayOfWeek'], what, rules)
  })

  test('only future runs between the dates count', () => {
    const rules = { minimumIntervalMs: hour }
    const halves = { expression: '0 0,30 9 * * ?' }
    const on = (startTime: string, endDate: string) => ({
      ...halves,
      startDate: `2027-01-04 ${startTime}`,
      endDate,
    })
    assert.ok(read(on('09:15:00', '2027-01-05 09:00:00'), rules))
    assert.ok(read(on('09:30:00', '2027-01-05 09:29:59'), rules))
    const name = halves.expression
    const least = /runs 1800 s/
    for (const job of [
      on('09:00:00', '2027-01-04 09:30:00'),
      on('09:15:00', '2027-01-05 09:30:00'),
      on('09:15:00', '2027-01-06 09:00:00'),
    ]) {
      refuses(job, '100.250.120', ['expression'], least, rules)
      assert.equal(job.expression, name)
    }
    // Between the two runs of today.
    const nowBusiness = new Date('2027-01-04T09:00:00Z')
    const today = { ...halves, endDate: '2027-01-04 23:00:00' }
    assert.ok(read(today, { ...rules, nowBusiness }))
    refuses(today, '100.250.120', ['expression'], least, {
      ...rules,
      nowBusiness: new Date(nowBusiness.getTime() - 1_000),
    })
  })

  test('a clock change never makes a schedule too dense', () => {
    // 01:30 and 02:30, which is 03:00 on 28 March, are half an hour apart.
    accepts(hour, '0 30 * * * ?', 'Europe/Berlin')
    accepts(day, '0 0 12 * * ?', 'America/New_York')
  })

  test('any schedule is accepted without a minimum', () => {
    for (const minimumIntervalMs of [0, 1_000]) accepts(minimumIntervalMs, '* * * * * ?')
  })
})

/** Seconds since 1970; around 20 April 2027, or any time. */
const start = fc.oneof(
  fc.integer({ min: 1_808_179_200, max: 1_808_179_200 + 3 * 86_400 }),
  fc.integer({ min: 0, max: 4_000_000_000 }),
)

test('the check refuses exactly the schedules in which a slow walk finds a close pair', () => {
  const most = 3_000
  const outcomes = { close: 0, none: 0 }
  fc.assert(
    fc.property(
      fc.oneof(expression, dailyExpression),
      start,
      fc.oneof(fc.integer({ min: 0, max: 2 * 86_400 }), fc.integer({ min: 0, max: 400 * 86_400 })),
      fc.oneof(
        fc.constantFrom(2, 60, 3_600, 86_400, 7 * 86_400),
        fc.integer({ min: 2, max: 40 * 86_400 }),
      ),
      (text, from, span, seconds) => {
        const cron = parseCron(text)
        let last: number | null = null
        let least = Number.POSITIVE_INFINITY
        let steps = 0
        let next = cron.next(new Date((from - 1) * 1000))
        for (; next !== null && steps < most && least >= seconds; next = cron.next(next), steps++) {
          const at = next.getTime() / 1000
          if (at > from + span) break
          if (last !== null) least = Math.min(least, at - last)
          last = at
        }
        if (steps === most) return
        const found = new WallRuns(text).closerThan(seconds, from, from + span)
        assert.equal(found !== null, least < seconds, `${text} ${from} ${span} ${seconds}`)
        assert.ok(found === null || found.seconds < seconds)
        outcomes[found === null ? 'none' : 'close']++
      },
    ),
    { seed: 5, numRuns: 2_000 },
  )
  assert.ok(outcomes.close > 300 && outcomes.none > 300, JSON.stringify(outcomes))
})

test('the check counts runs as a slow walk does', () => {
  let counted = 0
  fc.assert(
    fc.property(
      fc.oneof(expression, dailyExpression),
      start,
      fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 30 * 86_400 })),
      (text, after, span) => {
        const cron = parseCron(text)
        let count = 0
        let next = cron.next(new Date(after * 1000))
        for (; next !== null && count < 5_000; next = cron.next(next), count++) {
          if (next.getTime() / 1000 > after + span) break
        }
        if (count === 5_000) return
        assert.equal(
          new WallRuns(text).count(after, after + span),
          count,
          `${text} ${after} ${span}`,
        )
        counted += count
      },
    ),
    { seed: 6, numRuns: 1_200 },
  )
  assert.ok(counted > 5_000, `${counted}`)
  assert.equal(new WallRuns('* * * * * ?').count(-1, Date.UTC(2100) / 1000), 4_102_444_800)
})
