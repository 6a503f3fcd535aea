/** Jobs and plans for the tests of schedules. */
import assert from 'node:assert/strict'
import { GatewayError } from '../../../core/errors.ts'
import {
  type JobFields,
  type JobPlan,
  type JobRules,
  readJob,
} from '../../../core/schedule/parse-job.ts'
import { openPlan, type SchedulePlan } from '../../../core/schedule/plan.ts'

/** A Saturday. */
export const now = new Date('2026-11-21T16:00:00Z')

export function read(fields: JobFields, rules: Partial<JobRules> = {}): JobPlan {
  return readJob(fields, { zone: 'UTC', nowBusiness: now, minimumIntervalMs: 0, ...rules })
}

export function refusalOf(fields: JobFields, rules: Partial<JobRules> = {}): GatewayError {
  try {
    read(fields, rules)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  return assert.fail(`${JSON.stringify(fields)} was not refused`)
}

/** Refused with this code, naming exactly these parameters. */
export function refuses(
  fields: JobFields,
  code: string,
  names: readonly string[],
  what: RegExp,
  rules: Partial<JobRules> = {},
): void {
  const error = refusalOf(fields, rules)
  const told = JSON.stringify(fields)
  assert.equal(error.code, code, told)
  assert.equal(error.status, 400)
  const wrong = error.parameterErrors
  assert.deepEqual(
    wrong.map(({ name }) => name).sort(),
    names.map((name) => `job.${name}`).sort(),
    told,
  )
  for (const { name, value, message } of wrong) {
    assert.equal(value, fields[name.slice('job.'.length) as keyof JobFields], name)
    assert.match(message, what, told)
  }
  assert.match(error.message, what, told)
  assert.ok(error.message.length <= 255)
}

export type Stored = Parameters<typeof openPlan>[0]

export const planOf = (
  expression: string,
  zone = 'UTC',
  more: Partial<Stored> = {},
): SchedulePlan => openPlan({ expression, zone, ...more })

/** `2027-03-28T01:00:00Z` */
export const iso = (dueTime: Date | null): string =>
  dueTime === null ? 'never' : `${dueTime.toISOString().slice(0, 19)}Z`

export const isos = (dueTimes: readonly Date[]): string[] => dueTimes.map(iso)
