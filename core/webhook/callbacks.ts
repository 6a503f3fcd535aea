/** Calls of the pages that shoppers of a checkout go on to. */
import { checkoutById, toCheckout } from '../checkout/store.ts'
import type { Checkout } from '../checkout/types.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { isOpen } from '../payment/late-words.ts'
import { resourceOf } from '../payment/resource.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { takeTimer } from '../timer/store.ts'
import { addCallback } from './store-replay.ts'

/**
 * Calls the page of a checkout whose result nobody has read within 29 minutes: GET with `id` and
 * `resourcePath`, under the guard and the ladder of webhooks. The page is told about an end, so an
 * open payment keeps its timer: the end of the payment makes it due. Safe to run twice: the call is written
 * with the end of its timer.
 */
export async function callShopperResult(engine: Engine, paymentId: string): Promise<void> {
  const [row] = await engine.lanes.single(paymentById(paymentId, null))
  const payment = row === undefined ? undefined : toPayment(row)
  const checkout = await checkoutOf(engine, payment)
  const taken = takeTimer('callback', paymentId)
  // A payment that follows in the checkout has a call of its own.
  if (checkout?.resultUrl == null || payment === undefined || checkout.paymentId !== payment.id) {
    await engine.lanes.single(taken)
    return
  }
  if (isOpen(payment.state)) return
  const { id, path } = resourceOf(payment)
  const now = new Date(engine.clock.realMs())
  const call = addCallback({
    id: newId(),
    channelId: payment.channelId,
    origin: new URL(checkout.resultUrl).origin,
    dueAt: now,
    now,
    callback: JSON.stringify({ url: checkout.resultUrl, id, resourcePath: path }),
  })
  await engine.lanes.together(taken, [call])
}

async function checkoutOf(
  engine: Engine,
  payment: Payment | undefined,
): Promise<Checkout | undefined> {
  if (payment?.checkoutId == null) return undefined
  const [row] = await engine.lanes.single(checkoutById(payment.checkoutId))
  return row === undefined ? undefined : toCheckout(row)
}
