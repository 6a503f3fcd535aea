import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  type Due,
  decideDueTimes,
  dueTimesOf,
  type Missed,
} from '../../../core/schedule/misfire.ts'
import { nextDueTime, type SchedulePlan, upcoming } from '../../../core/schedule/plan.ts'
import { dailyExpression, expression } from '../cron/arbitraries.ts'
import { momentWithMs, zone } from './arbitraries.ts'
import { iso, isos, planOf } from './jobs.ts'

const at = (text: string) => new Date(text)
const hour = 3_600_000

const range = ({ first, last, count }: Missed) => `${iso(first)} ${iso(last)} ${count}`
const told = ({ charge, missed, nextAt }: Due) => ({
  charge: isos(charge),
  missed: missed.map(range),
  next: iso(nextAt),
})

describe('due times', () => {
  const hourly = planOf('0 0 * * * ?')

  test('a due time is charged, and no due time before its time', () => {
    const due = (now: string) => told(decideDueTimes(hourly, at('2027-01-01T10:00:00Z'), at(now)))
    const next = '2027-01-01T10:00:00Z'
    assert.deepEqual(due('2027-01-01T09:59:59.999Z'), { charge: [], missed: [], next })
    assert.deepEqual(due('2027-01-01T10:00:00Z'), {
      charge: [next],
      missed: [],
      next: '2027-01-01T11:00:00Z',
    })
  })

  test('due times of the last day are charged, oldest first', () => {
    const due = decideDueTimes(hourly, at('2027-01-01T10:00:00Z'), at('2027-01-02T09:30:00Z'))
    assert.equal(due.charge.length, 24)
    assert.equal(iso(due.charge[0]!), '2027-01-01T10:00:00Z')
    assert.equal(iso(due.charge[23]!), '2027-01-02T09:00:00Z')
    assert.deepEqual(due.missed, [])
  })

  test('a due time older than the window is missed, and one exactly as old as the window is charged', () => {
    const due = decideDueTimes(hourly, at('2027-01-01T10:00:00Z'), at('2027-01-03T12:30:00Z'))
    assert.deepEqual(due.missed.map(range), ['2027-01-01T10:00:00Z 2027-01-02T12:00:00Z 27'])
    assert.equal(iso(due.charge[0]!), '2027-01-02T13:00:00Z')
    assert.equal(due.charge.length, 24)
    const daily = planOf('0 0 12 * * ?')
    const edge = told(decideDueTimes(daily, at('2027-01-01T12:00:00Z'), at('2027-01-03T12:00:00Z')))
    assert.deepEqual(edge, {
      charge: ['2027-01-02T12:00:00Z', '2027-01-03T12:00:00Z'],
      missed: ['2027-01-01T12:00:00Z 2027-01-01T12:00:00Z 1'],
      next: '2027-01-04T12:00:00Z',
    })
  })

  test('due times beyond the maximum number are missed', () => {
    const minutely = planOf('0 * * * * ?')
    const due = decideDueTimes(minutely, at('2027-01-01T10:00:00Z'), at('2027-01-01T10:59:59Z'))
    assert.equal(due.charge.length, 24)
    assert.equal(iso(due.charge[23]!), '2027-01-01T10:23:00Z')
    assert.deepEqual(due.missed.map(range), ['2027-01-01T10:24:00Z 2027-01-01T10:59:00Z 36'])
    assert.equal(iso(due.nextAt), '2027-01-01T11:00:00Z')
  })

  test("the channel's settings decide which due times are charged", () => {
    const due = (windowMs: number, most: number) =>
      told(
        decideDueTimes(hourly, at('2027-01-01T10:00:00Z'), at('2027-01-01T12:00:00Z'), {
          windowMs,
          most,
        }),
      )
    assert.equal(due(24 * hour, 2).charge.length, 2)
    assert.deepEqual(due(24 * hour, 0).missed, ['2027-01-01T10:00:00Z 2027-01-01T12:00:00Z 3'])
    assert.deepEqual(due(0, 24).charge, ['2027-01-01T12:00:00Z'])
    assert.deepEqual(due(0, 24).missed, ['2027-01-01T10:00:00Z 2027-01-01T11:00:00Z 2'])
  })

  test('no due time is due after the end of the schedule', () => {
    const ended = planOf('0 0 * * * ?', 'UTC', { endAt: at('2027-01-01T11:00:00Z') })
    const cancelled = planOf('0 0 * * * ?', 'UTC', { effectiveEnd: at('2027-01-01T12:00:00Z') })
    for (const plan of [ended, cancelled]) {
      const due = told(decideDueTimes(plan, at('2027-01-01T10:00:00Z'), at('2027-01-01T20:00:00Z')))
      const charge = ['2027-01-01T10:00:00Z', '2027-01-01T11:00:00Z']
      assert.deepEqual(due, { charge, missed: [], next: 'never' })
    }
    const over = told(decideDueTimes(ended, at('2027-01-01T10:00:00Z'), at('2027-03-01T20:00:00Z')))
    assert.deepEqual(over, {
      charge: [],
      missed: ['2027-01-01T10:00:00Z 2027-01-01T11:00:00Z 2'],
      next: 'never',
    })
  })

  test('years of due times every second become two ranges', () => {
    const everySecond = planOf('* * * * * ?')
    const due = decideDueTimes(everySecond, at('2027-01-01T00:00:00Z'), at('2037-01-01T00:00:00Z'))
    assert.equal(due.charge.length, 24)
    assert.deepEqual(due.missed.map(range), [
      '2027-01-01T00:00:00Z 2036-12-30T23:59:59Z 315532800',
      '2036-12-31T00:00:24Z 2037-01-01T00:00:00Z 86377',
    ])
    // The list is bounded by the caller.
    const [oldest] = due.missed
    const listed = dueTimesOf(everySecond, oldest!).take(3).toArray()
    assert.deepEqual(isos(listed), [
      '2027-01-01T00:00:00Z',
      '2027-01-01T00:00:01Z',
      '2027-01-01T00:00:02Z',
    ])
  })

  test('skipped and repeated times count as the runs they are', () => {
    const berlin = planOf('0 */30 * * * ?', 'Europe/Berlin')
    const missedOn = (day: string) => {
      const now = new Date(at(`${day}T22:00:00Z`).getTime() + 48 * hour)
      const { missed } = decideDueTimes(berlin, at(`${day}T00:00:00Z`), now)
      return missed[0]
    }
    for (const day of ['2027-03-28', '2027-10-31', '2027-06-01']) {
      const missed = missedOn(day)!
      assert.equal(missed.count, dueTimesOf(berlin, missed).toArray().length, day)
    }
  })
})

