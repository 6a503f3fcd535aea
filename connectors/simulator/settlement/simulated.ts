import type {
  DayEnd,
  DayEntry,
  DayPayment,
  DueDispute,
  Settlement,
  SimulatedDay,
} from '@tollgate/plugin-kit'
import { referenceOf } from '../entry.ts'
import { oddLineOf, traitsShown } from '../verdict.ts'
import { clearing } from './clearing.ts'
import { type Cells, FileText, type PayoutLine, type RecordLine } from './format.ts'
import { adjustmentOf, linesOf, type Settling } from './lines.ts'
import { Payouts } from './payouts.ts'
import { dayAfter, dueDaysOf, wallTimeOf } from './state.ts'

/** The settlement files of payments inside the process. The engine keeps the payments, and has no account. */
export const simulatedSettlement: Settlement = {
  ...clearing,
  merchantOf: () => '',
  writeDay,
}

const chunkCharacters = 64 * 1024

async function* writeDay(
  { merchantNumber, day, carried: before }: SimulatedDay,
  entries: AsyncIterable<DayEntry>,
): AsyncGenerator<Uint8Array, DayEnd, void> {
  const date = dayAfter(day)
  const file = new FileText({ merchant: merchantNumber, day, date })
  const payouts = new Payouts()
  const disputes: DueDispute[] = []
  let isEmpty = true
  let text = file.start()
  for await (const entry of entries) {
    if (entry.is === 'payment') disputes.push(...disputesOf(entry, day, date))
    for (const line of entryLines(entry)) {
      isEmpty = false
      payouts.add(line)
      text += file.line(line)
    }
    if (text.length < chunkCharacters) continue
    yield Buffer.from(text)
    text = ''
  }
  if (isEmpty) return { carried: before, disputes }
  const { payouts: last, carried } = payouts.lines(before)
  yield Buffer.from(`${text}${last.map((line) => file.line(line)).join('')}${file.end()}`)
  return { carried, disputes }
}

function entryLines(entry: DayEntry): readonly (RecordLine | PayoutLine)[] {
  const { is, payment, amount } = entry
  const { currency } = amount
  const isIncome = payment.kind === 'debit' || payment.kind === 'capture'
  const reference = referenceOf(payment)
  const money = (isReceived: boolean) => ({
    minor: isReceived ? amount.minor : -amount.minor,
    currency,
    reference,
  })
  const about = aboutOf(entry)
  switch (is) {
    case 'payment':
      return linesOf({
        ...typesOf(payment),
        ...money(isIncome),
        kind: payment.kind,
        odd: traitsOf(payment).settlement ?? oddLineOf(amount),
        about,
      })
    case 'returned':
      return [adjustmentOf(money(!isIncome))]
    case 'chargeback':
    case 'chargebackReversal':
      return linesOf({
        recordType: is === 'chargeback' ? 'CHARGEBACK' : 'CHARGEBACK REVERSAL',
        transactionType: payment.kind === 'refund' ? 'REFUND' : 'DEBIT',
        ...money(is === 'chargebackReversal'),
        kind: is,
        odd: undefined,
        about,
      })
  }
}

function typesOf({ kind }: DayPayment): Pick<Settling, 'recordType' | 'transactionType'> {
  const transactionType = { debit: 'DEBIT', capture: 'DEBIT', credit: 'CREDIT', refund: 'REFUND' }
  return { recordType: 'SETTLED', transactionType: transactionType[kind] as 'DEBIT' }
}

/** A refund behaves like any other, whatever the card of its payment. */
const traitsOf = ({ kind, bin, last4 }: DayPayment) =>
  kind === 'refund' ? {} : traitsShown(bin, last4)

function aboutOf({ payment, reference, reason }: DayEntry): Cells {
  const { brand, last4, merchantTransactionId, descriptor } = payment
  return {
    Ordered: wallTimeOf(payment.requestedAt.getTime()),
    Key: payment.key,
    Reference: referenceOf(payment),
    ShortId: payment.shortId,
    ...(merchantTransactionId === undefined ? {} : { Order: merchantTransactionId }),
    ...(brand === undefined ? {} : { Brand: brand }),
    ...(last4 === undefined ? {} : { Last4: last4 }),
    ...(descriptor === undefined ? {} : { Descriptor: descriptor }),
    ...(reason === undefined ? {} : { Reason: reason }),
    ...(reference === undefined ? {} : { Dispute: reference }),
  }
}

/** Chargebacks that the payer's bank raises by itself, by the rules of the instrument. */
function disputesOf({ payment, amount }: DayEntry, day: string, date: string): DueDispute[] {
  if (payment.kind !== 'debit' && payment.kind !== 'capture') return []
  const reference = referenceOf({ key: `cb-${payment.key}` })
  return dueDaysOf(traitsOf(payment).later, day, date).map((due) => ({
    is: due.event,
    paymentId: payment.id,
    amount,
    reference,
    reason: due.reason,
    day: due.day,
  }))
}
