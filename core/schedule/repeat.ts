/** Whether a charge that turned out never to have been made is made once more. */
import { limits } from '@tollgate/schemas'
import { nothingSent, provenNotCharged } from '../payment/decide.ts'
import type { Answer } from '../payment/types.ts'

/** How a payment was declined. */
export type Declined = { readonly result_code: string | null; readonly answer: Answer | null }

/**
 * A decline that nobody spoke: the charge was interrupted and is proven not to have happened, or
 * nothing of it was ever sent. The instant is still to be charged, whatever the channel says about
 * declines.
 */
export function wasNeverMade({ result_code, answer }: Declined): boolean {
  return (
    result_code === provenNotCharged || (result_code === nothingSent && answer?.retrySafe === true)
  )
}

/**
 * When the charge is made once more, or null when there were enough.
 *
 * @param inRow Payments of the occurrence, up to the last one, that were never made.
 * @param isOnClock Time of a test clock does not pass by itself: there is no pause.
 */
export function repeatAt(inRow: number, endedAt: Date, isOnClock: boolean): Date | null {
  const pauseMs = limits.scheduleRepeatMs[inRow - 1]
  if (pauseMs === undefined) return null
  return isOnClock ? endedAt : new Date(endedAt.getTime() + pauseMs)
}

/** How many at the end of these, oldest first, were never made. */
export function neverMadeInRow(ended: readonly Declined[]): number {
  const last = ended.findLastIndex((one) => !wasNeverMade(one))
  return ended.length - 1 - last
}
