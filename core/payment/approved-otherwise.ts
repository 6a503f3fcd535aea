/** An approval of another amount than the requested one is not an approval; a reversal resolves it. */
import type { Approved, Outcome } from '@tollgate/plugin-kit'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { otherSuccess, refsOfSuccess } from './another-operation.ts'
import { isForWhatWasAsked, otherAmountHeld } from './asked-amount.ts'
import { namedIn, refsLearned } from './reference-origin.ts'
import { ofOtherAmount } from './requested-reversal.ts'
import type { Payment } from './types.ts'

/** An outcome as its payment takes it. */
export type Heard = {
  /** The payment with the references of a success that does not decide it. */
  readonly payment: Payment
  readonly outcome: Outcome
  /** Statements of the same commit. */
  readonly alongside: readonly Sql[]
}

export async function heardAs(engine: Engine, payment: Payment, given: Outcome): Promise<Heard> {
  if (given.is !== 'approved' || (await isForWhatWasAsked(engine, payment, given)))
    return { payment, outcome: given, alongside: [] }
  const { id, connector, amount } = payment
  engine.log.warn({ payment: id, connector }, 'approved for another amount')
  const outcome = {
    is: 'unknown',
    refs: refsOfSuccess(payment, given),
    why: ofOtherAmount,
  } as const
  const other = otherSuccess(payment, given, given.amount ?? amount)
  if (other !== undefined) return { payment, outcome, alongside: [other] }
  const alongside = [otherAmountHeld(payment, given.amount ?? amount)]
  return { payment: withSuccess(engine, payment, given), outcome, alongside }
}

/** A word about another operation under the key is known by these references. */
function withSuccess(engine: Engine, payment: Payment, given: Approved): Payment {
  const named = namedIn(engine, payment, given)
  const refs = { ...payment.answer.refs, ...refsLearned(payment, given) }
  return { ...payment, answer: { ...payment.answer, refs, ...(named !== undefined && { named }) } }
}
