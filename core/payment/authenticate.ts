/**
 * Authenticates the shopper of a payment before any acquirer knows of it, and goes on to the money in
 * one commit under the lease. Until that commit nothing has moved, so every loss ends the payment, and
 * none charges. From it on the attempt is one like any other.
 */
import type { Authentication, Card, Money, Outcome } from '@tollgate/plugin-kit'
import { limits, type Reason } from '@tollgate/schemas'
import { businessNow } from '../business-time/time.ts'
import { outcomeUnknown } from '../db/database.ts'
import { storable } from '../db/json.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import type { AuthenticatorTarget } from '../routing/targets.ts'
import { begin } from '../three-d-secure/ask.ts'
import { factsOf, type Said } from '../three-d-secure/checked.ts'
import { proofOf } from '../three-d-secure/proof.ts'
import { amountOf, authenticationRequest, wayBack } from '../three-d-secure/request.ts'
import { isWithoutPayment } from '../three-d-secure/wanted.ts'
import type { AttemptContext } from './attempt-context.ts'
import { callTime, endOf } from './call-time.ts'
import { checked } from './checked-outcome.ts'
import { provenNotCharged, undecidedCode } from './decide.ts'
import { execute, settleUnsent } from './execute.ts'
import { mayPay } from './in-checkout.ts'
import { placeOf, storedInstrument } from './instrument.ts'
import { leaseMs } from './lease.ts'
import { kindOf, operationOf } from './rebuild-attempt.ts'
import { settle, settleOrKeep } from './settle.ts'
import { goOnToMoney, stageOf } from './store-go-on.ts'
import { paymentById, toPayment } from './store-read.ts'
import { continueChain } from './two-step.ts'
import type { Payment, Source } from './types.ts'

export const notAuthenticated = '100.380.401'
export const authenticationAbandoned = '100.380.501'
export const cancelled = '100.396.101'
const unavailable = '100.390.112'
const notEnrolled = '000.400.109'
const otherAmount = '100.390.101'

/** An authentication under way, with the right to settle its attempt. */
export type UnderWay = {
  readonly payment: Payment
  readonly lease: number
  readonly enquiries: number
  readonly target: AuthenticatorTarget
  /** The whole attempt, in the process of its first commit. */
  readonly first?: AttemptContext
}

/** Authenticates the shopper of a payment that was just accepted, and pays where that needs no shopper. */
export async function authenticateFirst(engine: Engine, work: AttemptContext): Promise<Payment> {
  const { payment, lease, authenticator: target } = work
  if (target === undefined) throw new Error('the payment has no authenticator')
  const { name } = target.loaded.connector
  const endCall = work.places?.handOver(name) ?? engine.inFlight.begin(name, payment.channelId)
  let said: Said
  try {
    await faultPoint('before-authentication', payment.id)
    const request = authenticationRequest(
      engine,
      payment,
      payment.answer.authentication!,
      cardOf(work),
    )
    said = await begin(engine, { payment, lease }, target, request)
    await faultPoint('authenticated', payment.id)
  } finally {
    endCall()
  }
  const at = { payment, lease, enquiries: 0, target, first: work }
  try {
    return await conclude(engine, at, isAnswer(said) ? said : { is: 'unavailable' })
  } catch (error) {
    // The database did not say whether the payment went on: nothing was sent, and the sweep ends it.
    if (!outcomeUnknown(error)) throw error
    engine.log.warn({ payment: payment.id }, 'an authentication could not be written')
    return payment
  }
}

const cardOf = ({ operation: { instrument } }: AttemptContext): Card | undefined =>
  instrument?.kind === 'card' ? instrument : undefined

/** Whether there is an answer, as opposed to a failed call and an unknown key. */
export const isAnswer = (said: Said): said is Authentication =>
  said.is !== 'unknown' && said.is !== 'notFound'

/** Carries the answer of an authenticator out. */
export async function conclude(
  engine: Engine,
  at: UnderWay,
  said: Authentication,
): Promise<Payment> {
  const payment = withRecord(at.payment, said)
  const decline = (reason: Reason) => end(engine, at, payment, { is: 'declined', reason })
  switch (said.is) {
    case 'authenticated':
    case 'attempted':
    case 'informational':
      if (!isForThePayment(payment, said.amount)) return decline(otherAmount)
      return payment.effect === 'authentication'
        ? end(engine, at, payment, { is: 'approved', refs: {} })
        : goOn(engine, at, payment, said)
    case 'failed':
      return decline(notAuthenticated)
    case 'cancelled':
      return decline(cancelled)
    case 'unavailable': {
      const mayGoOn = payment.effect !== 'authentication' && (await goesOnWithout(engine, payment))
      return mayGoOn ? goOn(engine, at, payment, said) : decline(unavailable)
    }
    case 'notEnrolled':
      return payment.effect === 'authentication'
        ? decline(notEnrolled)
        : goOn(engine, at, payment, said)
    case 'shopper':
    case 'decoupled': {
      const outcome = await waiting(engine, payment, said)
      if (outcome === undefined) return conclude(engine, at, { is: 'unavailable' })
      await holdCode(engine, at.first)
      return end(engine, at, payment, outcome)
    }
  }
}

