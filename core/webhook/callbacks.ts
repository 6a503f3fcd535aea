/** Calls of the pages that shoppers of a checkout go on to. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { pageToCall } from '../checkout/page.ts'
import { checkoutById, toCheckout } from '../checkout/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { isOpen } from '../payment/late-word-table.ts'
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
  const page = payment === undefined ? undefined : await pageOf(engine, payment)
  const taken = takeTimer('callback', paymentId)
  if (payment === undefined || page === undefined) {
    await engine.lanes.single(taken)
    return
  }
  if (isOpen(payment.state)) return
  const { id, path } = resourceOf(payment)
  const now = new Date(engine.clock.realMs())
  const call = addCallback({
    id: newId(),
    channelId: payment.channelId,
    origin: new URL(page).origin,
    dueAt: now,
    now,
    callback: JSON.stringify({ url: page, id, resourcePath: path }),
  })
  await engine.lanes.together(taken, [call])
}

/** A payment that follows in the checkout has a call of its own. */
async function pageOf(engine: Engine, payment: Payment): Promise<string | undefined> {
  if (payment.checkoutId === null) return undefined
  const [row] = await engine.lanes.single(checkoutById(payment.checkoutId))
  if (row === undefined || row.payment_id !== payment.id) return undefined
  const of = [row.entity_id, payment.channelId]
  const settings = await Promise.all(of.map((id) => engine.directory.settings(id)))
  return pageToCall(settings, toCheckout(row), payment.request as RequestFields)
}
