/**
 * People's decisions about late successes: money that moved on a payment already answered as over.
 */

import { fenceLate, undoOf } from '../attention/store.ts'
import type { Actor } from '../audit/actor.ts'
import { auditUnderLease } from '../audit/store.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { fitsWire } from '../money.ts'
import { movedBy } from '../payment/amount-moved.ts'
import { isChargedBack } from '../payment/dispute-fact.ts'
import { endLate, held, keepLate } from '../payment/late-move.ts'
import { holderOfSlot } from '../payment/store-in-checkout.ts'
import { balanceById, holdsInstant, replacedBy } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'

/** The actor of a decision, and the reason. */
export type Decision = {
  readonly by: Actor
  readonly remarks: Readonly<Record<string, string>>
}

export const refused = (why: string) => new GatewayError('700.400.570', { description: why })

/**
 * `approved` keeps the money, `declined` states that the money was given back by hand.
 *
 * @throws GatewayError 400 700.400.570 when the money cannot be kept, during a reversal, or after a
 * concurrent decision.
 */
export async function decideLate(
  engine: Engine,
  payment: Payment,
  as: 'approved' | 'declined',
  { by, remarks }: Decision,
): Promise<void> {
  const { lanes } = engine
  const [fence] = await lanes.single(fenceLate(payment.attemptKey))
  if (fence === undefined) throw refused('another process works on it now')
  const now = await held(engine, payment.attemptKey)
  if (now?.attempt.state !== 'late' || now.attempt.lease !== fence.lease) throw decidedElsewhere()
  const [undo] = await lanes.single(undoOf(payment.id))
  // A reversal may still fail; an operator may have seen its failure in the acquirer's own books.
  const isSeen = as === 'declined' && undo?.state === 'approved' && undo.final_by !== null
  if (undo !== undefined && !isSeen) {
    throw refused(
      `its reversal ${undo.id} is ${undo.state}: that ends it, tollgate payment redrive`,
    )
  }
  if (as === 'approved') await refuseUnlessKept(engine, now.payment)
  const { lease } = fence
  const detail = { ...remarks, as, lease }
  const action = as === 'approved' ? 'payment.kept' : 'payment.given-back'
  const moved =
    as === 'approved'
      ? await keepLate(engine, now, by, detail)
      : await endLate(engine, now, by, action, detail)
  if (moved) return
  // A decision whose answer was lost was run again, and found itself made.
  const [own] = await lanes.single(auditUnderLease(payment.id, by.name ?? by.id, action, lease))
  if (own === undefined) throw decidedElsewhere()
}

const decidedElsewhere = () => refused('another operator or process decided it at this moment')

/** Money can be kept only when the payment can still count, beside all later changes. */
async function refuseUnlessKept(engine: Engine, payment: Payment): Promise<void> {
  const { lanes } = engine
  const moved = movedBy(payment)
  if (moved.currency !== payment.amount.currency) {
    throw refused('it was done in another currency: this one is given back')
  }
  if (payment.parentId !== null && moved.minor !== payment.amount.minor) {
    throw refused('it was done for another amount: this one is given back')
  }
  if (!fitsWire(moved.minor, moved.currency)) {
    throw refused('it was done for an amount that two decimals cannot say: this one is given back')
  }
  if (await isChargedBack(engine, payment)) {
    throw refused('it was charged back: the payer has the money already')
  }
  const [replacement] = await lanes.single(replacedBy(payment.id))
  const [parent] =
    payment.effect === 'replacement' ? await lanes.single(balanceById(payment.parentId!)) : []
  const isReplaced = parent?.closed_by != null && parent.closed_by !== payment.id
  if (replacement !== undefined || isReplaced) {
    throw refused('another authorisation stands in its place: this one is given back')
  }
  // A shopper may have paid the checkout again since.
  if (payment.checkoutId !== null) {
    const [slot] = await lanes.single(holderOfSlot(payment.checkoutId))
    if (slot !== undefined && slot.payment_id !== payment.id) {
      throw refused('another payment was made in its checkout: this one is given back')
    }
  }
  // The instant of a schedule may have been charged by another payment since.
  if (payment.scheduleId === null) return
  const [holder] = await lanes.single(holdsInstant(payment.id, payment.scheduleId))
  if (holder !== undefined) return
  throw refused('another payment was charged in its place: this one is given back')
}
