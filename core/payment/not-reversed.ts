/**
 * A reversal by key failed: the acquirer has the money of a payment that nobody wants any more. The
 * payment ends as a late success that could not be taken back. Nothing is sent; an operator decides.
 */
import type { Money } from '@tollgate/plugin-kit'
import type { Reason } from '@tollgate/schemas'
import { otherAmountsOf } from '../attention/store-told.ts'
import type { Engine } from '../engine.ts'
import { isSameAmount } from './amount-moved.ts'
import { refsOfSuccess } from './another-operation.ts'
import { cannotBeUndone } from './balance-rules.ts'
import { decide, provenNotCharged } from './decide.ts'
import { type NotReversed, standing } from './late-stands.ts'
import { lateMove } from './late-word-move.ts'
import { lateAccepted } from './late-word-treatment.ts'
import { type Settled, settle } from './settle.ts'
import { heldAfter, type Settling } from './settle-row.ts'
import type { Payment, Source } from './types.ts'

/**
 * Ends an open payment: over and late in one commit, so that neither a checkout nor a balance is free
 * in between. Moves nothing unless `work.lease` holds.
 *
 * @param about `code` of the payment, for a request without a record; the amount that a message told.
 */
export async function endAsLate(
  engine: Engine,
  work: Settling,
  said: NotReversed,
  source: Source,
  enquiries: number,
  about: { readonly code?: Reason; readonly told?: Money } = {},
): Promise<Settled> {
  const { payment } = work
  const reason = payment.answer.reversal?.code ?? about.code ?? provenNotCharged
  const refs = refsOfSuccess(payment, said)
  const outcome = { is: 'declined', reason, refs } as const
  const decision = decide(payment, outcome, 0, payment.createdAt)
  const over = heldAfter(work, decision, 'not-reversed', enquiries)
  const amount = await amountHeld(engine, payment, about.told)
  const { statement } = await lateMove(engine, over, {
    source: lateAccepted,
    to: cannotBeUndone.has(payment.effect) ? 'done' : 'open',
    attempt: 'late',
    late: { outcome: { ...said, refs }, amount },
    isNotReversed: true,
    ...(await standing(engine, payment, said, source, amount)),
  })
  return settle(engine, work, outcome, 'not-reversed', enquiries, [statement])
}

/**
 * The amount that the acquirer has: another amount of a message, else the amount of an approval that is
 * held. Undefined: the requested one.
 */
async function amountHeld(
  { lanes }: Engine,
  { id, amount }: Payment,
  told: Money | undefined,
): Promise<Money | undefined> {
  if (told !== undefined && !isSameAmount(told, amount)) return told
  const [other] = await lanes.single(otherAmountsOf(id))
  if (other === undefined) return undefined
  return { minor: BigInt(other.detail.minor ?? 0), currency: other.detail.currency ?? '' }
}
