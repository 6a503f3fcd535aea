/**
 * A shopper returns from a bank, perhaps twice, in another browser or on another host. The engine trusts
 * nothing that the browser brings. It asks the connector under the attempt's lease, and sends the shopper
 * on to the merchant in every case.
 */
import type { Redirect } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { isId, newId } from '../ids.ts'
import { mayBeAuthenticating, returnFromAuthentication } from '../payment/authentication-return.ts'
import { isOpen } from '../payment/late-word-table.ts'
import { takeAttempt } from '../payment/lease.ts'
import { rebuildAttempt } from '../payment/rebuild-attempt.ts'
import { resolve } from '../payment/resolve.ts'
import { completeReturn } from '../payment/send.ts'
import { settle } from '../payment/settle.ts'
import { paymentById, paymentWithLease, toPayment } from '../payment/store-read.ts'
import { dropLease } from '../payment/store-settle.ts'
import type { Payment } from '../payment/types.ts'
import type { ReturnPlace } from '../vault/return-tokens.ts'
import { pageToReturnTo } from './page.ts'
import { markReturned } from './store.ts'

/** What the browser brings. */
export type Brought = {
  readonly method: 'GET' | 'POST'
  readonly query: Readonly<Record<string, string>>
  /** Fields of a form that was posted; empty otherwise. */
  readonly form: Readonly<Record<string, string>>
}

/** Where the shopper goes. */
export type Onward =
  /** To the merchant's page. */
  | { readonly to: 'merchant'; readonly location: string }
  /** Out of the frame: the widget moves the tab. */
  | {
      readonly to: 'frame'
      readonly checkout: string
      readonly location: string | undefined
    }
  /** To the next page of an authentication. */
  | {
      readonly to: 'next'
      readonly redirect: Redirect['redirect']
      readonly inFrame?: true
    }
  /** Nowhere: the merchant named no page. The page of the checkout, where there is one, shows the result. */
  | { readonly to: 'nowhere'; readonly checkout?: string }

/** @returns undefined for an unknown payment or a wrong token. */
export async function comeBack(
  engine: Engine,
  paymentId: string,
  token: string,
  brought: Brought,
): Promise<Onward | undefined> {
  const now = await readHeld(engine, paymentId)
  if (now === undefined) return undefined
  const { payment } = now
  const place = engine.vault.returnTokens.placeOf(payment.attemptKey, token)
  if (place === undefined) return undefined
  if (isOpen(payment.state)) await conclude(engine, now, brought)
  return (await nextPage(engine, payment, place)) ?? (await onward(engine, payment, place))
}

/** After a step of an authentication another one may follow, which is on another page. */
async function nextPage(
  engine: Engine,
  before: Payment,
  place: ReturnPlace,
): Promise<Onward | undefined> {
  if (!mayBeAuthenticating(before)) return undefined
  const now = await read(engine, before.id)
  const redirect = now?.state === 'pending' ? now.answer.redirect : undefined
  if (now === undefined || redirect === undefined) return undefined
  const { checkoutId } = before
  if (place === 'frame' && checkoutId !== null && !mayBeAuthenticating(now)) {
    // The acquirer's own page needs the whole tab, and the widget takes it there.
    return { to: 'frame', checkout: checkoutId, location: undefined }
  }
  const isSame = JSON.stringify(redirect) === JSON.stringify(before.answer.redirect)
  if (isSame) return undefined
  const next = { to: 'next', redirect: redirect as Redirect['redirect'] } as const
  return place === 'frame' ? { ...next, inFrame: true } : next
}

async function read(engine: Engine, paymentId: string): Promise<Payment | undefined> {
  const [row] = isId(paymentId) ? await engine.lanes.read(paymentById(paymentId, null)) : []
  return row === undefined ? undefined : toPayment(row)
}

/** A payment with the number of its last lease. */
type Seen = {
  readonly payment: Payment
  readonly lease: number
  /** Somebody may still settle it under that lease. */
  readonly isHeld: boolean
}

async function readHeld(engine: Engine, paymentId: string): Promise<Seen | undefined> {
  const [row] = isId(paymentId) ? await engine.lanes.read(paymentWithLease(paymentId)) : []
  if (row === undefined) return undefined
  return { payment: toPayment(row), lease: row.lease, isHeld: row.lease_until !== null }
}

