/**
 * Late words, and the treatment of each: one table, pure data. `applyMessage()` applies the table to messages, and
 * `applyLateWord()` to every word about a decided payment.
 * Chargebacks and their reversals are facts with code of their own.
 */
import type { Outcome, ReversalEnd } from '@tollgate/plugin-kit'
import { cannotBeUndone } from './balance-rules.ts'
import type { Effect } from './operation-kinds.ts'
import type { AttemptState, Payment, PaymentState } from './types.ts'

/** A word of an acquirer: an outcome, or the end of a reversal by key. */
export type Told = Outcome | ReversalEnd

/** The standing of a payment when a word arrives. */
export type Standing =
  /** The outcome is not known yet. */
  | 'undecided'
  /** A shopper, a poll or an event ends the payment. */
  | 'pending'
  /** Open, and the acquirer was asked to take it back: its answer comes later. */
  | 'reversing'
  /** Done for good. */
  | 'approved'
  /** Counts as done, and may still fail. */
  | 'accepted'
  /** Declined or expired. */
  | 'over'
  /** Over, but the acquirer carried it out; not undone yet. */
  | 'late'

/** Kinds of words that the table distinguishes. */
export type Word =
  /** Done, for the requested amount or for one that the channel allows instead. */
  | 'approved'
  /** Done, for another amount or currency. */
  | 'approved-otherwise'
  /** Counts as done, and may still fail. */
  | 'accepted'
  | 'declined'
  /** A decline of another amount: of a part, or of another operation. */
  | 'declined-otherwise'
  | 'pending'
  /** Taken back by its key. */
  | 'reversed'
  /** Another amount than that of the operation was taken back. */
  | 'reversed-otherwise'
  /** The reversal by key failed: the operation stands. */
  | 'not-reversed'
  /** The acquirer knows nothing or received nothing; proves nothing. */
  | 'nothing'

export type Treatment =
  /** The payment takes the outcome of the word, under the lease. */
  | 'settle'
  /** Enquires at the acquirer; the enquiry undoes or keeps an approval of another amount. */
  | 'enquire'
  /** An accepted operation is final. */
  | 'confirm'
  /** An accepted operation failed: declined, and the sums get the amount back. */
  | 'fail'
  /** Money moved on a payment that is over: counted, listed, and taken back. */
  | 'take-back'
  /** The same for operations that cannot be undone: counts as done, and an operator decides. */
  | 'count'
  /** A late success failed after all and no longer counts. */
  | 'end-late'
  /** A late success was taken back. */
  | 'undone'
  /** The money could not be taken back: a late success, for operators alone. */
  | 'stand'
  /** Money of a payment that is over could not be taken back: counted and listed, for operators alone. */
  | 'count-standing'
  /** Contradicts a final word: for operators. */
  | 'list'
  /** A final sale failed: listed for operators; refunds and reversals wait. */
  | 'return'
  /** A repeat, or a word that changes nothing. */
  | 'known'

/**
 * The treatment of each word. `treatmentOf` adapts a treatment to the effect of the payment.
 */