/** The payment with the answer in its record. Values of an earlier answer stay. */
function withRecord(payment: Payment, said: Authentication): Payment {
  const before = payment.answer.authentication!
  const { isDecoupled: _, ...kept } = before
  const authentication = {
    ...kept,
    ...factsOf(said),
    ...(said.is === 'decoupled' ? { isDecoupled: true as const } : {}),
    ...('memo' in said && said.memo !== undefined ? { memo: said.memo } : {}),
  }
  return { ...payment, answer: { ...payment.answer, authentication } }
}

/** Whether the issuer confirmed the amount that it was asked for, and no less than will be charged. */
function isForThePayment(payment: Payment, named: Money | undefined): boolean {
  const asked = amountOf(payment)
  const isAsAsked =
    named === undefined || (named.minor === asked.minor && named.currency === asked.currency)
  if (!isAsAsked) return false
  if (takesNoMoney(payment)) return true
  return asked.currency === payment.amount.currency && asked.minor >= payment.amount.minor
}

/** A payment that asks for a non-payment authentication still takes its money: the amounts are compared. */
const takesNoMoney = ({ effect, request }: Payment): boolean =>
  effect === 'verification' || (effect === 'authentication' && isWithoutPayment(request as never))

async function goesOnWithout(engine: Engine, { channelId }: Payment): Promise<boolean> {
  return (await engine.directory.settings(channelId)).threeDSecureUnavailable === 'continue'
}

/** The pending outcome; undefined when nobody could follow it. */
async function waiting(
  engine: Engine,
  payment: Payment,
  said: Extract<Authentication, { is: 'shopper' | 'decoupled' }>,
): Promise<Outcome | undefined> {
  const next = said.is === 'shopper' ? said.next : { poll: said.poll }
  const end = said.expiresAt === undefined ? {} : { expiresAt: said.expiresAt }
  const now = await businessNow(engine, payment.channelId, payment.clockId)
  const outcome = checked({ is: 'pending', next, ...end }, now)
  if (outcome.is !== 'pending') return undefined
  if (typeof outcome.next === 'string' || 'poll' in outcome.next) return outcome
  // Without a way back the shopper would never return.
  if (wayBack(engine, payment) === undefined) return undefined
  const { url, preconditions = [] } = outcome.next.redirect
  const isSecure = [url, ...preconditions.map((one) => one.url)].every((one) =>
    one.startsWith('https:'),
  )
  return engine.environment === 'test' || isSecure ? outcome : undefined
}

/** The code waits in this process for its shopper or issuer, and nowhere else. */
async function holdCode(engine: Engine, first: AttemptContext | undefined): Promise<void> {
  const cvv = first === undefined ? undefined : cardOf(first)?.cvv
  if (first === undefined || cvv === undefined) return
  const { attemptKey, channelId } = first.payment
  engine.heldSecrets.put(attemptKey, cvv, await engine.directory.merchantOf(channelId))
}

/** Ends the authentication, or lets it wait. No acquirer knows of the payment. */
export async function end(
  engine: Engine,
  { lease, first, enquiries }: Pick<UnderWay, 'lease' | 'first' | 'enquiries'>,
  payment: Payment,
  outcome: Outcome,
  source: Source = 'authentication',
): Promise<Payment> {
  if (outcome.is !== 'pending') engine.heldSecrets.erase(payment.attemptKey)
  const settling = {
    payment,
    lease,
    begun: first?.begun ?? null,
    returns: null,
    ...(first?.trial === undefined ? {} : { trial: first.trial }),
  }
  if (first !== undefined) return settleOrKeep(engine, settling, outcome, source)
  return (await settle(engine, settling, outcome, source, enquiries)).payment
}

