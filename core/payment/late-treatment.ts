/** What comes of a word about a payment: the table, and what was decided about the same word before. */
import type { Money, Outcome } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { amountSaid, isSameAmount, movedBy } from './amount-moved.ts'
import { isForWhatWasAsked } from './asked-amount.ts'
import { standingOf, type Treatment, treatmentOf, wordOf } from './late-words.ts'
import type { Held, Payment } from './types.ts'

/** Who settled a late success that may still fail. */
export const lateAccepted = 'late-accepted'
/** Who settled one that the engine took back, and one that was given back by hand. */
export const undone = 'late-success'
export const givenBack = 'given-back'

/** @param about What the word is about, where it says so beside its outcome. */
export async function treat(
  engine: Engine,
  { payment, attempt }: Held,
  outcome: Outcome,
  about: Money | undefined,
): Promise<Treatment> {
  const isAsAsked = await isForWhatWasAsked(engine, payment, outcome, about)
  const standing = standingOf(payment, attempt.state)
  const treatment = treatmentOf(payment.effect, standing, wordOf(outcome, isAsAsked))
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  // A success of nothing moved nothing.
  const isNothing = isSuccess && amountSaid(outcome, about)?.minor === 0n
  if (isNothing && payment.amount.minor > 0n && standing !== 'undecided' && standing !== 'pending')
    return 'known'
  switch (standing) {
    case 'late':
      // Done for another amount than was told first: only one of the two is taken back.
      if (isSuccess && !isForThatAmount(payment, outcome, about)) return 'list'
      // A plain success is not unsaid by a word: it is taken back, and the answer to that tells.
      if (treatment === 'end-late' && attempt.settledBy !== lateAccepted) return 'known'
      return treatment
    case 'over':
      return treatment === 'known' && outcome.is !== 'declined'
        ? treatment
        : again(treatment, attempt.settledBy, outcome, isForThatAmount(payment, outcome, about))
    default:
      return treatment
  }
}

/** What was taken back or given back once is not given back a second time on somebody's word. */
function again(
  treatment: Treatment,
  settledBy: string | null,
  outcome: Outcome,
  isThatAmount: boolean,
): Treatment {
  if (settledBy === givenBack) return outcome.is === 'declined' ? treatment : 'list'
  if (settledBy !== undone) return treatment
  // Money was given back for it: that it failed before, or was done for another amount, is for operators.
  // The same success told again was undone already.
  return outcome.is === 'declined' || !isThatAmount ? 'list' : 'known'
}

function isForThatAmount(payment: Payment, outcome: Outcome, about: Money | undefined): boolean {
  const said = amountSaid(outcome, about)
  return said === undefined || isSameAmount(said, movedBy(payment))
}
