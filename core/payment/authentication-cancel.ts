/** Ends an authentication that its shopper gave up, so that the shopper may pay in another way. */
import type { Engine } from '../engine.ts'
import { cancelled, end } from './authenticate.ts'
import { mayBeAuthenticating } from './authentication-return.ts'
import { takeAttempt } from './lease.ts'
import { paymentByAttempt, toPayment } from './store-read.ts'
import { dropLease } from './store-settle.ts'
import type { Payment } from './types.ts'

export type Cancelled =
  /** Ended now, as the shopper's cancellation. No acquirer knew of it. */
  | { readonly is: 'cancelled'; readonly payment: Payment }
  /** Another process works on it at this moment. */
  | { readonly is: 'busy' }
  /** The authentication is over: an acquirer may know of the payment, or the payment has ended. */
  | { readonly is: 'past' }

export async function cancelAuthentication(engine: Engine, given: Payment): Promise<Cancelled> {
  if (!mayBeAuthenticating(given)) return { is: 'past' }
  const { attemptKey } = given
  const taken = await takeAttempt(engine, attemptKey, 'word')
  const [row] = await engine.lanes.single(paymentByAttempt(attemptKey))
  const payment = row === undefined ? given : toPayment(row)
  if (taken === undefined) return { is: mayBeAuthenticating(payment) ? 'busy' : 'past' }
  if (taken.stage !== 'authentication') {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return { is: 'past' }
  }
  const outcome = { is: 'declined', reason: cancelled } as const
  const { lease, enquiries } = taken
  return { is: 'cancelled', payment: await end(engine, { lease, enquiries }, payment, outcome) }
}
