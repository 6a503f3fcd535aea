import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { instantOfWall, lastMoment, later, readWall } from '../../../core/schedule/local-time.ts'
import { effectiveEnd } from '../../../core/schedule/periods.ts'
import {
  type Length,
  mostUnits,
  type Notice,
  type PeriodUnit,
} from '../../../core/schedule/plan.ts'
import { momentWithMs, number, unit, zone } from './arbitraries.ts'
import { iso, planOf } from './jobs.ts'

/** A moment in the zone's wall time. */
const at = (wall: string, zone = 'UTC') => instantOfWall(readWall(wall)!, zone)

const length = (text: string): Length => {
  const [number, unit] = text.split(' ')
  return { number: Number(number), unit: unit as PeriodUnit }
}

type Case = {
  readonly notice?: string
  readonly callable?: Notice['callable']
  readonly duration?: string
  readonly createdAt?: Date
  readonly startAt?: Date
  readonly zone?: string
}

function end(now: Date, { notice, callable = 'DURATION_END', ...given }: Case): string {
  const { duration, createdAt = at('2027-01-01 00:00:00'), startAt = null, zone = 'UTC' } = given
  const plan = planOf('0 0 0 * * ?', zone, {
    startAt,
    duration: duration === undefined ? null : length(duration),
    notice: notice === undefined ? null : { ...length(notice), callable },
  })
  return iso(effectiveEnd(plan, createdAt, now))
}

describe('the end of a cancelled schedule', () => {
  const now = at('2027-05-10 12:00:00')

  test('a cancellation without notice takes effect at once, also with periods', () => {
    assert.equal(end(now, {}), iso(now))
    assert.equal(end(now, { duration: '1 YEAR' }), iso(now))
  })

  test('a schedule callable at any time ends when the notice has passed', () => {
    const given = (notice: string) => end(now, { notice, callable: 'ANYTIME', duration: '1 YEAR' })
    assert.equal(given('0 DAY'), iso(now))
    assert.equal(given('90 SECOND'), '2027-05-10T12:01:30Z')
    assert.equal(given('90 MINUTE'), '2027-05-10T13:30:00Z')
    assert.equal(given('36 HOUR'), '2027-05-12T00:00:00Z')
    assert.equal(given('30 DAY'), '2027-06-09T12:00:00Z')
    assert.equal(given('2 WEEK'), '2027-05-24T12:00:00Z')
    assert.equal(given('1 MONTH'), '2027-06-10T12:00:00Z')
    assert.equal(given('1 YEAR'), '2028-05-10T12:00:00Z')
  })

  test('a schedule ends with the current period if the notice fits, exactly on the limit too, else with the next', () => {
    const monthly = { notice: '5 DAY', duration: '1 MONTH' }
    assert.equal(end(now, monthly), '2027-06-01T00:00:00Z')
    assert.equal(end(at('2027-05-27 00:00:00'), monthly), '2027-06-01T00:00:00Z')
    assert.equal(
      end(new Date(at('2027-05-27 00:00:00').getTime() + 1), monthly),
      '2027-07-01T00:00:00Z',
    )
    assert.equal(end(at('2027-05-31 23:59:59'), monthly), '2027-07-01T00:00:00Z')
    // A notice longer than a period prolongs by several periods.
    assert.equal(end(now, { notice: '80 DAY', duration: '1 MONTH' }), '2027-08-01T00:00:00Z')
  })

  test('a schedule without notice ends with its current period', () => {
    const free = { notice: '0 DAY', duration: '1 MONTH' }
    assert.equal(end(now, free), '2027-06-01T00:00:00Z')
    assert.equal(end(at('2027-06-01 00:00:00'), free), '2027-06-01T00:00:00Z')
    assert.equal(end(at('2027-06-01 00:00:01'), free), '2027-07-01T00:00:00Z')
  })

  test('periods count from startDate, else from creation, and the first one is always served', () => {
    const yearly = { notice: '1 MONTH', duration: '1 YEAR' }
    const createdAt = at('2027-02-03 04:05:06')
    assert.equal(end(now, { ...yearly, createdAt }), '2028-02-03T04:05:06Z')
    const startAt = at('2027-09-01 00:00:00')
    assert.equal(end(now, { ...yearly, createdAt, startAt }), '2028-09-01T00:00:00Z')
    const past = at('2020-06-15 00:00:00')
    assert.equal(end(now, { ...yearly, createdAt, startAt: past }), '2027-06-15T00:00:00Z')
    assert.equal(
      end(at('2027-05-15 00:00:01'), { ...yearly, startAt: past }),
      '2028-06-15T00:00:00Z',
    )
  })

  test('every schedule ends by the end of 2099', () => {
    const last = '2099-12-31T23:59:59Z'
    const far = [mostUnits, 9_999_999, 100]
    for (const count of far) {
      assert.equal(end(now, { notice: `${count} YEAR`, callable: 'ANYTIME' }), last)
      assert.equal(end(now, { notice: '1 DAY', duration: `${count} YEAR` }), last)
      assert.equal(end(now, { notice: `${count} YEAR`, duration: '1 SECOND' }), last)
    }
    assert.equal(end(now, { notice: `${mostUnits} SECOND`, duration: '7 SECOND' }), last)
    const berlin = { notice: '1 DAY', duration: '80 YEAR', zone: 'Europe/Berlin' }
    assert.equal(end(now, berlin), '2099-12-31T22:59:59Z')
    const after = at('2099-12-31 23:59:59').getTime() + 1_000
    const free = { notice: '0 DAY', duration: '1 DAY' }
    assert.equal(end(new Date(after), free), iso(new Date(after)))
  })
})

