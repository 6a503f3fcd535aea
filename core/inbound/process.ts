/** What an acquirer's event does to a payment. Safe to run twice: `settle` needs a lease, marks are conditional. */
import type { Outcome } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { recordChargeback } from '../payment/chargeback.ts'
import { failLater } from '../payment/fail-later.ts'
import { recordConflict } from '../payment/late-success.ts'
import { takeAttempt } from '../payment/lease.ts'
import { rebuild } from '../payment/rebuild.ts'
import { resolve } from '../payment/resolve.ts'
import { checked } from '../payment/send.ts'
import { settle } from '../payment/settle.ts'
import { paymentByAttempt, toPayment } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { closeEvent, type InboundRow } from './store.ts'

export async function processEvent(engine: Engine, row: InboundRow): Promise<void> {
  const done = await apply(engine, row)
  if (done === 'wait') return
  await engine.lanes.single(closeEvent(row.connector, row.account, row.event_id, done))
}

type Done =
  | 'wait'
  | 'settled'
  | 'known'
  | 'enquired'
  | 'unknown-key'
  | 'other-account'
  | 'recorded'
  | 'conflict'

async function apply(engine: Engine, row: InboundRow): Promise<Done> {
  const { claim } = row
  const [found] = await engine.lanes.single(paymentByAttempt(claim.key))
  if (found === undefined) return 'unknown-key'
  const payment = toPayment(found)
  const account = payment.accountId ?? 'internal'
  if (payment.connector !== row.connector || account !== row.account) return 'other-account'
  const isSame =
    claim.minor === String(payment.amount.minor) && claim.currency === payment.amount.currency
  const isUndecided =
    payment.state === 'processing' || payment.state === 'pending' || payment.state === 'unknown'
  const { is } = claim.outcome
  if (is === 'chargeback' || is === 'chargebackReversal') {
    if (!claim.verified) return 'enquired'
    await recordChargeback(engine, payment, is, row)
    return 'recorded'
  }
  if (!isUndecided) return afterwards(engine, payment, row, isSame)
  if (!claim.verified || !isSame) {
    const after = await resolve(engine, claim.key, 'enquiry')
    return after?.state === 'processing' ? 'wait' : 'enquired'
  }
  const taken = await takeAttempt(engine, claim.key)
  // Whoever sends has the word first: the event waits for the end of that lease.
  if (taken === undefined) return 'wait'
  const work = await rebuild(engine, payment, taken.lease)
  const { moved } = await settle(engine, work, asOutcome(claim.outcome), 'event', taken.enquiries)
  return moved ? 'settled' : 'wait'
}

/** The payment is decided: the event repeats it, ends an accepted one, or contradicts it. */
async function afterwards(
  engine: Engine,
  payment: Payment,
  row: InboundRow,
  isSame: boolean,
): Promise<Done> {
  const { is } = row.claim.outcome
  const saysApproved = is === 'approved' || is === 'accepted'
  if (payment.state === 'approved' && saysApproved && isSame) return 'known'
  if (payment.state === 'declined' && is === 'declined') return 'known'
  if (is === 'pending' || is === 'unknown' || is === 'notSent') return 'known'
  if (!row.claim.verified) return 'known'
  if (payment.state === 'approved' && is === 'declined' && payment.finalBy !== null) {
    await failLater(engine, payment, asOutcome(row.claim.outcome))
    return 'settled'
  }
  const outcome = asOutcome(row.claim.outcome)
  const work = await rebuild(engine, payment, 0).catch(() => undefined)
  await recordConflict(engine, payment, work, outcome, 'event')
  return 'conflict'
}

function asOutcome(stored: InboundRow['claim']['outcome']): Outcome {
  return checked({
    ...stored,
    ...(typeof stored.expiresAt === 'string' ? { expiresAt: new Date(stored.expiresAt) } : {}),
    amount: undefined,
  })
}
