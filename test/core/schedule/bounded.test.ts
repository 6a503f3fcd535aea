import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../../../core/errors.ts'
import { decideDueTimes } from '../../../core/schedule/misfire.ts'
import { type JobFields, readJob } from '../../../core/schedule/parse-job.ts'
import { effectiveEnd } from '../../../core/schedule/periods.ts'
import { mostUnits, periodUnits, upcoming } from '../../../core/schedule/plan.ts'
import { sources } from '../../rig/sources.ts'
import { now, planOf } from './jobs.ts'

/** Unused zones, so that the clock changes of their years are looked up. */
const zones = ['Europe/Paris', 'Europe/Rome', 'America/Chicago', 'Africa/El_Aaiun', 'Asia/Gaza']

/** The processor time of the fastest of several runs, because other load only slows a run. */
function leastMs(run: (zone: string) => unknown): number {
  const taken = [...zones, 'UTC', 'UTC'].map((zone) => {
    const before = process.threadCpuUsage()
    run(zone)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...taken.slice(0, zones.length)) + Math.min(...taken.slice(zones.length))
}

/** A walk over all due times takes seconds, and nothing that is bounded comes near. */
const mostMs = 60

const day = 86_400_000
const long = 'a'.repeat(1_000_000)

test('every job is checked within a bounded time, also one that never runs', () => {
  const jobs: [fields: JobFields, minimumIntervalMs: number][] = [
    [{ expression: '0 0 0 30 2 ?' }, 0],
    [{ expression: '0 0 0 31W 2,4,6,9,11 ?' }, 0],
    [{ expression: '59 59 23 29 2 ? 2098-2099' }, 0],
    [{ expression: `0 0 0 1 1 ? ${'*,'.repeat(121)}*` }, day],
    [{ expression: '* * * * * ?', endDate: '9999-12-31 23:59:59' }, 0],
    // Every run of two partial days is visited.
    [
      {
        expression: '*/2 * * * * ?',
        startDate: '2027-01-01 00:00:02',
        endDate: '2027-01-02 23:59:57',
      },
      1_999,
    ],
    [{ expression: '*/3 * * * * ?', startDate: '2027-01-01 00:00:02' }, 2_500],
    // Every day up to 2099 is visited.
    [{ expression: '0 0 0 */2 * ?' }, day],
    [{ expression: '0 0 0,23 1,3,5,7,9,11,13,15,17,19,21,23,25,27 * ?' }, 2 * 3_600_000],
    [{ startDate: '0001-01-01 00:00:00', endDate: '9999-12-31 23:59:59', second: '*' }, 0],
    [{ expression: long }, 0],
    [{ hour: long, startDate: long, noticeNumber: '9'.repeat(1_000) }, 0],
  ]
  for (const [fields, minimumIntervalMs] of jobs) {
    const taken = leastMs((zone) => {
      try {
        readJob(fields, { zone, nowBusiness: now, minimumIntervalMs })
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown
      }
    })
    assert.ok(taken < mostMs, `${taken} ms: ${JSON.stringify(fields).slice(0, 200)}`)
  }
})

test('notices and periods of any length are computed', () => {
  for (const unit of periodUnits) {
    for (const [notice, duration] of [
      [0, 1],
      [1_000_000_000, 1],
      [mostUnits, mostUnits],
      [40, 7],
    ] as const) {
      const taken = leastMs((zone) => {
        const plan = planOf('* * * * * ?', zone, {
          startAt: new Date('1970-01-01T00:00:01Z'),
          notice: { unit: 'SECOND', number: notice, callable: 'DURATION_END' },
          duration: { unit, number: duration },
        })
        effectiveEnd(plan, now, now)
      })
      assert.ok(taken < mostMs, `${taken} ms: ${notice}, ${duration} ${unit}`)
    }
  }
})

test('an outage of a year costs nearly as little as one of a minute', () => {
  for (const expression of ['* * * * * ?', '0 0 0 29 2 ?', '*/7 */7 */7 ? * FRI#5']) {
    const taken = leastMs((zone) => {
      const plan = planOf(expression, zone)
      decideDueTimes(plan, new Date(now.getTime() - 365 * day), now)
      upcoming(plan, now, 5)
    })
    assert.ok(taken < mostMs, `${taken} ms: ${expression}`)
  }
})

test('schedules are computed without a database, a clock or the network', () => {
  const pure = [
    'plan',
    'parse-job',
    'minimum-interval',
    'local-occurrences',
    'local-time',
    'periods',
    'misfire',
  ]
  const files = [...pure, 'resubmission'].map((name) => `core/schedule/${name}.ts`)
  const found = sources('core/schedule').filter(({ file }) => files.includes(file))
  assert.equal(found.length, files.length)
  const allowed = ['@tollgate/schemas', 'core/errors.ts', 'core/request/parameter-errors.ts']
  const wrong = found.flatMap(({ file, imports }) =>
    imports
      .filter((name) => !files.includes(name) && !name.startsWith('core/cron/'))
      .filter((name) => !allowed.includes(name))
      .map((name) => `${file}: ${name}`),
  )
  assert.deepEqual(wrong, [])
})
