/** What a shopper's browser learns: a state and where to go, never a decline code. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { mayBeAuthenticating } from '../payment/authentication-return.ts'
import { isOpen } from '../payment/late-words.ts'
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
  readonly state: 'paid' | 'declined' | 'waiting' | 'busy' | 'closed' | 'invalid'
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
  readonly resultUrl?: string
}

export async function stateView(engine: Engine, held: Held): Promise<StateView> {
  const state = await stateOf(engine, held)
  const isOver = state === 'paid' || state === 'closed'
  return {
    state,
    ...(state === 'busy' ? redirectOf(held.payment) : {}),
    ...(isOver ? whereOver(held, state) : {}),
  }
}

/** The reply about a try that became this payment. */
export async function replyAbout(
  engine: Engine,
  held: Held,
  payment: Payment | null,
): Promise<Submitted> {
  if (payment === null) return { state: 'closed', ...whereTo(held, null) }
  if (payment.state === 'approved') return { state: 'paid', ...whereTo(held, payment) }
  if (isOpen(payment.state)) return { state: 'waiting', ...redirectOf(payment) }
  const state = await stateOf(engine, held)
  // Another try has paid, or is under way.
  if (state === 'paid') return { state, ...whereOver(held, state) }
  if (state === 'busy') return { state, ...redirectOf(held.payment) }
  const left = Math.max(0, await triesLeft(engine, held.checkout))
  return state === 'closed'
    ? { state: 'declined', attemptsLeft: 0, ...whereTo(held, payment) }
    : { state: 'declined', attemptsLeft: left }
}

/** The reply about a try that was counted and became no payment: that of any decline. */
export async function replyOfRefusal(engine: Engine, held: Held): Promise<Submitted> {
  const state = await stateOf(engine, held)
  if (state === 'paid' || state === 'busy') return replyOfState(engine, held)
  const attemptsLeft = Math.max(0, await triesLeft(engine, held.checkout))
  return state === 'closed'
    ? { state: 'declined', attemptsLeft: 0, ...whereTo(held, null) }
    : { state: 'declined', attemptsLeft }
}

/** The reply about a checkout that takes no try now. */
export async function replyOfState(engine: Engine, held: Held): Promise<Submitted> {
  const state = await stateOf(engine, held)
  if (state === 'paid' || state === 'closed') return { state, ...whereOver(held, state) }
  return { state: 'busy', ...redirectOf(held.payment) }
}

function redirectOf(payment: Payment | null): Pick<Submitted, 'redirect' | 'inFrame'> {
  const redirect = payment?.state === 'pending' ? payment.answer.redirect : undefined
  if (redirect === undefined) return {}
  // Only challenges fit into a frame: a bank's own page needs the whole tab.
  const isFrame =
    mayBeAuthenticating(payment!) &&
    textOf(payment!.request as RequestFields, 'challenge') === 'frame'
  return isFrame ? { redirect, inFrame: true } : { redirect }
}

/**
 * The merchant's page, with the names of what to read there; the own query of the page is kept.
 *
 * @param payment whose page counts where the checkout names none: of this very press, or one that paid.
 * A failed try of somebody else sends nobody anywhere.
 */
function whereTo({ checkout }: Held, payment: Payment | null): { resultUrl?: string } {
  const page = ownPageOf(checkout) ?? textOf((payment?.request ?? {}) as RequestFields, pageField)
  return page === undefined ? {} : { resultUrl: withResource(page, checkout) }
}

const pageField = 'shopperResultUrl'

/** The page of a checkout that is over. */
const whereOver = (held: Held, state: State) =>
  whereTo(held, state === 'paid' ? held.payment : null)

export function withResource(page: string, checkout: Pick<Checkout, 'id' | 'kind'>): string {
  const location = new URL(page)
  location.searchParams.append('id', checkout.id)
  location.searchParams.append('resourcePath', pathOfCheckout(checkout.id, checkout.kind))
  return location.href
}
