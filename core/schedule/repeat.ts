/** Repeats charges that provably never happened. */
import { limits } from '@tollgate/schemas'
import { nothingSent, provenNotCharged } from '../payment/decide.ts'
import type { Answer } from '../payment/types.ts'

/** The result of a declined payment. */
export type Declined = { readonly result_code: string | null; readonly answer: Answer | null }

/**
 * A decline without an issuer's decision: the charge was interrupted and provably did not happen,
 * or was never sent. The due time is still to be charged, regardless of the channel's policy for
 * declines.
 */
export function wasNeverMade({ result_code, answer }: Declined): boolean {
  return (
    result_code === provenNotCharged || (result_code === nothingSent && answer?.retrySafe === true)
  )
}

/**
 * The time of the repeat, or null after too many.
 *
 * @param inRow Consecutive payments of the execution, up to the last one, that never happened.
 * @param isOnClock A test clock does not advance by itself, so no pause applies.
 */
export function repeatAt(inRow: number, endedAt: Date, isOnClock: boolean): Date | null {
  const pauseMs = limits.scheduleRepeatMs[inRow - 1]
  if (pauseMs === undefined) return null
  return isOnClock ? endedAt : new Date(endedAt.getTime() + pauseMs)
}

/** The number of trailing payments, oldest first, that never happened. */
export function neverMadeInRow(ended: readonly Declined[]): number {
  const last = ended.findLastIndex((one) => !wasNeverMade(one))
  return ended.length - 1 - last
}
