/** The rows that the first commit of a queued payment wrote, for a failover that loses them while it is sent. */
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { noReplay } from './first-rows.ts'
import { leaseMs } from './lease.ts'
import type { AcceptRow, RegisteringRow } from './store-first.ts'
import type { FollowUpRow } from './store-follow-up.ts'
import type { QueuedRow } from './store-queued.ts'
import { accountPart, noticeAt } from './stored-request.ts'
import type { Payment } from './types.ts'
import type { Begun } from './write-again.ts'

export const rowsOfQueued = (engine: Engine, payment: Payment, queued: QueuedRow): Begun =>
  payment.referencedId === null
    ? { is: 'first', row: firstRowOf(engine, payment, queued) }
    : { is: 'follow-up', row: followUpRowOf(engine, payment, queued) }

function firstRowOf(
  engine: Engine,
  payment: Payment,
  queued: QueuedRow,
): AcceptRow | RegisteringRow {
  return {
    id: payment.id,
    channel_id: payment.channelId,
    entity_id: payment.entityId,
    root_id: payment.rootId,
    chain_id: payment.chainId,
    account_id: payment.accountId,
    short_no: payment.shortNo,
    amount_minor: payment.amount.minor,
    created_at: payment.createdAt,
    currency: payment.amount.currency,
    payment_type: payment.paymentType,
    effect: payment.effect,
    mode: payment.mode,
    method: payment.method,
    brand: payment.brand,
    connector: payment.connector,
    merchant_transaction_id: payment.merchantTransactionId,
    request: JSON.stringify(payment.request),
    attempt_key: payment.attemptKey,
    attempt_kind: queued.attempt_kind,
    lease_ms: leaseMs(engine.connectorTimeoutMs),
    data_key_id: queued.data_key_id,
    fingerprint: queued.fingerprint,
    sealed: queued.sealed,
    idempotency_key: queued.idempotency_key,
    idempotency_fingerprint: queued.idempotency_fingerprint,
    registration_id: payment.registrationId,
    schedule_id: payment.scheduleId,
    checkout_id: payment.checkoutId,
    clock_id: payment.clockId,
    // No queued payment is authenticated first, or has a token of a wallet.
    authentication: null,
    ...noReplay,
    ...(queued.made_short_no === null ? {} : registeringPart(payment, queued.made_short_no)),
  }
}

/** The registration that the payment stores. */
const registeringPart = ({ request }: Payment, shortNo: bigint) => ({
  registration_short_no: shortNo,
  registration_request: JSON.stringify(accountPart(request)),
  notice_id: newId(),
  notice_at: noticeAt(request),
})

const followUpRowOf = (engine: Engine, payment: Payment, queued: QueuedRow): FollowUpRow => ({
  payment,
  amountMinor: payment.amount.minor,
  attemptKind: queued.attempt_kind,
  leaseMs: leaseMs(engine.connectorTimeoutMs),
  final: payment.request.sequence === 'FINAL',
  // Limits of the acquirer count for reservations only, and these rows are written whatever it did.
  wholeOnly: false,
  onceOnly: false,
  undoneKey: null,
  dataKeyId: queued.data_key_id,
  fingerprint: queued.fingerprint,
  sealed: queued.sealed,
  idempotencyKey: queued.idempotency_key,
  idempotencyFingerprint: queued.idempotency_fingerprint,
})