test('a count that pauses inside a skipped time treats the gap as one', () => {
  // Counted in steps of four days, the first of which ends at 02:44:59 on 28 March.
  const plan = planOf('0 10,45 2 * * ?', 'Europe/Berlin')
  const nextAt = at('2027-03-24T01:45:00Z')
  const due = decideDueTimes(plan, nextAt, at('2027-03-29T12:00:00Z'), { windowMs: 0, most: 24 })
  assert.deepEqual(due.missed.map(range), ['2027-03-24T01:45:00Z 2027-03-29T00:45:00Z 10'])
})

/** All due times from `nextAt` to `now` by walking; null when there are too many. */
function walk(plan: SchedulePlan, nextAt: Date, now: Date, most: number): Date[] | null {
  const found: Date[] = []
  let next = nextDueTime(plan, new Date(nextAt.getTime() - 1))
  for (; next !== null && next <= now; next = nextDueTime(plan, next)) {
    if (found.push(next) > most) return null
  }
  return found
}

test('each due time is charged or missed once, by the rule', () => {
  const seen = { charged: 0, tooOld: 0, tooMany: 0 }
  fc.assert(
    fc.property(
      fc.record({
        text: fc.oneof(expression, dailyExpression),
        zone,
        from: momentWithMs,
        outageMs: fc.oneof(
          fc.integer({ min: -hour, max: hour }),
          fc.integer({ min: 0, max: 72 * hour }),
          fc.integer({ min: 0, max: 500 * 24 * hour }),
        ),
        policy: fc.record({
          windowMs: fc.constantFrom(0, hour, 24 * hour, 96 * hour),
          most: fc.constantFrom(0, 1, 5, 24),
        }),
        endMs: fc.option(fc.integer({ min: 0, max: 100 * hour })),
      }),
      ({ text, zone, from, outageMs, policy, endMs }) => {
        const effectiveEnd = endMs === null ? null : new Date(from.getTime() + endMs)
        const plan = planOf(text, zone, { effectiveEnd })
        const [nextAt] = upcoming(plan, from, 1)
        if (nextAt === undefined) return
        const now = new Date(nextAt.getTime() + outageMs)
        const all = walk(plan, nextAt, now, 4_000)
        const due = decideDueTimes(plan, nextAt, now, policy)
        assert.ok(due.missed.length <= 2 && due.charge.length <= policy.most)
        const expectedNext = now < nextAt ? nextAt : nextDueTime(plan, now)
        assert.equal(iso(due.nextAt), iso(expectedNext))
        if (all === null) return
        const isRecent = (dueTime: Date) => now.getTime() - dueTime.getTime() <= policy.windowMs
        const charged = all.filter(isRecent).slice(0, policy.most)
        assert.deepEqual(isos(due.charge), isos(charged))
        const listed = due.missed.flatMap((missed) => {
          const dueTimes = dueTimesOf(plan, missed).toArray()
          assert.equal(dueTimes.length, missed.count, `${text} ${zone} ${iso(nextAt)}`)
          assert.equal(iso(dueTimes[0]!), iso(missed.first))
          assert.equal(iso(dueTimes.at(-1)!), iso(missed.last))
          return dueTimes
        })
        const rest = all.filter((dueTime) => !charged.includes(dueTime))
        assert.deepEqual(isos(listed), isos(rest))
        seen.charged += charged.length
        seen.tooOld += rest.filter((dueTime) => !isRecent(dueTime)).length
        seen.tooMany += rest.filter(isRecent).length
      },
    ),
    { seed: 24, numRuns: 800 },
  )
  assert.ok(Math.min(seen.charged, seen.tooOld, seen.tooMany) > 300, JSON.stringify(seen))
})
