/** The lines of one business day of a merchant, and the file with them. */
import type { Money } from '@tollgate/plugin-kit'
import { currencyOf } from '@tollgate/schemas'
import { type Entry, referenceOf } from '../entry.ts'
import { oddLineOf } from '../verdict.ts'
import { type Cells, fileOf, isRecord, type PayoutLine, type RecordLine, signed } from './format.ts'
import {
  chargesOf,
  type DueDispute,
  dayAfter,
  dayOf,
  disputesOf,
  type SettledDay,
  type SettlementState,
  wallTimeOf,
} from './state.ts'

/** What the file needs of the merchant's ledger. */
export type LedgerView = {
  find(key: string): Entry | undefined
  /** The chargeback of a payment. */
  chargebackOf(payment: string): Entry | undefined
}

/** Fees of the institute, in hundredths of a per cent and minor units. */
const saleFee = { parts: 140n, fixed: 10n }
const fixedFees = { credit: 25n, chargeback: 1500n } as const

/** Units of the other currency for one unit of the payment's. */
const otherRate = { text: '1.083412', scaled: 1_083_412n, scale: 1_000_000n }

/** The money of one entry that settles on a day. Negative: it goes back to the payer. */
type Share = { readonly entry: Entry; readonly isFirst: boolean; minor: bigint }

/**
 * Settles a day. Money that went back on the day of its payment reduces the payment's line; money that goes back
 * later is an adjustment of the payout, because the payment's line is written.
 */
export function cutDay(
  state: SettlementState,
  ledger: LedgerView,
  merchant: string,
  day: string,
): SettledDay {
  const date = dayAfter(day)
  const settled: [string, number][] = []
  const shares = new Map<string, Share>()
  for (const entry of state.open.values()) {
    const charges = chargesOf(entry)
    const before = state.settled.get(entry.key) ?? 0
    const end = charges.findIndex(({ at }, index) => index >= before && dayOf(at) > day)
    const fresh = charges.slice(before, end === -1 ? undefined : end)
    if (fresh.length === 0) continue
    settled.push([entry.key, before + fresh.length])
    const subject = (entry.kind === 'reverse' && ledger.find(entry.original ?? '')) || entry
    const share = shares.get(subject.key) ?? {
      entry: subject,
      isFirst: !state.settled.has(subject.key),
      minor: 0n,
    }
    for (const { minor } of fresh) share.minor += minor
    shares.set(subject.key, share)
  }
  const moved = [...shares.values()].filter(({ minor }) => minor !== 0n)
  const lines = moved.flatMap((share) => linesOf(share, ledger))
  const { payouts, carried } = payoutsOf(lines, state.carried)
  const disputes: readonly DueDispute[] = [
    ...state.disputes.filter((due) => due.day > day),
    ...moved.flatMap(({ entry, isFirst, minor }) =>
      isFirst && minor > 0n ? disputesOf(entry, traitsOf(entry, ledger).later, date) : [],
    ),
  ]
  const text = lines.length === 0 ? '' : fileOf({ merchant, day, date }, [...lines, ...payouts])
  return { day, text, settled, carried: text === '' ? state.carried : carried, disputes }
}

function linesOf(share: Share, ledger: LedgerView): readonly (RecordLine | PayoutLine)[] {
  const { entry, isFirst, minor } = share
  const { currency } = entry.amount
  const cashflow = minor > 0n ? 'POS' : 'NEG'
  const amount = { minor: minor > 0n ? minor : -minor, currency }
  if (!isFirst) return [{ kind: 'adjustment', cashflow, amount, text: `of ${referenceOf(entry)}` }]
  const plain: RecordLine = {
    ...typesOf(entry, ledger),
    cashflow,
    status: 'SUCCESS',
    amount,
    settled: amount,
    fee: feeOf(entry, amount.minor),
    about: aboutOf(entry, ledger),
  }
  const isDispute = entry.kind === 'chargeback' || entry.kind === 'chargebackReversal'
  const odd = isDispute
    ? undefined
    : (traitsOf(entry, ledger).settlement ?? oddLineOf(entry.amount))
  switch (odd) {
    case 'amountMinusOne': {
      const less = { minor: amount.minor - 1n, currency }
      return [{ ...plain, amount: less, settled: less }]
    }
    case 'noLine':
      return []
    case 'twoLines':
      return [plain, plain]
    case 'otherCurrency': {
      const settled = exchanged(amount)
      return [{ ...plain, settled, rate: otherRate.text, fee: feeOf(entry, settled.minor) }]
    }
    case 'failed': {
      const back = cashflow === 'POS' ? 'NEG' : 'POS'
      const text = `not paid out: ${referenceOf(entry)}`
      return [
        { ...plain, status: 'FAILED', fee: 0n },
        { kind: 'adjustment', cashflow: back, amount, text },
      ]
    }
    case 'noReference':
      return [{ ...plain, about: { ...plain.about, ...noIds } }]
    default:
      return [plain]
  }
}

