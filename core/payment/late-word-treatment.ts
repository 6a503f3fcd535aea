/** The treatment of a late word: from the table, and from earlier decisions about the same word. */
import type { Money } from '@tollgate/plugin-kit'
import { toldReturn } from '../attention/store-told.ts'
import type { Engine } from '../engine.ts'
import { amountSaid, isSameAmount, movedBy } from './amount-moved.ts'
import { isForWhatWasAsked } from './asked-amount.ts'
import { cannotBeUndone } from './balance-rules.ts'
import {
  isOpenStanding,
  standingOf,
  type Told,
  type Treatment,
  treatmentOf,
  wordOf,
} from './late-word-table.ts'
import { otherReference, otherThanSuccess } from './reference-origin.ts'
import { lastFoundNothing, lastOfTakeBack } from './store-take-back.ts'
import { settledSum } from './stored-settlement.ts'
import type { Held, Payment, Source } from './types.ts'

/** Settles a late success that may still fail. */
export const lateAccepted = 'late-accepted'
/** Settles late successes that the engine took back or an operator gave back. */
export const undone = 'late-success'
export const givenBack = 'given-back'

/** How surely a settlement line is about the payment. */
export type LineDoubt = {
  /** An operator says that its money stayed, although the payment was reversed. */
  readonly isBeyondReversal?: boolean
  /** It can be about another operation of the same order: its failure ends no payment and no late success. */
  readonly isVague?: boolean
}

/** @param about The amount of the word, when given outside of its outcome. */
export async function treat(
  engine: Engine,
  now: Held,
  outcome: Told,
  source: Source,
  about: Money | undefined,
  line: LineDoubt = {},
): Promise<Treatment> {
  const treatment = await treatAsNamed(engine, now, outcome, source, about, line)
  if (otherReference(engine, now.payment, outcome) === undefined) return treatment
  return (await isOfAnother(engine, now, outcome, treatment)) ? 'list' : treatment
}

/** Whether only operators can judge the word, because it names another operation under the key of the payment. */
async function isOfAnother(
  engine: Engine,
  now: Held,
  outcome: Told,
  treatment: Treatment,
): Promise<boolean> {
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  switch (treatment) {
    // The acquirer may have charged twice.
    case 'known':
    case 'confirm':
      return isSuccess && hasMoved(now)
    // The acquirer would answer a reversal by the key with the first one, and leave the second charge.
    case 'take-back':
    case 'count':
      return isSuccess && wentBack(engine, now)
    // The failure of one charge leaves the other one.
    case 'fail':
    case 'end-late':
      return outcome.is === 'declined'
    // The acquirer speaks of the reversal of another operation than the one that it told as a success.
    case 'undone':
    case 'stand':
      return otherThanSuccess(now.payment, outcome) !== undefined
    default:
      return false
  }
}

/** Whether the payment's money moved, or moved and was taken back. */
const hasMoved = ({ payment, attempt }: Held): boolean =>
  payment.state === 'approved' || attempt.state === 'late' || attempt.settledBy === undone

