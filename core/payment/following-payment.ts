/** A payment that refers to another one, as its first commit writes it. */
import { businessNow } from '../business-time/time.ts'
import type { Engine } from '../engine.ts'
import { idTimeMs } from '../ids.ts'
import type { Payment } from './types.ts'

/** What every payment is before anything is known of it. */
export const undecided = {
  state: 'processing',
  resultCode: '000.200.001',
  approvedMinor: null,
  finalBy: null,
  settledAt: null,
  answer: {},
} as const satisfies Partial<Payment>

type Own = Pick<Payment, 'id' | 'amount' | 'paymentType' | 'effect' | 'request'> & Partial<Payment>

/** On the channel, the acquirer and the clock of the payment that it refers to, unless `own` says otherwise. */
export async function followingPayment(
  engine: Engine,
  target: Payment,
  own: Own,
): Promise<Payment> {
  const { channelId, accountId, mode, method, brand, connector, clockId } = target
  return {
    channelId,
    entityId: channelId,
    rootId: own.id,
    parentId: null,
    referencedId: target.id,
    chainId: null,
    accountId,
    shortNo: await engine.shortNumbers.take(),
    // In real time a payment is created at the time in its id: searches order by the id alone.
    createdAt:
      clockId === null ? new Date(idTimeMs(own.id)) : await businessNow(engine, channelId, clockId),
    mode,
    method,
    brand,
    connector,
    attemptKey: own.id,
    merchantTransactionId: null,
    registrationId: null,
    scheduleId: null,
    clockId,
    ...undecided,
    ...own,
  }
}
