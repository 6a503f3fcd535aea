/**
 * A shopper returns from a bank, perhaps twice, in another browser or on another host. The engine trusts
 * nothing that the browser brings. It asks the connector under the attempt's lease, and sends the shopper
 * on to the merchant in every case.
 */
import type { Redirect } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { isId } from '../ids.ts'
import { mayBeAuthenticating, returnFromAuthentication } from '../payment/authentication-return.ts'
import { isOpen } from '../payment/late-words.ts'
import { takeAttempt } from '../payment/lease.ts'
import { resolve } from '../payment/resolve.ts'
import { resourceOf } from '../payment/resource.ts'
import { resumeAttempt } from '../payment/resume.ts'
import { completeReturn } from '../payment/send.ts'
import { settle } from '../payment/settle.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import { dropLease } from '../payment/store-settle.ts'
import type { Payment } from '../payment/types.ts'
import type { ReturnPlace } from '../vault/return-tokens.ts'

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
  /** Nowhere: the merchant named no page. */
  | { readonly to: 'nowhere' }

/** @returns undefined for an unknown payment or a wrong token. */
export async function comeBack(
  engine: Engine,
  paymentId: string,
  token: string,
  brought: Brought,
): Promise<Onward | undefined> {
  const payment = await read(engine, paymentId)
  if (payment === undefined) return undefined
  const place = engine.vault.returnTokens.placeOf(payment.attemptKey, token)
  if (place === undefined) return undefined
  if (isOpen(payment.state)) await conclude(engine, payment, brought)
  return (await nextPage(engine, payment, place)) ?? onward(payment, place)
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
  if (redirect === undefined) return undefined
  const isSame = JSON.stringify(redirect) === JSON.stringify(before.answer.redirect)
  if (isSame) return undefined
  const next = { to: 'next', redirect: redirect as Redirect['redirect'] } as const
  return place === 'frame' ? { ...next, inFrame: true } : next
}

async function read(engine: Engine, paymentId: string): Promise<Payment | undefined> {
  const [row] = isId(paymentId) ? await engine.lanes.read(paymentById(paymentId, null)) : []
  return row === undefined ? undefined : toPayment(row)
}

/** Asks the connector, or waits a few seconds for another process that already asks. */
async function conclude(engine: Engine, payment: Payment, brought: Brought): Promise<void> {
  const untilMs = engine.clock.elapsedMs() + limits.shopperReturnWaitMs
  for (;;) {
    if (!engine.shopperQuestions.may(payment.id)) return
    if (await ask(engine, payment, brought)) return
    if (engine.inFlight.over || engine.clock.elapsedMs() >= untilMs) return
    await new Promise((resume) => setTimeout(resume, lookAgainMs))
    const now = await read(engine, payment.id)
    if (now === undefined || !isOpen(now.state)) return
  }
}

const lookAgainMs = 100

/** @returns false while another process holds the lease. */
async function ask(engine: Engine, payment: Payment, brought: Brought): Promise<boolean> {
  const { attemptKey } = payment
  if (mayBeAuthenticating(payment)) {
    const back = await returnFromAuthentication(engine, payment, brought)
    if (back === true) engine.shopperQuestions.count(payment.id)
    if (back !== undefined) return back
  }
  // A connector without `complete` gets an ordinary enquiry.
  const { connector } = (await engine.targets.of(payment, undefined)).loaded
  if (connector.complete === undefined) {
    engine.shopperQuestions.count(payment.id)
    const after = await resolve(engine, attemptKey, 'question')
    return after !== undefined && !isOpen(after.state)
  }
  const taken = await takeAttempt(engine, attemptKey, 'question')
  if (taken === undefined) return false
  // Again under the lease: a return before this one may have asked the last question.
  if (!engine.shopperQuestions.may(payment.id)) {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return true
  }
  engine.shopperQuestions.count(payment.id)
  await faultPoint('after-lease', payment.id)
  try {
    const work = await resumeAttempt(engine, payment, taken.lease)
    const { refs = {}, memo } = payment.answer
    const back = { ...brought, refs, ...(memo === undefined ? {} : { memo }) }
    const said = await completeReturn(engine, work, back)
    if (said !== undefined && said.is !== payment.state) {
      await settle(engine, work, said, 'return', taken.enquiries)
      return true
    }
  } catch (error) {
    // The shopper still goes on to the merchant, and a later enquiry asks again.
    engine.log.warn({ payment: payment.id, error: nameOf(error) }, 'a return was not concluded')
  }
  // Still pending: the next return or enquiry asks again.
  await engine.lanes.single(dropLease(attemptKey, taken.lease))
  return true
}

/** The merchant's page with `id` and `resourcePath` added to its query. */
function onward(payment: Payment, place: ReturnPlace): Onward {
  const page = payment.request.shopperResultUrl
  const location = typeof page === 'string' ? new URL(page) : undefined
  const { id, path } = resourceOf(payment)
  location?.searchParams.append('id', id)
  location?.searchParams.append('resourcePath', path)
  if (place === 'frame' && payment.checkoutId !== null) {
    return { to: 'frame', checkout: payment.checkoutId, location: location?.href }
  }
  return location === undefined ? { to: 'nowhere' } : { to: 'merchant', location: location.href }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)
