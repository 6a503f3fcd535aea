/** The lines of one business day of a merchant, and the file with them. */
import { type Entry, referenceOf } from '../entry.ts'
import { oddLineOf } from '../verdict.ts'
import { type Cells, fileOf, type PayoutLine, type RecordLine } from './format.ts'
import { adjustmentOf, linesOf, type Settling } from './lines.ts'
import { Payouts } from './payouts.ts'
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

/** The money of one entry that settles on a day. Negative: it goes back to the payer. */
type Share = { readonly entry: Entry; readonly isFirst: boolean; minor: bigint }

/**
 * Settles a day. A reversal on the day of its payment reduces the payment's line; a later one is an adjustment of the
 * payout, because the payment's line is written. Refunds have lines of their own.
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
  const lines = moved.flatMap((share) => shareLines(share, ledger))
  const disputes: readonly DueDispute[] = [
    ...state.disputes.filter((due) => due.day > day),
    ...moved.flatMap(({ entry, isFirst, minor }) =>
      isFirst && minor > 0n ? disputesOf(entry, traitsOf(entry, ledger).later, date) : [],
    ),
  ]
  if (lines.length === 0) return { day, text: '', settled, carried: state.carried, disputes }
  const payouts = new Payouts()
  for (const line of lines) payouts.add(line)
  const { payouts: last, carried } = payouts.lines(state.carried)
  const text = fileOf({ merchant, day, date }, [...lines, ...last])
  return { day, text, settled, carried, disputes }
}

function shareLines(share: Share, ledger: LedgerView): readonly (RecordLine | PayoutLine)[] {
  const { entry, isFirst, minor } = share
  const { kind, amount } = entry
  const reference = referenceOf(entry)
  const money = { minor, currency: amount.currency, reference }
  if (!isFirst) return [adjustmentOf(money)]
  const isDispute = kind === 'chargeback' || kind === 'chargebackReversal'
  const odd = isDispute ? undefined : (traitsOf(entry, ledger).settlement ?? oddLineOf(amount))
  return linesOf({
    ...typesOf(entry, ledger),
    ...money,
    kind,
    odd,
    about: aboutOf(entry, ledger),
  })
}

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
): Pick<Settling, 'recordType' | 'transactionType'> {
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

/** The lines of a dispute name the disputed payment. */
function aboutOf(entry: Entry, ledger: LedgerView): Cells {
  const isDispute = entry.kind === 'chargeback' || entry.kind === 'chargebackReversal'
  const named = entry.root ?? entry.original ?? ''
  const payment = (isDispute && ledger.find(named)) || entry
  // Only disputes are looked up, because the look-up reads the whole ledger.
  const chargeback =
    entry.kind === 'chargebackReversal' ? ledger.chargebackOf(named) : isDispute ? entry : undefined
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
