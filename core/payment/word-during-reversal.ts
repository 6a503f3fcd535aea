/**
 * Words about an open payment whose reversal by key is under way. Only the end of the reversal, a decline
 * or an operator decides; a success is only recorded.
 */
import type { Accepted, Approved, Found, Money } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import { toldApproval } from '../attention/store-told.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { amountSaid, isSameAmount } from './amount-moved.ts'
import { isUnderReversal, listIfEndOfAnother, otherSuccess } from './another-operation.ts'
import { holdOtherAmount } from './asked-amount.ts'
import type { Told } from './late-word-table.ts'
import { givenBack } from './late-word-treatment.ts'
import { namedIn, refsLearned } from './reference-origin.ts'
import { paymentByAttempt, toPayment } from './store-read.ts'
import { learnWhileOpen } from './store-settle.ts'
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
 * @returns false when the word decides the payment: no reversal was asked for, or the word is a decline of it.
 */
export async function hearDuringReversal(
  engine: Engine,
  payment: Payment,
  outcome: Told,
): Promise<boolean> {
  if (!isUnderReversal(payment)) return false
  if (outcome.is === 'declined') return listIfEndOfAnother(engine, payment, outcome)
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
  engine: Pick<Engine, 'lanes' | 'registry'>,
  payment: Payment,
  outcome: Told,
  about?: Money,
): Promise<void> {
  if (outcome.is !== 'approved' && outcome.is !== 'accepted') return
  const amount = amountSaid(outcome, about) ?? payment.amount
  if (await listOrLearn(engine, payment, outcome, amount)) return
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

/**
 * The payment takes the references of its success, so that a word about another operation under its key is known by
 * its reference. The end of the reversal says nothing about such an operation: it is listed by itself.
 *
 * @returns whether the success is one of another operation.
 */
async function listOrLearn(
  engine: Pick<Engine, 'lanes' | 'registry'>,
  { attemptKey }: Payment,
  outcome: Approved | Accepted,
  amount: Money,
): Promise<boolean> {
  // Another word may have brought references since the payment was read.
  const [row] = await engine.lanes.single(paymentByAttempt(attemptKey))
  if (row === undefined) return false
  const payment = toPayment(row)
  const other = otherSuccess(payment, outcome, amount)
  if (other !== undefined) {
    await engine.lanes.single(other)
    return true
  }
  const refs = refsLearned(payment, outcome)
  if (refs !== undefined)
    await engine.lanes.single(learnWhileOpen(payment.id, refs, namedIn(engine, payment, outcome)))
  return false
}

/** The payment with the references that it has learned from what was found since it was read. */
export async function asLearned(
  { lanes }: Pick<Engine, 'lanes'>,
  payment: Payment,
  found: Found,
): Promise<Payment> {
  if (found.is !== 'approved' && found.is !== 'accepted') return payment
  const [row] = await lanes.single(paymentByAttempt(payment.attemptKey))
  if (row === undefined) return payment
  const { refs, named } = toPayment(row).answer
  const answer = {
    ...payment.answer,
    ...(refs !== undefined && { refs }),
    ...(named !== undefined && { named }),
  }
  return { ...payment, answer }
}
