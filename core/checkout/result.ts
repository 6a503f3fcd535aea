/** What a merchant reads of a checkout: the payment in its slot, or that there is none yet. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { isPending, resultDescription } from '@tollgate/schemas'
import type { Answered, ViewOf } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import { embedder } from '../caller/embedder.ts'
import { wireTimestamp } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { isOpen } from '../payment/late-word-table.ts'
import { readPayment } from '../payment/payments.ts'
import { paymentView } from '../payment/view.ts'
import { textOf } from '../request/values.ts'
import { removeTimer } from '../timer/store.ts'
import { findFor, noSession, nowOf, withPayment } from './find.ts'
import type { Checkout } from './types.ts'

const open = '000.200.000'

/** The payment in a checkout, or the checkout alone while it has none. */
export type CheckoutResultView = ViewOf<'checkouts.payment'>

/** @throws GatewayError 200.300.404: 404 unknown, 400 expired or removed without a payment. */
export async function readResult(
  engine: Engine,
  caller: Caller,
  id: string,
  fields: RequestFields,
  build: string,
): Promise<CheckoutResultView> {
  const checkout = await findFor(engine, caller, id, textOf(fields, 'entityId'))
  const { payment } = await withPayment(engine, checkout)
  if (payment === null) {
    if (checkout.removedAt !== null) throw noSession('the checkout was removed')
    if (checkout.expiresAt <= (await nowOf(engine, checkout))) {
      throw noSession('the checkout has expired')
    }
    return aboutCheckout(checkout, open, build, new Date(engine.clock.realMs()))
  }
  const done = await readPayment(engine, embedder, payment.id, undefined)
  const view = paymentView(done.payment, done.balance, id, build)
  if (!isOpen(done.payment.state)) {
    // The merchant knows the end of this payment: its page is not called about it.
    await engine.lanes.single(removeTimer('callback', payment.id))
    return view
  }
  if (isPending(view.result.code) && view.result.code !== open) {
    view.result = { ...view.result, code: open, description: resultDescription(open) }
  }
  return view
}

/** An answer about the checkout itself. */
export function aboutCheckout(
  { id }: Checkout,
  code: string,
  buildNumber: string,
  now: Date,
  more: { readonly integrity?: string } = {},
): Answered & { integrity?: string } {
  return {
    id,
    result: { code, description: resultDescription(code) },
    ...more,
    buildNumber,
    timestamp: wireTimestamp(now),
    ndc: id,
  }
}
