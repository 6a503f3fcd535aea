/** What a shopper's browser learns: a state and where to go, never a decline code. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { mayBeAuthenticating } from '../payment/authentication-return.ts'
import { isOpen } from '../payment/late-word-table.ts'
import { isListed, withResource } from '../payment/merchant-page.ts'
import { pathOfCheckout } from '../payment/resource.ts'
import type { Answer, Payment } from '../payment/types.ts'
import { textOf } from '../request/values.ts'
import { ownPageOf } from './complete-request.ts'
import { stateOf, triesLeft } from './find.ts'
import type { Checkout, Held, State } from './types.ts'

export type FieldFault = {
  readonly field: string
  readonly reason: 'required' | 'invalid' | 'expired'
}

/** The answer to a submission. */
export type Submitted = {
  readonly state: 'paid' | 'declined' | 'waiting' | 'busy' | 'closed' | 'invalid' | 'changed'
  /** The merchant's page, with id and resourcePath; for a checkout that is over. */
  readonly resultUrl?: string
  /** The shopper has to act there. */
  readonly redirect?: Answer['redirect']
  /** The redirect opens in the frame of the widget. */
  readonly inFrame?: true
  readonly errors?: readonly FieldFault[]
  readonly attemptsLeft?: number
}

/** The answer to a question about the state. */
export type StateView = {
  readonly state: State
  readonly redirect?: Answer['redirect']
  readonly inFrame?: true
  /** Only the acquirer is awaited: the shopper may go on to the result page, which reads pending. */
  readonly awaited?: true
  readonly resultUrl?: string
}

/** @param nonce of the press that asks: its own payment tells it more than others. */
export async function stateView(engine: Engine, held: Held, nonce?: string): Promise<StateView> {
  const state = await stateOf(engine, held)
  const isOver = state === 'paid' || state === 'closed'
  return {
    state,
    ...(state === 'busy'
      ? { ...redirectFor(held, nonce), ...(await awaitedOf(engine, held)) }
      : {}),
    ...(isOver ? await whereOver(engine, held, state, nonce) : {}),
  }
}

/** The reply about a try that became this payment, to the press that made it. */
export async function replyAbout(
  engine: Engine,
  held: Held,
  payment: Payment,
  nonce: string,
): Promise<Submitted> {
  if (payment.state === 'approved') {
    return { state: 'paid', ...(await whereTo(engine, held, payment, true)) }
  }
  if (isOpen(payment.state)) return { state: 'waiting', ...redirectOf(payment) }
  const state = await stateOf(engine, held)
  // Another try has paid, or is under way.
  if (state === 'paid' || state === 'busy') return replyOfState(engine, held, nonce)
  const left = Math.max(0, await triesLeft(engine, held.checkout))
  return state === 'closed'
    ? { state: 'declined', attemptsLeft: 0, ...(await whereTo(engine, held, payment, true)) }
    : { state: 'declined', attemptsLeft: left }
}

/** The reply about a try that was counted and became no payment: that of any decline. */
export async function replyOfRefusal(engine: Engine, held: Held): Promise<Submitted> {
  const state = await stateOf(engine, held)
  if (state === 'paid' || state === 'busy') return replyOfState(engine, held)
  const attemptsLeft = Math.max(0, await triesLeft(engine, held.checkout))
  return state === 'closed'
    ? { state: 'declined', attemptsLeft: 0, ...(await whereTo(engine, held, null, false)) }
    : { state: 'declined', attemptsLeft }
}

/** The reply about a checkout that takes no try now. */
export async function replyOfState(engine: Engine, held: Held, nonce?: string): Promise<Submitted> {
  const state = await stateOf(engine, held)
  if (state === 'paid' || state === 'closed') {
    return { state, ...(await whereOver(engine, held, state, nonce)) }
  }
  return { state: 'busy', ...redirectFor(held, nonce) }
}

/** The way to the bank, for the press that made the payment: a stranger's payment would lead others astray. */
const redirectFor = ({ checkout, payment }: Held, nonce: string | undefined) =>
  payment !== null && isOf(checkout, payment, nonce) ? redirectOf(payment) : {}

/** Whether a press made a payment of the checkout. */
function isOf({ nonces, earlier, paymentId }: Checkout, { id }: Payment, nonce?: string): boolean {
  const ids = [...earlier, paymentId]
  return ids.some((one, at) => one === id && nonces[at] === nonce)
}

function redirectOf(payment: Payment): Pick<Submitted, 'redirect' | 'inFrame'> {
  const redirect = payment.state === 'pending' ? payment.answer.redirect : undefined
  if (redirect === undefined) return {}
  // Only challenges fit into a frame: a bank's own page needs the whole tab.
  const isFrame =
    mayBeAuthenticating(payment) &&
    textOf(payment.request as RequestFields, 'challenge') === 'frame'
  return isFrame ? { redirect, inFrame: true } : { redirect }
}

/**
 * An open payment that the acquirer has to finish. While it is being sent, a challenge may still follow.
 * The page that a form named counts for its own shopper, and its widget knows that page.
 */
async function awaitedOf(
  engine: Engine,
  held: Held,
): Promise<Pick<StateView, 'awaited' | 'resultUrl'>> {
  const { payment } = held
  const isAwaited =
    (payment?.state === 'pending' || payment?.state === 'unknown') &&
    payment.answer.redirect === undefined
  return isAwaited ? { awaited: true, ...(await whereTo(engine, held, null, false)) } : {}
}

/**
 * The merchant's page, with the names of what to read there; the own query of the page is kept.
 *
 * @param payment whose page counts where the checkout names none: of this very press, or one that paid.
 * A failed try of somebody else sends nobody anywhere.
 * @param isOwn The press that asks made this payment. Others go only to a page that the merchant's list allows now.
 */
async function whereTo(
  engine: Engine,
  { checkout }: Held,
  payment: Payment | null,
  isOwn: boolean,
): Promise<{ resultUrl?: string }> {
  const path = pathOfCheckout(checkout.id, checkout.kind)
  const onward = (page: string) => ({ resultUrl: withResource(page, { id: checkout.id, path }) })
  const own = ownPageOf(checkout)
  if (own !== undefined) return onward(own)
  const named = textOf((payment?.request ?? {}) as RequestFields, 'shopperResultUrl')
  if (payment === null || named === undefined) return {}
  const of = [checkout.entityId, payment.channelId]
  const settings = await Promise.all(of.map((id) => engine.directory.settings(id)))
  return (isListed(settings, named) ?? isOwn) ? onward(named) : {}
}

/** The page of a checkout that is over. */
function whereOver(
  engine: Engine,
  held: Held,
  state: State,
  nonce: string | undefined,
): Promise<{ resultUrl?: string }> {
  const { checkout, payment } = held
  const isOwn = payment !== null && isOf(checkout, payment, nonce)
  return whereTo(engine, held, state === 'paid' || isOwn ? payment : null, isOwn)
}
