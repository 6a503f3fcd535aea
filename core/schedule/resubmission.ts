/** Decides whether a declined execution is repeated. */
import { type Advice, isFailure, resultAdvice, resultGroup } from '@tollgate/schemas'

/** Policy of a channel; null by default. */
export type ResubmissionPolicy = {
  /** Payments of one execution, the first included. */
  readonly maxAttempts: number
  /**
   * Pauses after the first decline, the second and so on, in milliseconds; the last one repeats.
   */
  readonly delaysMs: readonly number[]
}

/** A payment of an execution that has ended. */
export type EndedPayment = {
  readonly code: string
  /** The acquirer's advice, where given beside the code. */
  readonly advice?: Advice | undefined
  /** The number of the payment within the execution, from 1. */
  readonly attempt: number
  /** The time of the final decline, in business time. */
  readonly endedAt: Date
}

/**
 * The time of the next payment of this execution, or null. Only for a final decline, since a
 * pending or unknown payment may still be charged. No payment is due at or after `end`, when the
 * schedule's cancellation takes effect.
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

/**
 * A decline that the catalogue calls final, such as a stolen card, stays final despite other
 * advice.
 */
function mayHelp({ code, advice }: EndedPayment): boolean {
  if (!isFailure(code) || resultAdvice(code) === 'never') return false
  // A charge without the cardholder cannot authenticate.
  if (resultGroup(code) === 'soft-decline') return false
  return (advice ?? resultAdvice(code)) === 'later'
}
