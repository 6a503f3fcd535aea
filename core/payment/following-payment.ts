/** The row of a follow-up in its first commit. */
import { businessNow } from '../business-time/time.ts'
import type { Engine } from '../engine.ts'
import { idTimeMs } from '../ids.ts'
import type { Payment } from './types.ts'

/** The columns of a payment before its outcome. */
export const undecided = {
  state: 'processing',
  resultCode: '000.200.001',
  approvedMinor: null,
  finalBy: null,
  settledAt: null,
  answer: {},
} as const satisfies Partial<Payment>

type Own = Pick<Payment, 'id' | 'amount' | 'paymentType' | 'effect' | 'request'> & Partial<Payment>

/** Uses the channel, acquirer and clock of the referenced payment, unless `own` overrides them. */
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
    // In real time, `createdAt` equals the time in the id, since searches order by the id alone.
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
    checkoutId: null,
    clockId,
    ...undecided,
    ...own,
  }
}