export const lateWords: Readonly<Record<Standing, Readonly<Record<Word, Treatment>>>> = {
  undecided: {
    approved: 'settle',
    'approved-otherwise': 'enquire',
    accepted: 'settle',
    declined: 'settle',
    'declined-otherwise': 'enquire',
    pending: 'settle',
    // A process may have died between its request and the record of it.
    reversed: 'settle',
    'reversed-otherwise': 'enquire',
    // An answer that decides comes first; without one, the money stands.
    'not-reversed': 'enquire',
    nothing: 'enquire',
  },
  pending: {
    approved: 'settle',
    'approved-otherwise': 'enquire',
    accepted: 'settle',
    declined: 'settle',
    'declined-otherwise': 'enquire',
    pending: 'known',
    reversed: 'settle',
    'reversed-otherwise': 'enquire',
    'not-reversed': 'enquire',
    nothing: 'known',
  },
  // A success that is being taken back is no success, and another amount of it is held.
  reversing: {
    approved: 'known',
    'approved-otherwise': 'enquire',
    accepted: 'known',
    declined: 'settle',
    'declined-otherwise': 'enquire',
    pending: 'known',
    reversed: 'settle',
    'reversed-otherwise': 'enquire',
    'not-reversed': 'stand',
    nothing: 'known',
  },
  approved: {
    approved: 'known',
    'approved-otherwise': 'list',
    accepted: 'known',
    declined: 'return',
    'declined-otherwise': 'return',
    pending: 'known',
    // Money went out that nobody asked for.
    reversed: 'return',
    'reversed-otherwise': 'return',
    'not-reversed': 'known',
    nothing: 'known',
  },
  accepted: {
    approved: 'confirm',
    'approved-otherwise': 'list',
    accepted: 'known',
    declined: 'fail',
    'declined-otherwise': 'list',
    pending: 'known',
    reversed: 'return',
    'reversed-otherwise': 'return',
    'not-reversed': 'known',
    nothing: 'known',
  },
  over: {
    approved: 'take-back',
    'approved-otherwise': 'take-back',
    accepted: 'take-back',
    declined: 'known',
    'declined-otherwise': 'known',
    pending: 'known',
    reversed: 'known',
    'reversed-otherwise': 'known',
    'not-reversed': 'count-standing',
    nothing: 'known',
  },
  late: {
    approved: 'known',
    'approved-otherwise': 'known',
    accepted: 'known',
    declined: 'end-late',
    'declined-otherwise': 'list',
    pending: 'known',
    reversed: 'undone',
    'reversed-otherwise': 'list',
    'not-reversed': 'stand',
    nothing: 'known',
  },
}

/** Effects that move no money; words about them after their end change nothing. */
const withoutMoney: ReadonlySet<Effect> = new Set([
  'verification',
  'authentication',
  'chargeback',
  'chargeback-reversal',
])

/**
 * Treatments of a reversal by the engine that add no entry: known, final, failed without effect, or
 * listed already.
 */
const undoing: ReadonlySet<Treatment> = new Set(['known', 'confirm', 'fail', 'stand'])

/** Effects that bring money in: their later failure is a return. */
const incoming: ReadonlySet<Effect> = new Set([
  'sale',
  'capture',
  'authorisation',
  'replacement',
  'increase',
])

/** The treatment of a word about a payment. */
export function treatmentOf(effect: Effect, standing: Standing, word: Word): Treatment {
  const treatment = lateWords[standing][word]
  if (isOpenStanding(standing)) return treatment
  if (withoutMoney.has(effect)) return treatment === 'confirm' ? 'confirm' : 'known'
  // A reversal of the engine's own is never taken back by itself.
  if (effect === 'undo') return undoing.has(treatment) ? treatment : 'list'
  if (treatment === 'take-back' && cannotBeUndone.has(effect)) return 'count'
  if (treatment === 'return' && !incoming.has(effect)) return 'list'
  // The engine asks for no reversal of a late reversal.
  if (treatment === 'undone' && cannotBeUndone.has(effect)) return 'list'
  return treatment
}

/** Standings of a payment whose outcome is still to come. */
export const isOpenStanding = (standing: Standing): boolean =>
  standing === 'undecided' || standing === 'pending' || standing === 'reversing'

export function standingOf(
  payment: Pick<Payment, 'state' | 'finalBy' | 'answer'>,
  attempt: AttemptState,
): Standing {
  if (isOpen(payment.state) && payment.answer.reversal !== undefined) return 'reversing'
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

/**
 * @param isAsAsked Whether the word matches the requested amount, or one that the channel allows
 * instead.
 */
export function wordOf(outcome: Told, isAsAsked: boolean): Word {
  switch (outcome.is) {
    case 'approved':
      return isAsAsked ? 'approved' : 'approved-otherwise'
    case 'accepted':
      return isAsAsked ? 'accepted' : 'approved-otherwise'
    case 'declined':
      return isAsAsked ? 'declined' : 'declined-otherwise'
    case 'pending':
      return isAsAsked ? 'pending' : 'nothing'
    case 'reversed':
      return isAsAsked ? 'reversed' : 'reversed-otherwise'
    case 'notReversed':
      return 'not-reversed'
    default:
      return 'nothing'
  }
}

export const isOpen = (state: PaymentState): boolean =>
  state === 'processing' || state === 'pending' || state === 'unknown'

export const isOver = (state: PaymentState): boolean => state === 'declined' || state === 'expired'
