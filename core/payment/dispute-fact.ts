/** Finds the payment behind a chargeback, and builds the record of a chargeback or reversal. */
import { isChargeback } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { wellFormed } from './checked-texts.ts'
import { followingPayment } from './following-payment.ts'
import type { Idempotency } from './idempotency.ts'
import { isOpen } from './late-word-table.ts'
import { announce, eventOf, notifies } from './payment-event.ts'
import type { FactRow, Recorded } from './store-dispute.ts'
import {
  type ChargebackRow,
  capturesOf,
  chargebacksByRecord,
  standingOf,
} from './store-dispute-read.ts'
import { balanceById, paymentById, toBalance, toPayment } from './store-read.ts'
import type { Balance, Payment } from './types.ts'

/** The code of a chargeback whose reason is not a result code. */
const noReason = '000.100.200'

/** The longest acquirer text that is shown as is. */
const longestReason = 64

/** A chargeback's result code is its reason. Codes of schemes are kept as text for people. */
export function chargebackReason(reason: string | undefined): {
  readonly resultCode: string
  readonly details: Readonly<Record<string, string>>
} {
  if (reason !== undefined && isChargeback(reason)) return { resultCode: reason, details: {} }
  const text = wellFormed(maskCardNumbers(reason ?? '').slice(0, longestReason))
  return { resultCode: noReason, details: text === '' ? {} : { AcquirerReason: text } }
}

export type Hit = {
  readonly target: Payment
  readonly isAuthorisation: boolean
  /** Approved captures of an authorisation. */
  readonly captures: readonly string[]
  /** All captures, including failed ones. */
  readonly ever: readonly string[]
  /** Attempt keys of the captures. */
  readonly keys: readonly string[]
  /** A capture is under way, or still to come. */
  readonly isUndecided: boolean
  /** Sums of an authorisation, read before its captures; null: none stood. */
  readonly sums: Balance | null
}

/** The payment that a chargeback hits: for an authorisation, its only capture. */
export async function chargedBack(engine: Engine, payment: Payment): Promise<Hit> {
  const isAuthorisation = ['authorisation', 'replacement', 'increase'].includes(payment.effect)
  if (!isAuthorisation) {
    return {
      target: payment,
      isAuthorisation,
      captures: [],
      ever: [],
      keys: [],
      isUndecided: false,
      sums: null,
    }
  }
  const [balance] = await engine.lanes.single(balanceById(payment.rootId))
  const rows = await engine.lanes.single(capturesOf(payment.rootId))
  const captures = rows.filter(({ state }) => state === 'approved').map(({ id }) => id)
  const [only] =
    captures.length === 1 ? await engine.lanes.single(paymentById(captures[0]!, null)) : []
  const ever = rows.map(({ id }) => id)
  const isToCome =
    payment.state === 'approved' && payment.chainId !== null && !ever.includes(payment.chainId)
  return {
    target: only === undefined ? payment : toPayment(only),
    isAuthorisation,
    captures,
    ever,
    keys: rows.map(({ attempt_key }) => attempt_key),
    isUndecided: isToCome || rows.some(({ state }) => isOpen(state)),
    sums: balance === undefined ? null : toBalance(balance),
  }
}

/**
 * Balances from which money of the charged-back payment could go out. They can stand although what the acquirer names is
 * over: those of a declined increase, of an authorisation that failed later, and the authorisation of a declined capture.
 */
export function balancesOf(payment: Payment, { target, captures, sums }: Hit): readonly string[] {
  const { state, effect, rootId, parentId } = payment
  const hasStood = state === 'approved' || sums !== null
  if (hasStood) return [...new Set([rootId, target.rootId, ...captures])]
  return effect === 'capture' && parentId !== null ? [parentId] : []
}

/**
 * Whether payers' banks hold money of this payment, in any currency. Such a payment is neither
 * given back again nor kept. A chargeback by the key of an authorisation stays with the
 * authorisation while no capture has it.
 */
export async function isChargedBack(
  { lanes }: Engine,
  { id, parentId, effect }: Payment,
): Promise<boolean> {
  const isCapture = effect === 'capture'
  return (await lanes.single(standingOf(id, isCapture ? parentId : null))).length > 0
}

/** Whether a fact belongs to the named payment; an authorisation counts as its captures. */
export const isOf = (
  { target, ever }: Hit,
  payment: Payment,
  { payment_id }: ChargebackRow,
): boolean =>
  [payment.id, target.id, ...ever].includes(payment_id) ||
  (payment.effect === 'capture' && payment.referencedId === payment_id)

export type Fact = Pick<
  FactRow,
  'kind' | 'account' | 'reference' | 'isNamed' | 'source' | 'reverses'
> & {
  readonly settlementId?: string | null
  readonly minor: bigint
  readonly currency: string
  /** The balance that the fact counts in; null: outside of the sums. */
  readonly balanceId: string | null
  /** The referenced record: the payment, or the chargeback. */
  readonly referencedId: string
  readonly resultCode: string
  readonly refs: Readonly<Record<string, string>>
  readonly details: Readonly<Record<string, string>>
  readonly request: Readonly<Record<string, unknown>>
  readonly merchantTransactionId?: string | undefined
  readonly entityId?: string | undefined
  readonly idempotency?: Idempotency | null
}

export async function factRow(engine: Engine, target: Payment, fact: Fact): Promise<FactRow> {
  const { kind, account, reference, isNamed, source, reverses, idempotency } = fact
  const { refs, details, minor, resultCode } = fact
  const isReversal = kind === 'reversal'
  const record = await followingPayment(engine, target, {
    id: newId(),
    entityId: fact.entityId ?? target.channelId,
    parentId: fact.balanceId,
    referencedId: fact.referencedId,
    amount: { minor, currency: fact.currency },
    paymentType: isReversal ? 'CR' : 'CB',
    effect: isReversal ? 'chargeback-reversal' : 'chargeback',
    merchantTransactionId: fact.merchantTransactionId ?? null,
    state: 'approved',
    resultCode,
    approvedMinor: minor,
    answer: Object.keys(details).length === 0 ? { refs } : { refs, details },
    request: fact.request,
  })
  return {
    record,
    kind,
    account,
    reference,
    isNamed,
    source,
    settlementId: fact.settlementId ?? null,
    paymentId: target.id,
    reverses,
    event: eventOf(newId(), record, 'approved', resultCode),
    notifies: notifies(target),
    idempotencyKey: idempotency?.key ?? null,
    idempotencyFingerprint: idempotency?.fingerprint ?? null,
  }
}

/** Publishes a committed fact to this process's subscribers. */
export function tell(engine: Engine, { record, event }: FactRow, { seq }: Recorded): void {
  announce(engine, record, event, seq)
}

/** The remaining amount of each chargeback, by its record, for the list of next actions. */
export async function leftOfChargebacks(
  engine: Engine,
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = recordIds.length === 0 ? [] : await engine.lanes.read(chargebacksByRecord(recordIds))
  return new Map(rows.map((row) => [row.record_id, row.counted - row.reversed]))
}
