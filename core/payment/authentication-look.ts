/**
 * Looks at a payment in its authentication: at the end of its time, when its process died, or when the
 * authenticator has an answer. No acquirer is asked and nothing is reversed, because no acquirer knows of
 * it. Safe to run any number of times: only the holder of the lease moves it.
 */
import { limits, type Reason } from '@tollgate/schemas'
import { businessNow } from '../business-time/time.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { enquire } from '../three-d-secure/ask.ts'
import { authenticationRequest } from '../three-d-secure/request.ts'
import { dueTimer } from '../timer/store.ts'
import {
  authenticationAbandoned,
  cancelled,
  conclude,
  end,
  isAnswer,
  isTooLongBack,
  type UnderWay,
} from './authenticate.ts'
import { underWay } from './authentication-return.ts'
import { waitForShopper } from './store-go-on.ts'
import { paymentByAttempt, toPayment } from './store-read.ts'
import { dropLease, type LeaseRow, lookLater } from './store-settle.ts'
import type { Payment, Source } from './types.ts'

export type Look = 'look' | 'expiry' | 'question' | 'new-try'

/** @returns the payment afterwards. */
export async function lookAtAuthentication(
  engine: Engine,
  attemptKey: string,
  taken: LeaseRow,
  why: Look,
  isOwn: boolean,
): Promise<Payment> {
  if (why === 'new-try') return abandon(engine, attemptKey, taken, 'authentication', cancelled)
  const [row] = await engine.lanes.single(paymentByAttempt(attemptKey))
  if (row === undefined) throw new Error('the payment of the attempt is gone')
  const payment = toPayment(row)
  const isDecoupled = payment.answer.authentication?.isDecoupled === true
  // A question is for the word of an acquirer, and there is none.
  if (why === 'question') {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return payment
  }
  const isOver = why === 'expiry'
  // A cardholder who confirms after the end is charged for nothing, so nobody is asked.
  if (isDecoupled && (isOver || (await isPastItsEnd(engine, payment)))) {
    return abandon(engine, attemptKey, taken, 'expiry')
  }
  const isAway = taken.returned_ms === null && !isDecoupled && payment.state === 'pending'
  if (isAway && !isOver) {
    await engine.lanes.single(waitForShopper(attemptKey, taken.lease))
    return payment
  }
  // The process died before its answer reached the shopper, or the shopper came back too long ago.
  if (!isDecoupled && isTooLongBack(taken.returned_ms)) {
    return abandon(engine, attemptKey, taken, isOver ? 'expiry' : 'authentication')
  }
  return ask(engine, attemptKey, taken, isOwn, isOver)
}

/** The timer of the end was due: a job of it may still wait behind this look. */
async function isPastItsEnd(
  engine: Engine,
  { attemptKey, channelId, clockId }: Payment,
): Promise<boolean> {
  const now = await businessNow(engine, channelId, clockId)
  return (await engine.lanes.single(dueTimer('expire', attemptKey, now))).length > 0
}

async function ask(
  engine: Engine,
  attemptKey: string,
  taken: LeaseRow,
  isOwn: boolean,
  isOver: boolean,
): Promise<Payment> {
  const at: UnderWay = await underWay(engine, attemptKey, taken)
  const { payment, lease, target } = at
  await faultPoint('before-enquiry', payment.id)
  const request = authenticationRequest(engine, payment, payment.answer.authentication!, undefined)
  const said = await enquire(engine, at, target, request)
  await faultPoint('authenticated', payment.id)
  const isEnd = isAnswer(said) && said.is !== 'shopper' && said.is !== 'decoupled'
  if (!isEnd && isOver) return abandon(engine, attemptKey, taken, 'expiry')
  if (said.is === 'shopper') {
    // The shopper came back too early, and may still go again.
    await engine.lanes.single(waitForShopper(attemptKey, lease))
    return payment
  }
  if (isAnswer(said) && said.is !== 'decoupled') return conclude(engine, at, said)
  const pauseMs =
    said.is === 'decoupled'
      ? Math.min(Math.max(said.poll, limits.pollMs.min), limits.pollMs.max)
      : limits.returnedLookMs
  await engine.lanes.single(lookLater(attemptKey, lease, newId(), Math.ceil(pauseMs), isOwn))
  return payment
}

/** The time of the authentication is over, or its process died. Nothing is anywhere. */
async function abandon(
  engine: Engine,
  attemptKey: string,
  { lease, enquiries }: LeaseRow,
  source: Source,
  reason: Reason = authenticationAbandoned,
): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentByAttempt(attemptKey))
  if (row === undefined) throw new Error('the payment of the attempt is gone')
  const outcome = { is: 'declined', reason } as const
  return end(engine, { lease, enquiries }, toPayment(row), outcome, source)
}
