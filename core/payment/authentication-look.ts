/**
 * Looks at a payment in its authentication: at the end of its time, when its process died, or when the
 * authenticator has an answer. No acquirer is asked and nothing is reversed, because no acquirer knows of
 * it. Safe to run any number of times: only the holder of the lease moves it.
 */
import { limits, type Reason } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { enquire } from '../three-d-secure/ask.ts'
import type { Said } from '../three-d-secure/checked.ts'
import { authenticationRequest } from '../three-d-secure/request.ts'
import { timerOf } from '../timer/store.ts'
import {
  authenticationAbandoned,
  cancelled,
  conclude,
  end,
  isAnswer,
  isTooLongBack,
  type UnderWay,
} from './authenticate.ts'
import { isPastItsEnd, underWay } from './authentication-return.ts'
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
  // A question is for the word of an acquirer, and there is none.
  if (why === 'question') {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return payment
  }
  const isOver = why === 'expiry'
  // A cardholder who confirms after the end is charged for nothing, so nobody is asked.
  if (isDecoupled(payment) && (isOver || (await isPastItsEnd(engine, payment)))) {
    return abandon(engine, attemptKey, taken, 'expiry')
  }
  const isAway = taken.returned_ms === null && !isDecoupled(payment) && payment.state === 'pending'
  if (isAway && !isOver) {
    return isOwn ? waitOn(engine, payment, taken.lease) : askAboutShopper(engine, attemptKey, taken)
  }
  // The process died before its answer reached the shopper, or the shopper came back too long ago.
  if (!isDecoupled(payment) && isTooLongBack(taken.returned_ms)) {
    return abandon(engine, attemptKey, taken, isOver ? 'expiry' : 'authentication')
  }
  return ask(engine, attemptKey, taken, isOwn, isOver)
}

const isDecoupled = ({ answer }: Payment): boolean => answer.authentication?.isDecoupled === true

async function waitOn(engine: Engine, payment: Payment, lease: number): Promise<Payment> {
  await engine.lanes.single(waitForShopper(payment.attemptKey, lease))
  return payment
}

/**
 * An event tells of a shopper who is still away. A failed challenge is over. A confirmed one waits for
 * the shopper, who brings the payment back to the process that holds the code of the card.
 */
async function askAboutShopper(
  engine: Engine,
  attemptKey: string,
  taken: LeaseRow,
): Promise<Payment> {
  const { at, said } = await enquireUnder(engine, attemptKey, taken)
  if (said.is === 'failed' || said.is === 'cancelled') return conclude(engine, at, said)
  return waitOn(engine, at.payment, at.lease)
}

async function enquireUnder(
  engine: Engine,
  attemptKey: string,
  taken: LeaseRow,
): Promise<{ readonly at: UnderWay; readonly said: Said }> {
  const at = await underWay(engine, attemptKey, taken).catch(async (error: unknown) => {
    // The authenticator is not installed: the end of its time finds the lease free.
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    throw error
  })
  const { payment, target } = at
  await faultPoint('before-enquiry', payment.id)
  const request = authenticationRequest(engine, payment, payment.answer.authentication!, undefined)
  const said = await enquire(engine, at, target, request)
  await faultPoint('authenticated', payment.id)
  return { at, said }
}

async function ask(
  engine: Engine,
  attemptKey: string,
  taken: LeaseRow,
  isOwn: boolean,
  isOver: boolean,
): Promise<Payment> {
  const { at, said } = await enquireUnder(engine, attemptKey, taken)
  const { payment, lease } = at
  const isEnd = isAnswer(said) && said.is !== 'shopper' && said.is !== 'decoupled'
  if (!isEnd && isOver) return abandon(engine, attemptKey, taken, 'expiry')
  if (said.is === 'shopper' && !isDecoupled(payment)) {
    // The shopper came back too early, and may still go again.
    return waitOn(engine, payment, lease)
  }
  // The issuer of a decoupled authentication may want a challenge after all.
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

/**
 * The end that this job was sent for was that of the authentication: the payment went on since, which
 * removed the timer. A job that names no timer ends nothing, because the timer sends another one.
 */
export async function isOfAuthentication(
  engine: Engine,
  { answer, attemptKey }: Payment,
  timerId: string | undefined,
): Promise<boolean> {
  if (answer.authentication === undefined) return false
  if (timerId === undefined) return true
  return (await engine.lanes.single(timerOf(timerId, 'expire', attemptKey))).length === 0
}
