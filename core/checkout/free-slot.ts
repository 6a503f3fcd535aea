/**
 * A shopper who gave up a bank's page presses the pay button again. An authentication ends at once,
 * because no acquirer knows of it. After a redirect to a bank the slot becomes free only when the
 * acquirer proves that the first try can take no money any more.
 */
import type { Engine } from '../engine.ts'
import { mayBeAuthenticating } from '../payment/authentication-return.ts'
import { isAway, resolve } from '../payment/resolve.ts'
import { stageOf } from '../payment/store-go-on.ts'
import type { Payment } from '../payment/types.ts'

export async function freeSlot(engine: Engine, payment: Payment): Promise<void> {
  if (!isAway(payment) && !(await isAuthenticating(engine, payment))) return
  // Every press is a question and a reversal at the acquirer; returns are counted apart.
  const key = `press ${payment.id}`
  if (!engine.shopperQuestions.may(key)) return
  engine.shopperQuestions.count(key)
  await resolve(engine, payment.attemptKey, 'new-try')
}

/** No acquirer knows of a payment in its authentication. One past it is an acquirer's like any other. */
async function isAuthenticating(engine: Engine, payment: Payment): Promise<boolean> {
  if (!mayBeAuthenticating(payment)) return false
  const [attempt] = await engine.lanes.single(stageOf(payment.attemptKey))
  return attempt?.stage === 'authentication'
}
