/** Whether a declined execution is tried again. */
import { type Advice, isFailure, resultAdvice, resultGroup } from '@tollgate/schemas'

/** Policy of a channel; none (null) is the default. */
export type ResubmissionPolicy = {
  /** Payments of one execution, the first included. */
  readonly maxAttempts: number
  /** Waits after the first decline, the second and so on, in milliseconds; the last one repeats. */
  readonly delaysMs: readonly number[]
}

/** A payment of an execution that has ended. */
export type EndedPayment = {
  readonly code: string
  /** What the acquirer advised, where it said more than the code. */
  readonly advice?: Advice | undefined
  /** Which payment of the execution it was, from 1. */
  readonly attempt: number
  /** When it was finally declined, in business time. */
  readonly endedAt: Date
}

/**
 * When the next payment of this execution is due, or null when there is none. To be asked only for a
 * final decline: what is pending or unknown may still be charged. Nothing is due at or after `end`,
 * when the schedule's cancellation takes effect.
 */
export function resubmitAt(
  policy: ResubmissionPolicy | null,
  payment: EndedPayment,
  end: Date | null = null,
): Date | null {
  if (policy === null || payment.attempt >= policy.maxAttempts || !mayHelp(payment)) return null
  const delayMs = policy.delaysMs[payment.attempt - 1] ?? policy.delaysMs.at(-1)
  if (delayMs === undefined) return null
  const due = new Date(payment.endedAt.getTime() + delayMs)
  return end !== null && due >= end ? null : due
}

/** A decline that the catalogue calls final, such as of a stolen card, stays one whatever is advised. */
function mayHelp({ code, advice }: EndedPayment): boolean {
  if (!isFailure(code) || resultAdvice(code) === 'never') return false
  // Repeating without the cardholder cannot help where authentication is asked for.
  if (resultGroup(code) === 'soft-decline') return false
  return (advice ?? resultAdvice(code)) === 'later'
}
