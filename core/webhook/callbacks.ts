/** Calls of the pages that shoppers of a checkout go on to. */
import { checkoutById, toCheckout } from '../checkout/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { resourceOf } from '../payment/resource.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import { takeTimer } from '../timer/store.ts'
import { addCallback } from './store-replay.ts'

/**
 * Calls the page of a checkout whose result nobody has read within 29 minutes: GET with `id` and
 * `resourcePath`, under the guard and the ladder of webhooks. Safe to run twice: the call is written
 * with the end of its timer.
 */
export async function callShopperResult(engine: Engine, checkoutId: string): Promise<void> {
  const [row] = await engine.lanes.single(checkoutById(checkoutId))
  const checkout = row === undefined ? undefined : toCheckout(row)
  const [paid] =
    checkout?.paymentId == null
      ? []
      : await engine.lanes.single(paymentById(checkout.paymentId, null))
  const taken = takeTimer('callback', checkoutId)
  if (checkout?.resultUrl == null || paid === undefined) {
    await engine.lanes.single(taken)
    return
  }
  const payment = toPayment(paid)
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
