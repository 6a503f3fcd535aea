/**
 * People's decisions about late successes: money that moved on a payment already declined or expired.
 */

import type { Refs } from '@tollgate/plugin-kit'
import { fenceLate, undoOf } from '../attention/store.ts'
import type { Actor } from '../audit/actor.ts'
import { auditUnderLease } from '../audit/store.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { fitsWire } from '../money.ts'
import { movedBy } from '../payment/amount-moved.ts'
import { isChargedBack } from '../payment/dispute-fact.ts'
import { endLate, held, keepLate } from '../payment/late-word-move.ts'
import { holderOfSlot } from '../payment/store-in-checkout.ts'
import { balanceById, holdsExecution, replacedBy } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'

/** The actor of a decision, and the reason. */
export type Decision = {
  readonly by: Actor
  readonly remarks: Readonly<Record<string, string>>
  /** The acquirer's references of a payment that is settled as approved. */
  readonly references?: Refs
}

/** The names of a decision's references, for its audit row. */
export const namesOf = ({ references }: Decision) =>
  references === undefined ? {} : { references: Object.keys(references) }

export const refused = (why: string) => new GatewayError('700.400.570', { description: why })

/** Another process holds the lease. */
export const busy = 'another process works on this payment now. Try again in a minute'

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
  decision: Decision,
): Promise<void> {
  const { by, remarks, references } = decision
  const { lanes } = engine
  const [fence] = await lanes.single(fenceLate(payment.attemptKey))
  if (fence === undefined) throw refused(busy)
  const now = await held(engine, payment.attemptKey)
  if (now?.attempt.state !== 'late' || now.attempt.lease !== fence.lease) throw decidedElsewhere()
  const [undo] = await lanes.single(undoOf(payment.id))
  // The reversal took place, or it may still fail and the operator saw its end in the acquirer's own books.
  const isSeen = as === 'declined' && undo?.state === 'approved'
  if (undo !== undefined && !isSeen) {
    throw refused(
      `the engine already reverses this payment (reversal ${undo.id}, ${undo.state}). Wait for the reversal, or run its work again: tollgate payment redrive ${payment.id}`,
    )
  }
  if (as === 'approved') await refuseUnlessKept(engine, now.payment)
  const { lease } = fence
  const detail = { ...remarks, ...namesOf(decision), as, lease }
  const action = as === 'approved' ? 'payment.kept' : 'payment.given-back'
  const moved =
    as === 'approved'
      ? await keepLate(engine, now, by, detail, references)
      : await endLate(engine, now, by, action, detail)
  if (moved) return
  // A decision whose answer was lost was run again, and found itself made.
  const [own] = await lanes.single(auditUnderLease(payment.id, by.name ?? by.id, action, lease))
  if (own === undefined) throw decidedElsewhere()
}

export const decidedElsewhere = () =>
  refused(
    'another operator or process decided this payment at the same moment. Look at it again: tollgate inspect',
  )

/** The only way that remains: the money goes back by hand, and the payment is settled as declined. */
const cannotBeKept = (why: string) =>
  refused(
    `the money cannot be kept: ${why}. Give the money back at the acquirer, then settle the payment as declined`,
  )

/** Money can be kept only when the payment can still count, beside all later changes. */
async function refuseUnlessKept(engine: Engine, payment: Payment): Promise<void> {
  const { lanes } = engine
  if (payment.answer.asked === true) {
    throw refused(
      `the acquirer was asked to reverse it by its key, and no answer says how that ended, so the money may be back already. Run its work again: tollgate payment redrive ${payment.id}. Or settle the payment as declined, once the money is back`,
    )
  }
  const moved = movedBy(payment)
  if (moved.currency !== payment.amount.currency) {
    throw cannotBeKept('the money moved in another currency than requested')
  }
  if (payment.parentId !== null && moved.minor !== payment.amount.minor) {
    throw cannotBeKept('another amount moved than requested')
  }
  if (!fitsWire(moved.minor, moved.currency)) {
    throw cannotBeKept('the amount that moved has more than two decimals')
  }
  if (await isChargedBack(engine, payment)) {
    throw cannotBeKept('the payment was charged back, so the payer has the money already')
  }
  const [replacement] = await lanes.single(replacedBy(payment.id))
  const [parent] =
    payment.effect === 'replacement' ? await lanes.single(balanceById(payment.parentId!)) : []
  const isReplaced = parent?.closed_by != null && parent.closed_by !== payment.id
  if (replacement !== undefined || isReplaced) {
    throw cannotBeKept('another authorisation replaced this one')
  }
  // A shopper may have paid the checkout again since.
  if (payment.checkoutId !== null) {
    const [slot] = await lanes.single(holderOfSlot(payment.checkoutId))
    if (slot !== undefined && slot.payment_id !== payment.id) {
      throw cannotBeKept('the shopper paid the checkout with another payment')
    }
  }
  // Another payment may have been made for the due time of a schedule since.
  if (payment.scheduleId === null) return
  const [holder] = await lanes.single(holdsExecution(payment.id, payment.scheduleId))
  if (holder !== undefined) return
  throw cannotBeKept('a later payment was made for this due time of the schedule')
}
