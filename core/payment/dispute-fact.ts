/** Finds the payment behind a chargeback, and builds the record of a chargeback or reversal. */
import { isChargeback } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { wellFormed } from './checked-texts.ts'
import { followingPayment } from './following-payment.ts'
import type { Idempotency } from './idempotency.ts'
import { isOpen } from './late-word-table.ts'
import type { Effect } from './operation-kinds.ts'
import { announce, eventOf, notifies } from './payment-event.ts'
import type { FactRow, Recorded, SeenSums } from './store-dispute.ts'
import {
  type ChainRow,
  capturesOf,
  chainOf,
  chargebacksByRecord,
  standingOf,
} from './store-dispute-read.ts'
import { paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

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
  /** All authorisations of the chain, the oldest first: of an authorisation or a capture. */
  readonly members: readonly string[]
  /** Those that have sums, or would get them. */
  readonly roots: readonly string[]
  /** Captures of an authorisation's chain that took money. */
  readonly captures: readonly string[]
  /** All captures, including failed ones. */
  readonly ever: readonly string[]
  /** Attempt keys of the captures. */
  readonly keys: readonly string[]
  /** A capture is under way or still to come, or the authorisation is being replaced. */
  readonly isUndecided: boolean
  /** Sums of the chain of an authorisation or of a failed capture, read before its captures; empty: none stood. */
  readonly sums: readonly SeenSums[]
}

/** The payment that a chargeback hits: for an authorisation, the only capture of its chain. */
export async function chargedBack(engine: Engine, payment: Payment): Promise<Hit> {
  const isAuthorisation = isOfChain(payment)
  const chain = await chainIds(engine, payment)
  const ids = chain.map(({ id }) => id)
  const rooted = chain.filter(({ effect }) => effect !== 'increase')
  const about = { isAuthorisation, members: ids, roots: rooted.map(({ id }) => id) }
  const stood = chain.flatMap((row) => (row.has_stood ? [sumsOf(row)] : []))
  if (!isAuthorisation) {
    // One that took money leaves its authorisation alone.
    const sums = payment.state === 'approved' ? [] : stood
    const none = { captures: [], ever: [], keys: [], sums }
    return { ...about, ...none, target: payment, isUndecided: false }
  }
  const rows = await engine.lanes.single(capturesOf(payment.id))
  const taken = rows.filter(({ has_taken }) => has_taken)
  const captures = taken.map(({ id }) => id)
  // What is told of a payment that is over stays with it.
  const states = [payment, ...taken].map(({ state }) => state)
  const isClear = taken.length === 1 && states.every((state) => state === 'approved')
  const [only] = isClear ? await engine.lanes.single(paymentById(captures[0]!, null)) : []
  const ever = rows.map(({ id }) => id)
  const isToCome =
    payment.state === 'approved' && payment.chainId !== null && !ever.includes(payment.chainId)
  return {
    ...about,
    target: only === undefined ? payment : toPayment(only),
    captures,
    ever,
    keys: rows.map(({ attempt_key }) => attempt_key),
    isUndecided:
      isToCome ||
      rows.some(({ state }) => isOpen(state)) ||
      rooted.some(({ effect, state }) => effect === 'replacement' && isOpen(state)),
    sums: stood,
  }
}

/** A capture belongs to the chain of its authorisation. */
const chainIds = ({ lanes }: Engine, payment: Payment) => {
  const id = authorisationOf(payment)
  return id === null ? [] : lanes.single(chainOf(id))
}

const isOfChain = ({ effect }: Payment): boolean =>
  ['authorisation', 'replacement', 'increase'].includes(effect)

/** An authorisation of the chain that a payment belongs to; null: it belongs to none. */
const authorisationOf = (payment: Payment): string | null =>
  isOfChain(payment) ? payment.id : payment.effect === 'capture' ? payment.parentId : null

const sumsOf = ({ id, captures, captured, capturing, closed_by }: ChainRow): SeenSums => ({
  rootId: id,
  count: captures ?? 0,
  captured: captured ?? 0n,
  capturing: capturing ?? 0n,
  closedBy: closed_by,
})

/**
 * Balances from which money of the charged-back payment could go out. They can stand although what the acquirer names is
 * over: those of a declined increase, of an authorisation that failed later, and the authorisations of a declined capture.
 * One that does not stand yet freezes when it begins.
 */
export function balancesOf(
  payment: Payment,
  { target, captures, roots, sums }: Hit,
): readonly string[] {
  const { state, effect, rootId } = payment
  if (effect === 'capture' && state !== 'approved') return roots
  const hasStood = state === 'approved' || sums.length > 0
  if (!hasStood) return []
  // An approved capture, or a sale, leaves its authorisation alone.
  const beside = isOfChain(payment) ? roots : []
  return [...new Set([rootId, ...beside, target.rootId, ...captures])]
}

/** Effects of payments that follow these balances, and may begin between their read and their freeze. */
export const belowOf = ({ isAuthorisation }: Hit): readonly Effect[] =>
  isAuthorisation ? ['capture', 'replacement'] : ['replacement']

/**
 * Whether payers' banks hold money of this payment, in any currency. Such a payment is neither
 * given back again nor kept. A chargeback by the key of an authorisation stays with the
 * authorisation while no capture has it.
 */
export async function isChargedBack({ lanes }: Engine, payment: Payment): Promise<boolean> {
  return (await lanes.single(standingOf(payment.id))).length > 0
}

/** Payments whose facts a report of the named payment can be about: an authorisation counts as the captures of its chain. */
export const idsOf = ({ target, ever, members }: Hit, payment: Payment): readonly string[] => [
  ...new Set([payment.id, target.id, ...ever, ...members]),
]

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
