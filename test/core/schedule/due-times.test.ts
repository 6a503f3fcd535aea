import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { firstDueTime, nextDueTime, openPlan, upcoming } from '../../../core/schedule/plan.ts'
import { expression } from '../cron/arbitraries.ts'
import { momentWithMs, zone } from './arbitraries.ts'
import { iso, isos, planOf } from './jobs.ts'

const at = (text: string) => new Date(text)
const until = (plan: ReturnType<typeof planOf>, from: string, count: number) =>
  isos(upcoming(plan, new Date(at(from).getTime() - 1), count))

describe('a schedule runs between its bounds', () => {
  const hourly = '0 0 * * * ?'

  test('start and end are inclusive, and a cancellation is exclusive', () => {
    const from = at('2027-01-01T03:00:00Z')
    const bounds = { startAt: from, endAt: at('2027-01-01T06:00:00Z') }
    const all = ['03', '04', '05', '06'].map((hour) => `2027-01-01T${hour}:00:00Z`)
    assert.deepEqual(until(planOf(hourly, 'UTC', bounds), '2020-01-01T00:00:00Z', 10), all)
    const cancelled = planOf(hourly, 'UTC', { ...bounds, effectiveEnd: at('2027-01-01T05:00:00Z') })
    assert.deepEqual(until(cancelled, '2020-01-01T00:00:00Z', 10), all.slice(0, 2))
    assert.equal(nextDueTime(cancelled, at('2027-01-01T04:00:00Z')), null)
    // An end one millisecond later includes the due time.
    const later = planOf(hourly, 'UTC', { effectiveEnd: at('2027-01-01T05:00:00.001Z') })
    assert.equal(iso(nextDueTime(later, at('2027-01-01T04:00:00Z'))), '2027-01-01T05:00:00Z')
  })

  test('the next due time is always later than the given one', () => {
    const plan = planOf(hourly, 'UTC', { startAt: at('2027-01-01T03:00:00.500Z') })
    assert.equal(iso(nextDueTime(plan, at('2026-01-01T00:00:00Z'))), '2027-01-01T04:00:00Z')
    assert.equal(iso(nextDueTime(plan, at('2027-01-01T04:00:00Z'))), '2027-01-01T05:00:00Z')
    assert.equal(iso(nextDueTime(plan, at('2027-01-01T03:59:59.999Z'))), '2027-01-01T04:00:00Z')
  })

  test('a start in the past yields no past due times', () => {
    const plan = planOf(hourly, 'UTC', { startAt: at('2020-01-01T00:00:00Z') })
    assert.equal(iso(firstDueTime(plan, at('2027-01-01T03:20:00Z'))), '2027-01-01T04:00:00Z')
    assert.equal(iso(firstDueTime(plan, at('2027-01-01T03:00:00Z'))), '2027-01-01T04:00:00Z')
  })

  test('a list ends with the last due time, even when more are asked for', () => {
    const plan = planOf('0 0 0 1 1 ? 2027,2030')
    assert.equal(until(plan, '2027-01-01T00:00:00Z', 5).length, 2)
    assert.deepEqual(until(plan, '2031-01-01T00:00:00Z', 5), [])
    assert.deepEqual(upcoming(plan, at('2026-01-01T00:00:00Z'), 0), [])
  })
})

