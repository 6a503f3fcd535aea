/** Channel settings for schedules. */
import { limits } from '@tollgate/schemas'
import type { Environment } from '../engine.ts'
import { defaultMisfire, type MisfirePolicy } from './misfire.ts'
import type { ResubmissionPolicy } from './resubmission.ts'

type Settings = Readonly<Record<string, unknown>>

const hourMs = 3_600_000

/** IANA name. */
export function zoneOf(settings: Settings): string {
  return typeof settings.timeZone === 'string' ? settings.timeZone : 'UTC'
}

/** Minimum time between two charges of one schedule. */
export function minimumIntervalMs(settings: Settings, environment: Environment): number {
  const { scheduleIntervalSeconds } = settings
  if (typeof scheduleIntervalSeconds === 'number') return scheduleIntervalSeconds * 1000
  return environment === 'live' ? limits.scheduleIntervalLiveMs : 0
}

export function misfireOf(settings: Settings): MisfirePolicy {
  const { missedExecutions, missedExecutionHours } = settings
  return {
    most: typeof missedExecutions === 'number' ? missedExecutions : defaultMisfire.most,
    windowMs:
      typeof missedExecutionHours === 'number'
        ? missedExecutionHours * hourMs
        : defaultMisfire.windowMs,
  }
}

/** Declined charges are repeated only with a channel's policy of number and times. */
export function resubmissionOf(settings: Settings): ResubmissionPolicy | null {
  const { resubmissions, resubmissionHours } = settings
  if (typeof resubmissions !== 'number' || resubmissions < 1) return null
  const hours = Array.isArray(resubmissionHours) ? (resubmissionHours as number[]) : [24]
  return { maxAttempts: resubmissions + 1, delaysMs: hours.map((hour) => hour * hourMs) }
}
