/**
 * A shopper who gave up a bank's page presses the pay button again. The slot becomes free only when
 * the acquirer proves that the first try can take no money any more.
 */
import type { Engine } from '../engine.ts'
import { resolve } from '../payment/resolve.ts'
import type { Payment } from '../payment/types.ts'

export async function freeSlot(engine: Engine, payment: Payment): Promise<void> {
  if (payment.state !== 'pending' || payment.answer.redirect === undefined) return
  await resolve(engine, payment.attemptKey, 'new-try')
}
