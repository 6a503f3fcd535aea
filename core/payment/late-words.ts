/**
 * Late words: what is said about a payment after its first answer, and what comes of it. One table,
 * pure data; `hear()` applies it. Chargebacks and their reversals are facts and have a door of their own.
 */
import type { Outcome } from '@tollgate/plugin-kit'
import type { Effect } from './operation-kinds.ts'
import { cannotBeUndone } from './sums.ts'
import type { AttemptState, Payment, PaymentState } from './types.ts'

/** What a payment is when something is said about it. */
export type Standing =
  /** Nobody knows yet whether the money moved. */
  | 'undecided'
  /** A shopper, a poll or an event ends it. */
  | 'pending'
  /** Done for good. */
  | 'approved'
  /** Counts as done, and may still fail. */
  | 'accepted'
  /** Declined or expired. */
  | 'over'
  /** Over, and the acquirer did it all the same: not undone yet. */
  | 'late'

/** What is said, as far as the table tells words apart. */
export type Word =
  /** Done, for what was asked or for what the channel allows in its place. */
  | 'approved'
  /** Done, for another amount or currency. */
  | 'approved-otherwise'
  /** Counts as done, and may still fail. */
  | 'accepted'
  | 'declined'
  /** The same about another amount: a part of it, or another operation. */
  | 'declined-otherwise'
  | 'pending'
  /** Nothing is known, found or sent: proves nothing. */
  | 'nothing'

export type Treatment =
  /** The payment becomes what the word says, under the lease. */
  | 'settle'
  /** The acquirer is asked: what was approved otherwise is undone or kept there. */
  | 'enquire'
  /** An accepted operation is final. */
  | 'confirm'
  /** An accepted operation failed: declined, and its sums are given back. */
  | 'fail'
  /** Money moved on what was answered as over: counted, listed, and taken back. */
  | 'take-back'
  /** The same for what cannot be taken back: it counts as done, and an operator decides. */
  | 'count'
  /** What was said to have been done after all is not: it counts for nothing again. */
  | 'end-late'
  /** Contradicts a final word: for operators. */
  | 'list'
  /** A sale that was final failed: for operators, and refunds and reversals wait. */
  | 'return'
  /** Said before, or changes nothing. */
  | 'known'

/** What comes of a word; where the effect of the payment matters, `moneyIn` is of those that take money. */
export const lateWords: Readonly<Record<Standing, Readonly<Record<Word, Treatment>>>> = {
  undecided: {
    approved: 'settle',
    'approved-otherwise': 'enquire',
    accepted: 'settle',
    declined: 'settle',
    'declined-otherwise': 'enquire',
    pending: 'settle',
    nothing: 'enquire',
  },
  pending: {
    approved: 'settle',
    'approved-otherwise': 'enquire',
    accepted: 'settle',
    declined: 'settle',
    'declined-otherwise': 'enquire',
    pending: 'known',
    nothing: 'known',
  },
  approved: {
    approved: 'known',
    'approved-otherwise': 'list',
    accepted: 'known',
    declined: 'return',
    'declined-otherwise': 'return',
    pending: 'known',
    nothing: 'known',
  },
  accepted: {
    approved: 'confirm',
    'approved-otherwise': 'list',
    accepted: 'known',
    declined: 'fail',
    'declined-otherwise': 'list',
    pending: 'known',
    nothing: 'known',
  },
  over: {
    approved: 'take-back',
    'approved-otherwise': 'take-back',
    accepted: 'take-back',
    declined: 'known',
    'declined-otherwise': 'known',
    pending: 'known',
    nothing: 'known',
  },
  late: {
    approved: 'known',
    'approved-otherwise': 'known',
    accepted: 'known',
    declined: 'end-late',
    'declined-otherwise': 'known',
    pending: 'known',
    nothing: 'known',
  },
}

/** Effects that move no money, so that no word about them after their end matters. */
const withoutMoney: ReadonlySet<Effect> = new Set([
  'verification',
  'chargeback',
  'chargeback-reversal',
])

/** What comes by itself of a word about a reversal that the engine sent: it is final, or failed and undid nothing. */
const undoing: ReadonlySet<Treatment> = new Set(['known', 'confirm', 'fail'])

/** Effects that bring money in: their later failure is a return. */
const incoming: ReadonlySet<Effect> = new Set([
  'sale',
  'capture',
  'authorisation',
  'replacement',
  'increase',
])

/** What comes of a word about a payment. */
export function treatmentOf(effect: Effect, standing: Standing, word: Word): Treatment {
  const treatment = lateWords[standing][word]
  if (standing === 'undecided' || standing === 'pending') return treatment
  if (withoutMoney.has(effect)) return treatment === 'confirm' ? 'confirm' : 'known'
  // What it took back is back, or stays away: nothing is taken back a second time by itself.
  if (effect === 'undo') return undoing.has(treatment) ? treatment : 'list'
  if (treatment === 'take-back' && cannotBeUndone.has(effect)) return 'count'
  if (treatment === 'return' && !incoming.has(effect)) return 'list'
  return treatment
}

export function standingOf(
  payment: Pick<Payment, 'state' | 'finalBy'>,
  attempt: AttemptState,
): Standing {
  switch (payment.state) {
    case 'processing':
    case 'unknown':
      return 'undecided'
    case 'pending':
      return 'pending'
    case 'approved':
      return payment.finalBy === null ? 'approved' : 'accepted'
    default:
      return attempt === 'late' ? 'late' : 'over'
  }
}

/** @param isAsAsked Whether it is about what was asked, or about what the channel allows in its place. */
export function wordOf(outcome: Outcome, isAsAsked: boolean): Word {
  switch (outcome.is) {
    case 'approved':
      return isAsAsked ? 'approved' : 'approved-otherwise'
    case 'accepted':
      return isAsAsked ? 'accepted' : 'approved-otherwise'
    case 'declined':
      return isAsAsked ? 'declined' : 'declined-otherwise'
    case 'pending':
      return isAsAsked ? 'pending' : 'nothing'
    default:
      return 'nothing'
  }
}

export const isOpen = (state: PaymentState): boolean =>
  state === 'processing' || state === 'pending' || state === 'unknown'

export const isOver = (state: PaymentState): boolean => state === 'declined' || state === 'expired'