/** Asks the connector, or waits a few seconds for another process that already asks. */
async function conclude(engine: Engine, seen: Seen, brought: Brought): Promise<void> {
  const untilMs = engine.clock.elapsedMs() + limits.shopperReturnWaitMs
  let now: Seen | undefined = seen
  while (now !== undefined && isOpen(now.payment.state)) {
    const { payment } = now
    // Only the end of the reversal decides: the shopper's return moves no money any more.
    if (payment.answer.reversal !== undefined) return
    const isDone = engine.shopperQuestions.may(payment.id)
      ? await ask(engine, now, brought)
      : await postpone(engine, payment)
    if (isDone) return
    if (engine.inFlight.over || engine.clock.elapsedMs() >= untilMs) return
    await new Promise((resume) => setTimeout(resume, lookAgainMs))
    now = await readHeld(engine, payment.id)
  }
}

const lookAgainMs = 100

/**
 * The shopper came back too often at once. The issuer may have confirmed the last return, so a job asks after the
 * pause; an acquirer is asked by its own looks.
 *
 * @returns false while somebody holds the lease.
 */
async function postpone(engine: Engine, payment: Payment): Promise<boolean> {
  if (!mayBeAuthenticating(payment)) return true
  const { attemptKey } = payment
  const { pauseMs } = limits.shopperQuestions
  return (await engine.lanes.single(markReturned(attemptKey, newId(), pauseMs))).length > 0
}

/** @returns false while another process holds the lease, and after another one had it meanwhile. */
async function ask(engine: Engine, seen: Seen, brought: Brought): Promise<boolean> {
  const { payment } = seen
  const { attemptKey } = payment
  let last = seen.lease
  if (mayBeAuthenticating(payment)) {
    // Its question takes a lease as well.
    last += 1
    const back = await returnFromAuthentication(engine, payment, brought)
    if (back === true) engine.shopperQuestions.count(payment.id)
    if (back !== undefined) return back
  }
  const enquired = await enquireOnly(engine, payment)
  if (enquired !== undefined) return enquired
  const taken = await takeAttempt(engine, attemptKey, 'question')
  if (taken === undefined) return false
  if (seen.isHeld || taken.lease !== last + 1) {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return false
  }
  // Again under the lease: a return before this one may have asked the last question.
  if (!engine.shopperQuestions.may(payment.id)) {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return true
  }
  engine.shopperQuestions.count(payment.id)
  await faultPoint('after-lease', payment.id)
  try {
    const work = await rebuildAttempt(engine, payment, taken.lease)
    const { refs = {}, memo } = payment.answer
    const back = { ...brought, refs, ...(memo === undefined ? {} : { memo }) }
    const said = await completeReturn(engine, work, back)
    if (said !== undefined && said.is !== payment.state) {
      await settle(engine, work, said, 'return', taken.enquiries)
      return true
    }
  } catch (error) {
    leaveOpen(engine, payment, error)
  }
  // Still open: the next return or enquiry asks again.
  await leave(engine, payment, taken.lease)
  return true
}

/** Gives the lease back. A payment that waits for no shopper is listed first: whoever asks about one lists it. */
async function leave(
  engine: Engine,
  { id, attemptKey, state }: Payment,
  lease: number,
): Promise<void> {
  if (state !== 'pending') {
    const detail = { why: 'undecided after the return of its shopper' }
    await engine.lanes.single(
      addAttention(newId(), 'undecided', id, attemptKey, limits.unknownAlarmMs, detail),
    )
  }
  await engine.lanes.single(dropLease(attemptKey, lease))
}

/**
 * A connector without `complete` gets an ordinary enquiry. So does the acquirer of a reversal whose process died
 * with the answer.
 *
 * @returns undefined where the connector itself concludes a return. True where it is not installed here.
 */
async function enquireOnly(engine: Engine, payment: Payment): Promise<boolean | undefined> {
  try {
    const { connector } = (await engine.targets.of(payment, undefined)).loaded
    if (connector.complete !== undefined && payment.answer.asked !== true) return undefined
    engine.shopperQuestions.count(payment.id)
    const after = await resolve(engine, payment.attemptKey, 'question')
    return after !== undefined && !isOpen(after.state)
  } catch (error) {
    leaveOpen(engine, payment, error)
    return true
  }
}

/** The shopper still goes on to the merchant, and a later enquiry asks again. */
function leaveOpen(engine: Engine, { id }: Payment, error: unknown): void {
  engine.log.warn({ payment: id, error: nameOf(error) }, 'a return was not concluded')
}

/** @param payment as it was when the shopper arrived. */
async function onward(engine: Engine, payment: Payment, place: ReturnPlace): Promise<Onward> {
  const location = await pageToReturnTo(engine, payment)
  if (place === 'frame' && payment.checkoutId !== null) {
    return { to: 'frame', checkout: payment.checkoutId, location }
  }
  if (location !== undefined) return { to: 'merchant', location }
  const { checkoutId } = payment
  return checkoutId === null ? { to: 'nowhere' } : { to: 'nowhere', checkout: checkoutId }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)