const noIds: Cells = { Id: '', Key: '', Reference: '', Order: '', ShortId: '' }

/** A capture behaves like its authorisation's card. */
function traitsOf(entry: Entry, { find }: LedgerView): Pick<Entry, 'later' | 'settlement'> {
  if (entry.kind !== 'capture') return entry
  const named = find(entry.original ?? '')
  const root = named?.kind === 'increment' ? find(named.root ?? '') : named
  return root ?? entry
}

function typesOf(
  { kind, original, root }: Entry,
  { find }: LedgerView,
): Pick<RecordLine, 'recordType' | 'transactionType'> {
  switch (kind) {
    case 'chargeback':
      return { recordType: 'CHARGEBACK', transactionType: disputedType(find(original ?? '')) }
    case 'chargebackReversal':
      return { recordType: 'CHARGEBACK REVERSAL', transactionType: disputedType(find(root ?? '')) }
    case 'credit':
      return { recordType: 'SETTLED', transactionType: 'CREDIT' }
    case 'refund':
      return { recordType: 'SETTLED', transactionType: 'REFUND' }
    default:
      return { recordType: 'SETTLED', transactionType: 'DEBIT' }
  }
}

const disputedType = (entry: Entry | undefined) => (entry?.kind === 'refund' ? 'REFUND' : 'DEBIT')

function feeOf({ kind }: Entry, settled: bigint): bigint {
  if (kind === 'debit' || kind === 'capture') {
    return (settled * saleFee.parts + 5_000n) / 10_000n + saleFee.fixed
  }
  return kind === 'credit' || kind === 'chargeback' ? fixedFees[kind] : 0n
}

/** The lines of a dispute name the disputed payment. */
function aboutOf(entry: Entry, ledger: LedgerView): Cells {
  const isDispute = entry.kind === 'chargeback' || entry.kind === 'chargebackReversal'
  const named = entry.root ?? entry.original ?? ''
  const payment = (isDispute && ledger.find(named)) || entry
  const chargeback = entry.kind === 'chargeback' ? entry : ledger.chargebackOf(named)
  const { brand, last4, shortId, order, descriptor } = payment.labels ?? {}
  return {
    Ordered: wallTimeOf(payment.history[0]?.at ?? 0),
    Key: payment.key,
    Reference: referenceOf(payment),
    ...(order === undefined ? {} : { Order: order }),
    ...(shortId === undefined ? {} : { ShortId: shortId }),
    ...(brand === undefined ? {} : { Brand: brand }),
    ...(last4 === undefined ? {} : { Last4: last4 }),
    ...(descriptor === undefined ? {} : { Descriptor: descriptor }),
    ...(entry.reason === undefined ? {} : { Reason: entry.reason }),
    ...(isDispute && chargeback !== undefined ? { Dispute: referenceOf(chargeback) } : {}),
  }
}

function exchanged({ minor, currency }: Money): Money {
  const other = currency === 'EUR' ? 'USD' : 'EUR'
  const exponents = [currency, other].map((code) => BigInt(currencyOf(code)?.exponent ?? 2))
  const [from = 2n, to = 2n] = exponents
  const top = minor * otherRate.scaled * 10n ** to
  const bottom = otherRate.scale * 10n ** from
  return { minor: (top * 2n + bottom) / (bottom * 2n), currency: other }
}

/**
 * Opening, payout and closing of every currency. Opening and all other lines, less the fees, are payout and closing. A
 * negative sum is not paid out: the next payout covers it.
 */
function payoutsOf(
  lines: readonly (RecordLine | PayoutLine)[],
  before: SettlementState['carried'],
): { payouts: readonly PayoutLine[]; carried: Record<string, string> } {
  const sums = new Map<string, bigint>()
  for (const line of lines) {
    const { minor, currency } = isRecord(line) ? line.settled : line.amount
    const fee = isRecord(line) ? line.fee : 0n
    sums.set(currency, (sums.get(currency) ?? 0n) + signed(line.cashflow, minor) - fee)
  }
  const carried: Record<string, string> = { ...before }
  const payouts = [...sums].flatMap(([currency, sum]) => {
    const opening = BigInt(before[currency] ?? 0n)
    const all = opening + sum
    const closing = all < 0n ? all : 0n
    carried[currency] = String(closing)
    return [
      payoutLine('opening', opening, currency),
      payoutLine('payout', all - closing, currency),
      payoutLine('closing', closing, currency),
    ]
  })
  return { payouts, carried }
}

const payoutLine = (kind: PayoutLine['kind'], minor: bigint, currency: string): PayoutLine => ({
  kind,
  cashflow: minor < 0n ? 'NEG' : 'POS',
  amount: { minor: minor < 0n ? -minor : minor, currency },
})
