/** People's decisions about payments that cannot be decided in any other way. */

import { resolveAttention, timeLeft, waitingWord } from '../attention/store.ts'
import { otherAmountsOf } from '../attention/store-told.ts'
import { addAudit, auditById } from '../audit/store.ts'
import { businessNow } from '../business-time/time.ts'
import { outcomeUnknown } from '../db/database.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { hasLostItsSlot } from '../payment/in-checkout.ts'
import { isOpen, isOver } from '../payment/late-word-table.ts'
import { givenBack } from '../payment/late-word-treatment.ts'
import { takeAttempt } from '../payment/lease.ts'
import { referencedBy, returnsOf } from '../payment/rebuild-attempt.ts'
import { withOperators } from '../payment/reference-origin.ts'
import { settle } from '../payment/settle.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import { dropLease } from '../payment/store-settle.ts'
import { refuseCapture } from '../payment/two-step.ts'
import type { Attempt, Payment } from '../payment/types.ts'
import { busy, type Decision, namesOf, refused } from './late-success.ts'
import { refuseOthers } from './references.ts'

const meanwhile = ({ state }: Payment) => `the payment became ${state} meanwhile`

/** The code of a payment that an operator declined without proof. */
export const undecidable = '900.100.300'

/** @throws GatewayError 400 700.400.570 when something else may still decide it. */
export async function refuseUnlessUndecided(
  engine: Engine,
  payment: Payment,
  attempt: Attempt,
): Promise<void> {
  if (!isOpen(payment.state)) {
    throw refused(`the payment is ${payment.state} already, and a decision is final`)
  }
  if (!(await isConnectorGone(engine, payment))) {
    if (payment.state === 'pending' && (await hasTime(engine, payment))) {
      throw refused(
        'the payment is pending: its shopper may still finish it, and it expires by itself',
      )
    }
    if (attempt.enquiries + attempt.questions === 0) {
      throw refused('the acquirer was not asked yet. Ask first: tollgate payment enquire')
    }
  }
  const [word] = await engine.lanes.single(waitingWord(payment.attemptKey))
  if (word === undefined) return
  throw refused(
    `a message of the acquirer about this payment is not processed yet (event ${word.event_id}). Try again once it is, or retry it: tollgate attention retry`,
  )
}

/** No connector can answer an enquiry or end the payment. */
async function isConnectorGone({ targets }: Engine, payment: Payment): Promise<boolean> {
  try {
    await targets.of(payment, undefined)
    return false
  } catch (error) {
    if (error instanceof GatewayError) return true
    throw error
  }
}

async function hasTime(engine: Engine, payment: Payment): Promise<boolean> {
  const now = await businessNow(engine, payment.channelId, payment.clockId)
  return (await engine.lanes.single(timeLeft(payment.attemptKey, now))).length > 0
}

/**
 * @throws GatewayError 400 700.400.570 while another process works on the payment, or when the
 * acquirer did something else.
 */