/** Goes on to the money, then sends and settles like any other payment. */
async function goOn(
  engine: Engine,
  at: UnderWay,
  payment: Payment,
  said: Authentication,
): Promise<Payment> {
  const ready = await readyForMoney(engine, at, payment)
  const { redirect: _, ...asked } = payment.answer
  const answer = { ...asked, authentication: { ...asked.authentication!, isOver: true as const } }
  const time = callTime(engine, ready.target.loaded.connector)
  const lease = await takeOn(engine, payment, at.lease, leaseMs(time.timeoutMs), storable(answer))
  if (lease === undefined) return present(engine, payment)
  if (lease === 'refused') {
    return end(engine, at, payment, { is: 'declined', reason: provenNotCharged })
  }
  await faultPoint('gone-on', payment.id)
  const proof = proofOf(said)
  const instrument = ready.instrument ?? withCode(engine, payment, ready.card)
  const work: AttemptContext = {
    payment: { ...payment, state: 'processing', resultCode: undecidedCode, answer },
    lease,
    target: ready.target,
    operation: {
      ...ready.operation,
      ...(instrument === undefined ? {} : { instrument }),
      ...(proof === undefined ? {} : { threeDSecure: proof }),
    },
    begun: begunAgain(at.first),
    returns: null,
    ...(at.first?.trial === undefined ? {} : { trial: at.first.trial }),
    places: at.first?.places,
    ...endOf(engine, time),
  }
  const isUnsent =
    work.operation.kind === 'verify' && ready.target.loaded.connector.verify === undefined
  const done = await (isUnsent ? settleUnsent : execute)(engine, work)
  // The process of the first commit takes the second step itself.
  return at.first === undefined && done.chainId !== null ? continueChain(engine, done) : done
}

type Ready = Pick<AttemptContext, 'target' | 'operation'> & {
  readonly instrument?: AttemptContext['operation']['instrument']
  readonly card?: AttemptContext['operation']['instrument']
}

/** All that the acquirer needs, before the commit: a vault that does not answer ends nothing. */
async function readyForMoney(
  engine: Engine,
  { first }: UnderWay,
  payment: Payment,
): Promise<Ready> {
  if (first !== undefined) {
    const { target, operation } = first
    const { instrument } = operation
    return { target, operation, ...(instrument === undefined ? {} : { instrument }) }
  }
  const target = await engine.targets.of(payment, undefined)
  const operation = await operationOf(engine, payment, kindOf(payment), undefined, undefined)
  const numbers = await engine.vault.unseal(placeOf(payment))
  const card = numbers === undefined ? undefined : storedInstrument(payment, numbers)
  return { target, operation, ...(card === undefined ? {} : { card }) }
}

/** The code is there only in the process that the shopper gave it to. */
function withCode(engine: Engine, { attemptKey }: Payment, card: Ready['card']): Ready['card'] {
  const cvv = engine.heldSecrets.take(attemptKey)
  return card?.kind === 'card' && cvv !== undefined ? { ...card, cvv } : card
}

/** Rows that a failover loses are written again in the stage that they had reached. */
function begunAgain(first: AttemptContext | undefined): AttemptContext['begun'] {
  if (first?.begun?.is !== 'first') return null
  return { is: 'first', row: { ...first.begun.row, authentication: null } }
}

/**
 * @returns the lease of the money; `refused` when the checkout waits for no money of this payment any
 * more; undefined when somebody else moved the attempt.
 */
async function takeOn(
  engine: Engine,
  payment: Payment,
  lease: number,
  ms: number,
  answer: string,
): Promise<number | 'refused' | undefined> {
  const { id, attemptKey, checkoutId } = payment
  await faultPoint('before-going-on', id)
  try {
    const [row] = await engine.lanes.single(
      goOnToMoney(attemptKey, lease, ms, id, checkoutId, answer),
    )
    if (row !== undefined) return row.lease
  } catch (error) {
    if (!outcomeUnknown(error)) throw error
  }
  // Only this commit makes an attempt `sending` again, and only the holder of the lease can run it: an
  // earlier run of it went through, and its answer was lost.
  const [now] = await engine.lanes.single(stageOf(attemptKey))
  const isOurs = now?.stage === 'money' && now.state === 'sending' && now.lease === lease + 1
  if (isOurs) return lease + 1
  const isHeld = now?.stage === 'authentication' && now.lease === lease
  return isHeld && !(await mayPay(engine, payment)) ? 'refused' : undefined
}

async function present(engine: Engine, payment: Payment): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentById(payment.id, null))
  return row === undefined ? payment : toPayment(row)
}

/** Time that the process of a shopper who came back has, before a job ends the payment. */
export const isTooLongBack = (returnedMs: number | null): boolean =>
  returnedMs === null || returnedMs >= limits.returnedMs
