/** When a failed notification is tried again. */
import { limits } from '@tollgate/schemas'
import { chance } from '../vault/webhook-keys.ts'

const ladder = limits.webhookLadderMs
const dayMs = 24 * 3_600_000

/** Tries after which later events of the same resource wait no longer: those up to the hour's pause. */
export const triesInOrder = (ladder as readonly number[]).indexOf(limits.webhookOrderWaitMs) + 1

/** A notification whose event is older than this is given up. */
export const givenUpAfterMs = limits.webhookDays * dayMs

/** Pause after the try number `attempts`, counted from 1. The last step repeats. */
export function pauseMs(attempts: number, retryAfterMs = 0): number {
  const step = ladder[Math.min(attempts, ladder.length) - 1]!
  const pause = Math.max(step, Math.min(retryAfterMs, limits.webhookRetryAfterMs))
  return Math.round(pause * (1 + limits.webhookJitter * chance()))
}

/** Pause of an endpoint that failed so often in a row: hourly at most, whatever its notifications wait for. */
export function probePauseMs(failures: number, retryAfterMs = 0): number {
  const hourly = (ladder as readonly number[]).indexOf(limits.webhookOrderWaitMs) + 1
  return pauseMs(Math.min(failures, hourly), retryAfterMs)
}

/** Seconds or a date; undefined when it is neither. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
