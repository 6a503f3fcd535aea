/**
 * Words about an open payment whose reversal by key is under way. Only the end of the reversal, a decline
 * or an operator decides; a success is only recorded.
 */
import type { Money } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import { toldApproval } from '../attention/store-told.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { amountSaid, isSameAmount } from './amount-moved.ts'
import { holdOtherAmount } from './asked-amount.ts'
import { isOpen, type Told } from './late-word-table.ts'
import { givenBack } from './late-word-treatment.ts'
import type { Payment, PaymentState, Source } from './types.ts'

/** Whether an outcome may end or continue a reversal that the payment is known to be under. */
export const decidesReversal = ({ answer }: Payment, to: PaymentState, source: Source): boolean =>
  answer.reversal !== undefined &&
  (to === 'declined' ||
    to === 'expired' ||
    to === 'unknown' ||
    source === 'operator' ||
    source === givenBack)

/**
 * Records a word that may not move the payment now.
 *
 * @returns false when the word decides the payment: no reversal was asked for, or the word is a decline.
 */
export async function hearDuringReversal(
  engine: Engine,
  payment: Payment,
  outcome: Told,
): Promise<boolean> {
  const { asked, reversal } = payment.answer
  const isAsked = isOpen(payment.state) && (asked !== undefined || reversal !== undefined)
  if (!isAsked || outcome.is === 'declined') return false
  await noteApproval(engine, payment, outcome)
  return true
}

/**
 * Shows operators a success that does not count. From here on, an acquirer that finds nothing to undo
 * contradicts itself.
 *
 * @param about The amount of a message.
 */
export async function noteApproval(
  engine: Pick<Engine, 'lanes'>,
  payment: Payment,
  outcome: Told,
  about?: Money,
): Promise<void> {
  if (outcome.is !== 'approved' && outcome.is !== 'accepted') return
  const amount = amountSaid(outcome, about) ?? payment.amount
  // Where parts may be approved, too: what is left of the operation must not be kept as asked.
  if (!isSameAmount(amount, payment.amount))
    return holdOtherAmount(engine, payment, amount, outcome.is)
  const detail = {
    why: 'approved while its reversal was under way',
    minor: String(amount.minor),
    currency: amount.currency,
  }
  const { id, attemptKey } = payment
  await engine.lanes.single(
    addAttention(newId(), 'undecided', id, attemptKey, limits.unknownAlarmMs, detail, toldApproval),
  )
}
