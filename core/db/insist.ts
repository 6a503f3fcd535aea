/** Tries statements again within their patience. */
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@tollgate/schemas'
import { intendAction } from '../call-trace.ts'
import { systemClock } from '../clock.ts'
import { graver, neverReached, outcomeUnknown, sqlState } from './failures.ts'
import { type Patience, patience } from './patience.ts'

/** @param before The failure of an earlier try of the same statement. */
export async function insist<T>(
  once: () => Promise<T>,
  within: Patience,
  again: (error: unknown) => boolean,
  before?: unknown,
): Promise<T> {
  let failure = before
  for (let tries = 0; ; tries += 1) {
    const pauseMs = tries === 0 ? 0 : Math.min(10 * 2 ** tries, 500)
    const beginsMs = systemClock.elapsedMs() + pauseMs
    // A try that ends before its wait for a lock would say less than the lock timeout before.
    const leastMs = sqlState(failure) === '55P03' ? limits.singleLockTimeoutMs : 0
    const isLate = beginsMs > within.beginUntilMs || beginsMs + leastMs > within.endUntilMs
    if (failure !== undefined && isLate) throw failure
    if (pauseMs > 0) await pause(pauseMs)
    try {
      return await once()
    } catch (error) {
      if (!again(error)) throw error
      failure = failure === undefined ? error : graver(failure, error)
    }
  }
}

/** Tries a statement that writes, within the flush budget. */
export async function insistWriting<T>(once: (within: Patience) => Promise<T>): Promise<T> {
  const within = patience(limits.statementTryMs)
  // Also between two tries.
  const ended = intendAction()
  try {
    const result = await insist(() => once(within), within, worthRetry)
    ended('perhaps')
    return result
  } catch (error) {
    ended(neverReached(error) ? 'never' : 'perhaps')
    throw error
  }
}

export function worthRetry(error: unknown): boolean {
  const state = sqlState(error)
  return outcomeUnknown(error) || state === '40P01' || state === '55P03' || state === '40001'
}
