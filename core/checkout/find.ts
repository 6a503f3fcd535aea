/** Finds a checkout and derives its state from the payment in its slot. */
import { noPaymentSession } from '@tollgate/schemas'
import { businessNow } from '../business-time/time.ts'
import type { Caller } from '../caller/caller.ts'
import { embedder } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isCheckoutId } from '../ids.ts'
import { isOpen } from '../payment/late-word-table.ts'
import { holdsMoney } from '../payment/store-in-checkout.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import type { AttemptState } from '../payment/types.ts'
import { mostTries } from './channels.ts'
import { attemptStateOf, checkoutById, toCheckout } from './store.ts'
import type { Checkout, Held, State } from './types.ts'

/** @throws GatewayError 404 200.300.404: deployed clients look for its text. */
export async function find(engine: Engine, id: string): Promise<Checkout> {
  const [row] = isCheckoutId(id) ? await engine.lanes.single(checkoutById(id)) : []
  if (row === undefined) throw unknown()
  return toCheckout(row)
}

/** The same for a caller, who sees checkouts of its own entities only. */
export async function findFor(
  engine: Engine,
  caller: Caller,
  id: string,
  entityId: string | undefined,
): Promise<Checkout> {
  const checkout = await find(engine, id)
  if (!(await engine.directory.acts(caller, checkout.entityId))) throw unknown()
  if (entityId !== undefined && entityId !== checkout.entityId) {
    const [asked, own] = await Promise.all([
      engine.directory.visible(caller, entityId),
      engine.directory.visible(caller, checkout.entityId),
    ])
    if (!own?.every((channel) => asked?.includes(channel))) throw unknown()
  }
  return checkout
}

export const noSession = (why: string, status = 400): GatewayError =>
  new GatewayError('200.300.404', { status, description: `${noPaymentSession}: ${why}` })

const unknown = () => noSession('there is no such checkout', 404)

export async function held(engine: Engine, id: string): Promise<Held> {
  return withPayment(engine, await find(engine, id))
}

export async function withPayment(engine: Engine, checkout: Checkout): Promise<Held> {
  const [row] =
    checkout.paymentId === null
      ? []
      : await engine.lanes.single(paymentById(checkout.paymentId, null))
  const late =
    checkout.earlier.length === 0 ? [] : await engine.lanes.single(holdsMoney(checkout.id))
  const earlierHoldsMoney = late.length > 0
  if (row === undefined) return { checkout, payment: null, attempt: null, earlierHoldsMoney }
  const payment = toPayment(row)
  const [attempt] = await engine.lanes.single(attemptStateOf(payment.attemptKey))
  const state = (attempt?.state ?? null) as AttemptState | null
  return { checkout, payment, attempt: state, earlierHoldsMoney }
}

export const nowOf = (engine: Engine, { entityId, clockId }: Checkout): Date | Promise<Date> =>
  businessNow(engine, entityId, clockId)

/** @param nonce of the press that asks: its second payment is no further try. */
export async function stateOf(
  engine: Engine,
  { checkout, payment, attempt, earlierHoldsMoney }: Held,
  nonce?: string,
): Promise<State> {
  if (payment?.state === 'approved') return 'paid'
  if (checkout.removedAt !== null) return 'closed'
  // A late success is taken back before anybody may pay again.
  if (earlierHoldsMoney || attempt === 'late') return 'busy'
  if (payment !== null && isOpen(payment.state)) return 'busy'
  const isNext = nonce === undefined || !checkout.nonces.includes(nonce)
  if (isNext && (await triesLeft(engine, checkout)) <= 0) return 'closed'
  return checkout.expiresAt > (await nowOf(engine, checkout)) ? 'free' : 'closed'
}

/** A try is a press: the second payment after a soft decline belongs to it. */
export async function triesLeft(engine: Engine, checkout: Checkout): Promise<number> {
  const most = mostTries(await engine.directory.addressee(embedder, checkout.entityId))
  return most - new Set(checkout.nonces).size - checkout.refusals
}