/** The treatment of a word about the operation that the acquirer gave its references. */
async function treatAsNamed(
  engine: Engine,
  now: Held,
  outcome: Told,
  source: Source,
  about: Money | undefined,
  line: LineDoubt,
): Promise<Treatment> {
  const { payment, attempt } = now
  const standing = standingOf(payment, attempt.state)
  // The decline of a late success is about the amount that moved.
  const isAsAsked =
    standing === 'late' && outcome.is === 'declined'
      ? isForThatAmount(payment, outcome, about)
      : await isForWhatWasAsked(engine, payment, outcome, about)
  const treatment = treatmentOf(payment.effect, standing, wordOf(outcome, isAsAsked))
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  // A success of zero moved no money.
  const isNothing = isSuccess && amountSaid(outcome, about)?.minor === 0n
  if (isNothing && payment.amount.minor > 0n && !isOpenStanding(standing)) return 'known'
  switch (standing) {
    case 'late':
      // The acquirer reports a different amount than before: the engine took only one of the two
      // back.
      if ((isSuccess || outcome.is === 'notReversed') && !isForThatAmount(payment, outcome, about))
        return 'list'
      // A later decline does not end a plain success: the engine reverses it, and the reversal's
      // answer decides. Where nobody reverses it, an operator has to know.
      if (outcome.is === 'declined' && attempt.settledBy !== lateAccepted)
        return (await isLeft(engine, payment, attempt.settledBy)) ? 'list' : 'known'
      // The acquirer reversed it before this money was paid out.
      if (treatment === 'undone' && payment.answer.late?.afterReversal === true) return 'list'
      if (
        treatment === 'end-late' &&
        (line.isVague === true || (await isStanding(engine, payment)))
      )
        return 'list'
      return treatment
    case 'over':
      // The money went back twice.
      if (outcome.is === 'reversed' && attempt.settledBy === givenBack) return 'list'
      // A settlement file has both, the money that came and the money that went back.
      if (
        isSuccess &&
        isAsAsked &&
        source === 'settlement' &&
        line.isBeyondReversal !== true &&
        (await wentBack(engine, now))
      )
        return 'known'
      return treatment === 'known' && outcome.is !== 'declined'
        ? treatment
        : again(treatment, attempt.settledBy, outcome, isForThatAmount(payment, outcome, about))
    default:
      // The money that the acquirer gave back without a request came back.
      if (outcome.is === 'notReversed' && (await isReturned(engine, payment))) return 'list'
      if (treatment !== 'fail') return treatment
      return line.isVague === true || (await isPaidOut(engine, payment)) ? 'list' : treatment
  }
}

/** Whether a settlement file pays out some of the money that failed, says the acquirer. */
async function isPaidOut({ lanes }: Engine, { id, amount }: Payment): Promise<boolean> {
  const [row] = await lanes.single(settledSum(id, amount.currency))
  return row?.is_paid === true
}

/** Whether operators were told that money of an approved payment went back. */
const isReturned = async ({ lanes }: Engine, { id, state }: Payment): Promise<boolean> =>
  state === 'approved' && (await lanes.single(toldReturn(id))).length > 0

/** Whether a late success was left to operators because the acquirer could not reverse it. */
async function isStanding({ lanes }: Engine, { id, effect, answer }: Payment): Promise<boolean> {
  // The engine asks for no reversal of a reversal, so one that was only accepted ends with its failure.
  if (cannotBeUndone.has(effect) && answer.late?.finalBy !== undefined) return false
  const [last] = await lanes.single(lastOfTakeBack(id))
  return last?.is_refused === true
}

/** Whether the engine takes a late success back no more, or never did. */
async function isLeft(
  { lanes, registry }: Engine,
  { id, effect, connector }: Payment,
  settledBy: string | null,
): Promise<boolean> {
  if (cannotBeUndone.has(effect)) return true
  const [last] = await lanes.single(lastOfTakeBack(id))
  if (settledBy === 'settlement' && last?.is_redriven !== true) return true
  if (last?.stands === true) return true
  // "Nothing to undo" ends no success that the acquirer told, where nobody can be asked whether it stands.
  const { enquire } = registry.get(connector)?.connector.resolve ?? {}
  const [reversal] = enquire === undefined ? await lanes.single(lastFoundNothing(id)) : []
  return reversal?.is_nothing === true
}

/** Whether the acquirer reversed a payment that was open. Where it found nothing to undo, nothing went back. */
export async function wentBack({ lanes }: Engine, { payment, attempt }: Held): Promise<boolean> {
  if (attempt.settledBy !== 'reversal') return false
  const [last] = await lanes.single(lastFoundNothing(payment.id))
  return last?.is_nothing !== true
}

/** Money that was taken back or given back once is not given back again for a repeated word. */
function again(
  treatment: Treatment,
  settledBy: string | null,
  outcome: Told,
  isThatAmount: boolean,
): Treatment {
  if (settledBy === givenBack) return outcome.is === 'declined' ? treatment : 'list'
  if (settledBy !== undone || outcome.is === 'notReversed') return treatment
  // The money was given back. An operator must judge an earlier failure or another amount; a repeat
  // of the same success changes nothing.
  return outcome.is === 'declined' || !isThatAmount ? 'list' : 'known'
}

function isForThatAmount(payment: Payment, outcome: Told, about: Money | undefined): boolean {
  const said = amountSaid(outcome, about)
  return said === undefined || isSameAmount(said, movedBy(payment))
}