export async function settleUndecided(
  engine: Engine,
  payment: Payment,
  as: 'approved' | 'declined',
  decision: Decision,
): Promise<{ readonly payment: Payment; readonly text: string }> {
  const { by, remarks, references } = decision
  // The lease is the fence: an answer, an event or another operator that comes now finds it taken.
  const taken = await takeAttempt(engine, payment.attemptKey, 'word')
  if (taken === undefined) {
    const now = await current(engine, payment)
    throw refused(isOpen(now.state) ? busy : meanwhile(now))
  }
  const auditId = newId()
  try {
    // Read under the lease: no other process moves the payment from here on.
    const now = await current(engine, payment)
    if (as === 'approved' && taken.stage === 'authentication') {
      throw refused(
        'the shopper is still being authenticated, and the acquirer did not receive the payment. It can only be settled as declined',
      )
    }
    if (as === 'approved') await refuseOtherAmount(engine, now)
    // The connector may be gone, which is why people decide, so no call is made.
    const returns = returnsOf(now, await referencedBy(engine, now))
    // The references are of the same commit: the next step of a two-step payment needs them.
    if (references !== undefined) refuseOthers(now, references)
    const answer = references === undefined ? now.answer : withOperators(now.answer, references)
    const work = { payment: { ...now, answer }, lease: taken.lease, begun: null, returns }
    const outcome =
      as === 'approved'
        ? ({ is: 'approved', refs: answer.refs ?? {} } as const)
        : ({ is: 'declined', reason: undecidable } as const)
    const detail = { ...remarks, ...namesOf(decision), as, lease: taken.lease }
    const isSecond = await hasLostItsSlot(engine, now, outcome)
    // Settling as declined states that other amounts were given back, so no second return happens.
    const others = await engine.lanes.single(otherAmountsOf(now.id))
    const source = as === 'declined' && others.length > 0 ? givenBack : 'operator'
    const settled = await settle(engine, work, outcome, source, taken.enquiries, [
      addAudit({
        id: auditId,
        actor: by,
        action: 'payment.settled',
        entityId: now.channelId,
        resource: now.id,
        before: { state: now.state },
        after: { state: isSecond ? 'declined' : as },
        detail: isSecond ? { ...detail, why: paidByAnother } : detail,
      }),
      resolveAttention(now.id, 'undecided', by.name ?? by.id),
    ])
    if (!settled.moved) throw refused(meanwhile(settled.payment))
    return told(settled.payment, as)
  } catch (error) {
    if (outcomeUnknown(error) && (await isOnRecord(engine, auditId)))
      return told(await current(engine, payment), as)
    // Without a decision the right to make one goes back at once.
    await engine.lanes.single(dropLease(payment.attemptKey, taken.lease))
    throw error
  }
}

const paidByAnother = 'the shopper paid the checkout with another payment'

/** An approval is a late success where another payment has the slot of the checkout. */
const told = (payment: Payment, as: 'approved' | 'declined') => ({
  payment,
  text:
    as === 'approved' && isOver(payment.state)
      ? `${paidByAnother}, so the money is a late success: listed, and taken back`
      : `settled as ${as}`,
})

/** Refuses an approval of the requested amount when another amount moved. */
async function refuseOtherAmount({ lanes }: Engine, payment: Payment): Promise<void> {
  const others = await lanes.single(otherAmountsOf(payment.id))
  if (others.length === 0) return
  const amounts = others.map(({ detail }) => `${detail.minor} minor units of ${detail.currency}`)
  throw refused(
    `the acquirer approved another amount: ${amounts.join(' and ')}. Give that money back at the acquirer and settle the payment as declined, or enquire again`,
  )
}

/**
 * Ends a two-step payment without a capture: the capture is declined on record, and the engine
 * releases the authorisation. The capture's id decides between this and a concurrent begin of the
 * capture.
 *
 * @returns the capture.
 * @throws GatewayError 400 700.400.570 when a capture exists, or for `approved`.
 */
export async function endSteps(
  engine: Engine,
  authorisation: Payment,
  as: 'approved' | 'declined',
  { by, remarks }: Decision,
): Promise<Payment> {
  const captureId = authorisation.chainId!
  const begun = () =>
    refused(`the payment has its capture ${captureId} already, and a decision is final`)
  const [row] = await engine.lanes.single(paymentById(captureId, null))
  if (row !== undefined) throw begun()
  if (as === 'approved') {
    throw refused('nothing was captured, so the payment can only be settled as declined')
  }
  const auditId = newId()
  try {
    const { payment, isWritten } = await refuseCapture(engine, authorisation, 0, [
      addAudit({
        id: auditId,
        actor: by,
        action: 'payment.settled',
        entityId: authorisation.channelId,
        resource: captureId,
        after: { state: as },
        detail: { ...remarks, as },
      }),
      resolveAttention(authorisation.id, 'unreversed', by.name ?? by.id, 'next-step'),
    ])
    if (!isWritten) throw begun()
    return payment
  } catch (error) {
    if (outcomeUnknown(error) && (await isOnRecord(engine, auditId))) {
      return current(engine, { id: captureId })
    }
    throw error
  }
}

const isOnRecord = async ({ lanes }: Engine, auditId: string): Promise<boolean> =>
  (await lanes.single(auditById(auditId))).length > 0

async function current({ lanes }: Engine, { id }: Pick<Payment, 'id'>): Promise<Payment> {
  const [row] = await lanes.single(paymentById(id, null))
  if (row === undefined) throw new GatewayError('700.400.580', { status: 404 })
  return toPayment(row)
}
