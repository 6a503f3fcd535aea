/** Builds the row, the sealed numbers and the first commit of a first payment. */
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { idTimeMs, newId } from '../ids.ts'
import type { CheckedAccount } from '../request/account.ts'
import { textOf } from '../request/values.ts'
import type { AuthenticatorTarget, Target } from '../routing/targets.ts'
import type { AuthenticationRecord } from '../three-d-secure/types.ts'
import { attemptKey } from './attempt-key.ts'
import type { Asked, Use } from './first-request.ts'
import { undecided } from './following-payment.ts'
import type { Idempotency } from './idempotency.ts'
import { idempotencyOfTry, slotColumns } from './in-checkout.ts'
import { shownNumbers } from './instrument.ts'
import type { Effect } from './operation-kinds.ts'
import { idempotencyOfExecution } from './scheduled.ts'
import { sealNumbers } from './sealed-numbers.ts'
import type { AcceptRow, RegisteringRow, ReplayColumns, ScheduledRow } from './store-first.ts'
import type { SlotRow } from './store-in-checkout.ts'
import { accountPart, noticeAt, withoutSecrets } from './stored-request.ts'
import type { Payment, StoredRequest } from './types.ts'

/**
 * The attempt's possible keys at the acquirer, from 1; an older payment may have used the first
 * key.
 */
export type KeyOf = (paymentId: string, no: number) => string

export function attemptKeys(
  engine: Engine,
  target: Target,
  { scheduled, inCheckout }: Pick<Use, 'scheduled' | 'inCheckout'>,
  idempotency: Idempotency | null,
): KeyOf {
  const keyedBy =
    scheduled !== undefined
      ? idempotencyOfExecution(scheduled)
      : inCheckout !== undefined
        ? idempotencyOfTry(inCheckout)
        : idempotency
  return (paymentId, no) => attemptKey(engine, target.loaded.connector, paymentId, keyedBy, no)
}

export async function firstPayment(
  engine: Engine,
  channel: Channel,
  asked: Asked,
  target: Target,
  keyOf: KeyOf,
  authenticator: AuthenticatorTarget | undefined,
): Promise<Payment> {
  const { fields } = asked.request
  const { isVerification, paymentType, clockId, use } = asked
  const id = newId()
  const taken = engine.shortNumbers.take()
  return {
    id,
    channelId: channel.id,
    entityId: textOf(fields, 'entityId') ?? channel.id,
    rootId: id,
    parentId: null,
    referencedId: null,
    chainId: asked.isChained ? newId() : null,
    accountId: target.accountId,
    shortNo: typeof taken === 'bigint' ? taken : await taken,
    amount: asked.amount,
    // In real time, `createdAt` equals the time in the id, since searches order by the id alone.
    createdAt: clockId === null ? new Date(idTimeMs(id)) : asked.now,
    paymentType,
    effect: effectOf(paymentType),
    mode: asked.mode,
    method: asked.method,
    brand: asked.brand,
    connector: target.loaded.connector.name,
    attemptKey: keyOf(id, 1),
    merchantTransactionId: textOf(fields, 'merchantTransactionId') ?? null,
    registrationId: isVerification ? id : asked.isStored ? newId() : (use.registrationId ?? null),
    scheduleId: use.scheduled?.scheduleId ?? null,
    checkoutId: use.inCheckout?.checkoutId ?? null,
    clockId,
    ...undecided,
    ...(authenticator === undefined ? {} : { answer: { authentication: recordOf(authenticator) } }),
    request: storedRequest(asked),
  }
}

const effects: Readonly<Record<string, Effect>> = {
  RG: 'verification',
  '3D': 'authentication',
  PA: 'authorisation',
}

const effectOf = (paymentType: string): Effect => effects[paymentType] ?? 'sale'

const recordOf = ({ loaded, accountId }: AuthenticatorTarget): AuthenticationRecord => ({
  by: loaded.connector.name,
  accountId,
})

function storedRequest({ request, numbers, account, brand }: Asked): StoredRequest {
  const stored = withoutSecrets(request.fields, shownNumbers(numbers))
  return isDetected(account) ? { ...stored, brandResult: brand } : stored
}

const isDetected = (account: CheckedAccount): boolean => 'detected' in account && account.detected

export type SealedFirst = ReturnType<typeof sealNumbers> | null

/** Null: the payment has no numbers. */
export function sealFirst(
  engine: Engine,
  channel: Channel,
  payment: Payment,
  numbers: Asked['numbers'],
): SealedFirst {
  if (Object.keys(numbers).length === 0) return null
  // The entity above a channel is its merchant, so the payment path needs no look-up.
  return sealNumbers(engine, channel.path[1] ?? channel.id, payment, numbers)
}

export async function firstRow(
  engine: Engine,
  asked: Asked,
  payment: Payment,
  sealed: SealedFirst,
  leaseMs: number,
  idempotency: Idempotency | null,
): Promise<AcceptRow | RegisteringRow | ScheduledRow | SlotRow> {
  const { scheduled } = asked.use
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
    attempt_kind: asked.kind,
    lease_ms: leaseMs,
    data_key_id: sealed?.dataKeyId ?? null,
    fingerprint: sealed?.fingerprint ?? null,
    sealed: sealed?.sealed ?? null,
    idempotency_key: idempotency?.key ?? null,
    idempotency_fingerprint: idempotency?.fingerprint ?? null,
    registration_id: payment.registrationId,
    schedule_id: payment.scheduleId,
    checkout_id: payment.checkoutId,
    clock_id: payment.clockId,
    authentication:
      payment.answer.authentication === undefined
        ? null
        : JSON.stringify(payment.answer.authentication),
    ...replayColumns(asked),
    ...(scheduled === undefined
      ? {}
      : {
          occurrence_id: scheduled.executionId,
          occurrence_at: scheduled.at,
          previous_id: scheduled.previousId,
        }),
    ...slotColumns(asked.use.inCheckout),
    ...(asked.isStored ? await registeringColumns(engine, asked, payment) : {}),
  }
}

function replayColumns({ wallet, use }: Asked): ReplayColumns {
  // The token of a second payment has its row, that of the first one.
  if (wallet === undefined || use.inCheckout?.isSecond === true) return noReplay
  const { replay } = wallet
  return { wallet: replay.wallet, replay_hash: replay.hash, replay_until: replay.until }
}

/** Of a payment without a token of its own. */
export const noReplay: ReplayColumns = { wallet: null, replay_hash: null, replay_until: null }

/** A registration's own columns: short id, request part, and the date of the expiry notice. */
async function registeringColumns(
  engine: Engine,
  { isVerification }: Asked,
  { shortNo, request }: Payment,
): Promise<Omit<RegisteringRow, keyof AcceptRow>> {
  return {
    registration_short_no: isVerification ? shortNo : await engine.shortNumbers.take(),
    registration_request: JSON.stringify(accountPart(request)),
    notice_id: newId(),
    notice_at: noticeAt(request),
  }
}
