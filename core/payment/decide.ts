/** Derives the payment's row and timers from an outcome. Pure. */
import { type Outcome, Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Mode } from '../connector/registry.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import type { Effect } from './operation-kinds.ts'
import type { Answer, AttemptState, Payment, PaymentState } from './types.ts'

export type Decision = {
  readonly attemptState: AttemptState
  readonly state: PaymentState
  readonly resultCode: string
  readonly approvedMinor: bigint | null
  readonly finalBy: string | null
  readonly answer: Answer
  /** Pause before the next enquiry; null when no enquiry is left. */
  readonly lookAfterMs: number | null
  readonly expiresAt: Date | null
}

/** The success code of each mode. */
export const approvedCode: Readonly<Record<Mode, string>> = {
  INTERNAL: '000.100.110',
  EXTERNAL: '000.100.112',
  LIVE: '000.000.000',
}

/**
 * The result of a request without a payment, such as a new webhook endpoint or a preview. Its code is that of the
 * environment, which clients compare; its text names no acquirer.
 */
export const doneResult = (environment: 'test' | 'live') => ({
  code: approvedCode[environment === 'test' ? 'INTERNAL' : 'LIVE'],
  description: 'Request successfully processed',
})

/** An interrupted or expired payment; the acquirer proved that nothing was charged. */
export const provenNotCharged = '900.100.400'
export const nothingSent = '900.100.600'
export const undecidedCode = '000.200.001'
export const shopperPendingCode = '000.200.000'
export const ranOutOfTime = '100.396.103'
export const cancelledByShopper = '100.396.101'

/** The engine ends a pending payment after this time, unless the acquirer names another time. */
const pendingLifeMs = 30 * 60_000

export function decide(
  payment: Payment,
  outcome: Outcome,
  enquiries: number,
  businessNow: Date,
): Decision {
  const answer = answerOf(payment.answer, outcome)
  const base = { approvedMinor: null, finalBy: null, answer, lookAfterMs: null, expiresAt: null }
  switch (outcome.is) {
    case 'approved':
      return {
        ...base,
        attemptState: 'approved',
        state: 'approved',
        resultCode: approvedCode[payment.mode],
        approvedMinor: outcome.amount?.minor ?? payment.amount.minor,
      }
    case 'accepted':
      return {
        ...base,
        attemptState: 'approved',
        state: 'approved',
        resultCode: approvedCode[payment.mode],
        approvedMinor: payment.amount.minor,
        finalBy: typeof outcome.finalBy === 'string' ? outcome.finalBy : 'poll',
        lookAfterMs: typeof outcome.finalBy === 'string' ? null : outcome.finalBy.poll,
      }
    case 'declined': {
      const isOver = payment.state !== 'processing' && outcome.reason === ranOutOfTime
      const state = isOver ? 'expired' : 'declined'
      return { ...base, attemptState: state, state, resultCode: outcome.reason }
    }
    case 'notSent':
      return {
        ...base,
        attemptState: 'not-sent',
        state: 'declined',
        resultCode: nothingSent,
        answer: { ...answer, retrySafe: true },
      }
    case 'pending':
      return {
        ...base,
        attemptState: 'pending',
        state: 'pending',
        resultCode: outcome.reason ?? shopperPendingCode,
        lookAfterMs:
          typeof outcome.next === 'object' && 'poll' in outcome.next ? outcome.next.poll : null,
        expiresAt: outcome.expiresAt ?? new Date(businessNow.getTime() + pendingLifeMs),
      }
    case 'unknown':
      return {
        ...base,
        attemptState: 'unknown',
        state: 'unknown',
        resultCode: undecidedCode,
        lookAfterMs: ladder(enquiries),
      }
  }
}

/** Pause before the next enquiry. The last step of the ladder repeats. */
export function ladder(enquiries: number): number {
  const steps = limits.enquiryLadderMs
  return steps[Math.min(enquiries, steps.length - 1)]!
}

/** The balance row of an approved payment; null for payments that only move another balance. */
export function ownBalance(
  payment: Payment,
  effect: Effect,
  approvedMinor: bigint,
): {
  kind: 'authorisation' | 'sale' | 'refund'
  authorised: bigint
  captured: bigint
  maxCaptures: number | null
} | null {
  switch (effect) {
    case 'authorisation':
    case 'replacement': {
      const most = payment.request.numberOfCaptures
      return {
        kind: 'authorisation',
        authorised: approvedMinor,
        captured: 0n,
        maxCaptures: typeof most === 'string' ? Number(most) : null,
      }
    }
    case 'sale':
    case 'capture':
      return { kind: 'sale', authorised: 0n, captured: approvedMinor, maxCaptures: null }
    case 'refund':
      return { kind: 'refund', authorised: 0n, captured: approvedMinor, maxCaptures: null }
    default:
      return null
  }
}

export function answerOf(before: Answer, outcome: Outcome): Answer {
  const answer: Answer = { ...before }
  if (outcome.is !== 'unknown') delete answer.reversal
  // A decline does not answer it: a success that is told later may be reversed by its key already.
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  if (isSuccess) delete answer.asked
  delete answer.redirect
  delete answer.retrySafe
  if ('refs' in outcome && outcome.refs !== undefined)
    answer.refs = { ...before.refs, ...outcome.refs, ...(isSuccess ? {} : namedBy(before)) }
  if ('memo' in outcome && outcome.memo !== undefined) answer.memo = outcome.memo
  if (outcome.is === 'approved' && outcome.networkTxId !== undefined) {
    answer.networkTxId = outcome.networkTxId
  }
  if (outcome.is === 'pending' && typeof outcome.next === 'object' && 'redirect' in outcome.next) {
    answer.redirect = outcome.next.redirect
  }
  if (outcome.is === 'declined' && outcome.advice !== undefined) answer.advice = outcome.advice
  if (outcome.is !== 'notSent' && outcome.is !== 'unknown') {
    if (outcome.avs !== undefined) answer.avs = outcome.avs
    if (outcome.cvv !== undefined) answer.cvv = outcome.cvv
    if (outcome.card !== undefined) answer.card = outcome.card
    const details: Record<string, string> = { ...before.details, ...outcome.details }
    if (outcome.code !== undefined) details.AcquirerResponse = outcome.code
    if (outcome.is === 'declined' && outcome.text !== undefined) details.AcquirerText = outcome.text
    if (Object.keys(details).length > 0) answer.details = masked(details)
  }
  return answer
}

/** The reference of a success, which no later word replaces that is none. */
const namedBy = ({ named, refs }: Answer): Readonly<Record<string, string>> =>
  named === undefined || refs?.[named] === undefined ? {} : { [named]: refs[named] }

/** Acquirers echo request data, so numbers in their texts are masked and long texts cut. */
function masked(details: Record<string, string>): Record<string, string> {
  const entries = Object.entries(details).slice(0, 64)
  return Object.fromEntries(
    entries.map(([name, value]) => [
      maskCardNumbers(name.slice(0, 64)),
      maskCardNumbers(Sensitive.is(value) ? '[sensitive]' : String(value).slice(0, 2048)),
    ]),
  )
}