describe('clocks change', () => {
  test('Berlin: 02:30 does not exist on 28 March 2027 and exists twice on 31 October', () => {
    const plan = planOf('0 30 2 * * ?', 'Europe/Berlin')
    assert.deepEqual(until(plan, '2027-03-27T00:00:00Z', 3), [
      '2027-03-27T01:30:00Z',
      '2027-03-28T01:00:00Z',
      '2027-03-29T00:30:00Z',
    ])
    assert.deepEqual(until(plan, '2027-10-30T00:00:00Z', 3), [
      '2027-10-30T00:30:00Z',
      '2027-10-31T00:30:00Z',
      '2027-11-01T01:30:00Z',
    ])
    // Times that the change moves to the same due time are one run.
    const both = planOf('0 0,30 2,3 * * ?', 'Europe/Berlin')
    assert.deepEqual(until(both, '2027-03-28T00:00:00Z', 3), [
      '2027-03-28T01:00:00Z',
      '2027-03-28T01:30:00Z',
      '2027-03-29T00:00:00Z',
    ])
  })

  test('New York changes on 14 March and 7 November 2027', () => {
    const plan = planOf('0 30 2 * * ?', 'America/New_York')
    assert.deepEqual(until(plan, '2027-03-14T00:00:00Z', 2), [
      '2027-03-14T07:00:00Z',
      '2027-03-15T06:30:00Z',
    ])
    const repeated = planOf('0 30 1 * * ?', 'America/New_York')
    assert.deepEqual(until(repeated, '2027-11-07T00:00:00Z', 2), [
      '2027-11-07T05:30:00Z',
      '2027-11-08T06:30:00Z',
    ])
  })

  test('Lord Howe shifts by half an hour', () => {
    const spring = planOf('0 15 2 * * ?', 'Australia/Lord_Howe')
    assert.deepEqual(until(spring, '2027-10-02T00:00:00Z', 2), [
      '2027-10-02T15:30:00Z',
      '2027-10-03T15:15:00Z',
    ])
    const autumn = planOf('0 45 1 * * ?', 'Australia/Lord_Howe')
    assert.deepEqual(until(autumn, '2027-04-03T00:00:00Z', 2), [
      '2027-04-03T14:45:00Z',
      '2027-04-04T15:15:00Z',
    ])
  })

  test('Apia skips 30 December 2011, and its due times run as the 31st begins', () => {
    const plan = planOf('0 0 9 * * ?', 'Pacific/Apia')
    assert.deepEqual(until(plan, '2011-12-29T00:00:00Z', 4), [
      '2011-12-29T19:00:00Z',
      '2011-12-30T10:00:00Z',
      '2011-12-30T19:00:00Z',
      '2011-12-31T19:00:00Z',
    ])
  })

  test('29 February occurs every fourth year', () => {
    const plan = planOf('0 0 12 29 2 ?', 'Europe/Berlin')
    const years = until(plan, '2027-01-01T00:00:00Z', 30).map((text) => Number(text.slice(0, 4)))
    assert.deepEqual(
      years,
      Array.from({ length: 18 }, (_, index) => 2028 + 4 * index),
    )
  })
})

test('due times ascend within the bounds and leave none out', () => {
  const bound = fc.option(momentWithMs)
  let found = 0
  fc.assert(
    fc.property(
      expression,
      zone,
      momentWithMs,
      bound,
      bound,
      bound,
      (text, zone, after, startAt, endAt, effectiveEnd) => {
        const plan = planOf(text, zone, { startAt, endAt, effectiveEnd })
        const free = openPlan({ expression: text, zone })
        const dueTimes = upcoming(plan, after, 20)
        let last = after
        for (const dueTime of dueTimes) {
          assert.ok(dueTime > last)
          assert.ok(startAt === null || dueTime >= startAt)
          assert.ok(endAt === null || dueTime <= endAt)
          assert.ok(effectiveEnd === null || dueTime < effectiveEnd)
          last = dueTime
        }
        // Without bounds the same due times follow from the start of the bounds.
        const from = startAt !== null && startAt > after ? new Date(startAt.getTime() - 1) : after
        const expected = upcoming(free, from, 20).filter(
          (dueTime) =>
            (endAt === null || dueTime <= endAt) &&
            (effectiveEnd === null || dueTime < effectiveEnd),
        )
        assert.deepEqual(isos(dueTimes), isos(expected))
        found += dueTimes.length
      },
    ),
    { seed: 7, numRuns: 600 },
  )
  assert.ok(found > 2_000, `${found}`)
})