describe('calendar periods', () => {
  const ends = (from: string, unit: string, count: number, zone = 'UTC') =>
    Array.from({ length: count }, (_, index) =>
      iso(later(at(from, zone), length(unit), index + 1, zone)).slice(0, 16),
    )

  test('a period ends on the last day of a shorter month, and its day returns afterwards', () => {
    assert.deepEqual(ends('2027-01-31 00:00:00', '1 MONTH', 4), [
      '2027-02-28T00:00',
      '2027-03-31T00:00',
      '2027-04-30T00:00',
      '2027-05-31T00:00',
    ])
    assert.deepEqual(ends('2027-12-31 00:00:00', '2 MONTH', 2), [
      '2028-02-29T00:00',
      '2028-04-30T00:00',
    ])
    assert.deepEqual(ends('2028-02-29 00:00:00', '1 YEAR', 4), [
      '2029-02-28T00:00',
      '2030-02-28T00:00',
      '2031-02-28T00:00',
      '2032-02-29T00:00',
    ])
  })

  test('periods of other units return to their day as well', () => {
    const given = { notice: '0 DAY', duration: '1 MONTH', createdAt: at('2027-01-31 00:00:00') }
    assert.equal(end(at('2027-02-10 00:00:00'), given), '2027-02-28T00:00:00Z')
    assert.equal(end(at('2027-03-10 00:00:00'), given), '2027-03-31T00:00:00Z')
    assert.equal(end(at('2027-03-31 00:00:01'), given), '2027-04-30T00:00:00Z')
  })

  test('days keep their time of day through a clock change, and hours pass evenly', () => {
    const zone = 'Europe/Berlin'
    assert.deepEqual(ends('2027-03-27 12:00:00', '1 DAY', 2, zone), [
      '2027-03-28T10:00',
      '2027-03-29T10:00',
    ])
    assert.deepEqual(ends('2027-03-27 12:00:00', '24 HOUR', 2, zone), [
      '2027-03-28T11:00',
      '2027-03-29T11:00',
    ])
    // A skipped time and a repeated one.
    assert.deepEqual(ends('2027-02-28 02:30:00', '1 MONTH', 2, zone), [
      '2027-03-28T01:00',
      '2027-04-28T00:30',
    ])
    assert.deepEqual(ends('2027-10-24 02:30:00', '1 WEEK', 2, zone), [
      '2027-10-31T00:30',
      '2027-11-07T01:30',
    ])
    assert.deepEqual(ends('2011-12-29 09:00:00', '1 DAY', 3, 'Pacific/Apia'), [
      '2011-12-30T10:00',
      '2011-12-30T19:00',
      '2011-12-31T19:00',
    ])
  })

  test('a schedule created in the second pass of a repeated hour keeps that time of day', () => {
    // 02:30 for the second time.
    const from = new Date('2027-10-31T01:30:00Z')
    assert.equal(iso(later(from, length('1 DAY'), 1, 'Europe/Berlin')), '2027-11-01T01:30:00Z')
    const lordHowe = new Date('2027-04-03T15:15:00Z')
    assert.equal(
      iso(later(lordHowe, length('1 DAY'), 1, 'Australia/Lord_Howe')),
      '2027-04-04T15:15:00Z',
    )
  })

  test('fractions of a second are kept', () => {
    const from = new Date('2027-01-31T10:00:00.123Z')
    for (const [text, result] of [
      ['1 MONTH', '2027-02-28T10:00:00.123Z'],
      ['1 SECOND', '2027-01-31T10:00:01.123Z'],
      ['0 YEAR', '2027-01-31T10:00:00.123Z'],
    ] as const) {
      assert.equal(later(from, length(text), 1, 'Asia/Kathmandu').toISOString(), result)
    }
  })
})

test('an end is never before the notice, and is the first period end after it', () => {
  let looked = 0
  fc.assert(
    fc.property(
      fc.record({
        zone,
        createdAt: momentWithMs,
        startAt: fc.option(momentWithMs),
        now: momentWithMs,
        notice: fc.record({
          number: number(0),
          unit,
          callable: fc.constantFrom('ANYTIME' as const, 'DURATION_END' as const),
        }),
        duration: fc.record({ number: number(1), unit }),
      }),
      ({ zone, createdAt, startAt, now, notice, duration }) => {
        const plan = planOf('0 0 0 * * ?', zone, { startAt, notice, duration })
        const found = effectiveEnd(plan, createdAt, now)
        const earliest = later(now, notice, 1, zone)
        assert.ok(found >= earliest && found >= now)
        assert.ok(found <= lastMoment(zone))
        if (notice.callable === 'ANYTIME') assert.equal(iso(found), iso(earliest))
        else {
          // Walks over the periods one by one where there are few.
          const anchor = startAt ?? createdAt
          for (let period = 1; period <= 50; period++) {
            const boundary = later(anchor, duration, period, zone)
            assert.ok(boundary >= later(anchor, duration, period - 1, zone))
            if (boundary < earliest) continue
            assert.equal(iso(found), iso(boundary))
            looked++
            break
          }
        }
      },
    ),
    { seed: 11, numRuns: 2_000 },
  )
  assert.ok(looked > 300, `${looked}`)
})
