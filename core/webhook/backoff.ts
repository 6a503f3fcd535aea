/** The pauses between attempts to send a notification. */
import { limits } from '@tollgate/schemas'
import { chance } from '../vault/webhook-keys.ts'

const ladder = limits.webhookLadderMs
const dayMs = 24 * 3_600_000

/**
 * After this number of attempts (up to the pause of an hour), later events of the resource wait no
 * longer.
 */
export const triesInOrder = (ladder as readonly number[]).indexOf(limits.webhookOrderWaitMs) + 1

/** The dispatcher gives up notifications of events older than this. */
export const givenUpAfterMs = limits.webhookDays * dayMs

/** Pause after the attempt number `attempts`, counted from 1. The last step repeats. */
export function pauseMs(attempts: number, retryAfterMs = 0): number {
  const step = ladder[Math.min(attempts, ladder.length) - 1]!
  const pause = Math.max(step, Math.min(retryAfterMs, limits.webhookRetryAfterMs))
  return Math.round(pause * (1 + limits.webhookJitter * chance()))
}

/** Pause of an endpoint after this many failures in a row: at most an hour. */
export function probePauseMs(failures: number, retryAfterMs = 0): number {
  const hourly = (ladder as readonly number[]).indexOf(limits.webhookOrderWaitMs) + 1
  return pauseMs(Math.min(failures, hourly), retryAfterMs)
}

/** Parses seconds or a date; undefined for anything else. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
