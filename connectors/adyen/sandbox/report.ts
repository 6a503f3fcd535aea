/** Settlement details reports of the sandbox, as Adyen writes them. */
import { currencyOf, type Money } from '@tollgate/plugin-kit'
import { moneyOf } from '../money.ts'
import type { Amount, Ledger, Modification, Payment } from './ledger.ts'

export const columns = [
  ...[
    'Company Account',
    'Merchant Account',
    'Psp Reference',
    'Merchant Reference',
    'Payment Method',
  ],
  ...['Creation Date', 'TimeZone', 'Type', 'Modification Reference', 'Gross Currency'],
  ...['Gross Debit (GC)', 'Gross Credit (GC)', 'Exchange Rate', 'Net Currency', 'Net Debit (NC)'],
  ...['Net Credit (NC)', 'Commission (NC)', 'Markup (NC)', 'Scheme Fees (NC)', 'Interchange (NC)'],
  ...['Payment Method Variant', 'Modification Merchant Reference', 'Batch Number', 'Booking Date'],
] as const

export type Line = Readonly<Record<string, string>>

/** The bytes of a report. */
export const reportOf = (lines: readonly Line[]): Buffer =>
  Buffer.from(
    [columns, ...lines.map((line) => columns.map((column) => line[column] ?? ''))]
      .map((cells) => `${cells.map(quoted).join(',')}\n`)
      .join(''),
  )

const quoted = (cell: string): string =>
  /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell

export type About = {
  readonly merchantAccount: string
  readonly batch: number
  /** `yyyy-MM-dd` */
  readonly day: string
}

export type LineMoney = {
  readonly type: string
  readonly gross: Money
  readonly isCredit: boolean
  readonly fee?: bigint
}

/** The cells of a line with money, net as Adyen pays it out. */
export function moneyLine(
  { merchantAccount, batch, day }: About,
  { type, gross, isCredit, fee = 0n }: LineMoney,
): Line {
  const { minor, currency } = gross
  const net = isCredit ? minor - fee : minor + fee
  return {
    'Company Account': 'TestCompany',
    'Merchant Account': merchantAccount,
    'Creation Date': `${day} 11:26:49`,
    TimeZone: 'CET',
    Type: type,
    'Gross Currency': currency,
    [isCredit ? 'Gross Credit (GC)' : 'Gross Debit (GC)']: decimal({ minor, currency }),
    'Exchange Rate': '1',
    'Net Currency': currency,
    [isCredit ? 'Net Credit (NC)' : 'Net Debit (NC)']: decimal({ minor: net, currency }),
    ...(fee === 0n ? {} : { 'Markup (NC)': decimal({ minor: fee, currency }) }),
    'Batch Number': String(batch),
    'Booking Date': day,
  }
}

/** A line of a batch without a payment: `MerchantPayout` as a debit, `Fee` as a debit. */
export function batchLine(
  { merchantAccount, batch, day }: About,
  type: string,
  { minor, currency }: Money,
  reference: string,
): Line {
  return {
    'Company Account': 'TestCompany',
    'Merchant Account': merchantAccount,
    'Creation Date': `${day} 04:55:40`,
    TimeZone: 'CET',
    Type: type,
    'Modification Reference': reference,
    'Gross Currency': currency,
    'Net Currency': currency,
    [minor < 0n ? 'Net Credit (NC)' : 'Net Debit (NC)']: decimal({
      minor: minor < 0n ? -minor : minor,
      currency,
    }),
    'Batch Number': String(batch),
    'Booking Date': day,
  }
}

export type Dispute = {
  readonly type: 'Chargeback' | 'SecondChargeback' | 'ChargebackReversed'
  readonly payment: Payment
  readonly pspReference: string
  readonly amount: Amount
}

/** A whole report of everything that moved, in one currency, with a payout of the rest. */
export function reportOfBooks(
  ledger: Ledger,
  about: About,
  currency: string,
  disputes: readonly Dispute[] = [],
): Buffer {
  const lines: Line[] = []
  let rest = 0n
  const add = (type: string, amount: Amount, isCredit: boolean, fee: bigint, more: Line) => {
    const gross = moneyOf(amount)!
    rest += (isCredit ? gross.minor : -gross.minor) - fee
    lines.push({
      ...moneyLine(about, { type, gross, isCredit, fee }),
      'Payment Method': 'visa',
      ...more,
    })
  }
  const isHere = ({ amount }: Payment) => amount.currency === currency
  for (const payment of ledger.payments) {
    if (!payment.isCapturedAtOnce || payment.captured === 0 || !isHere(payment)) continue
    add('Settled', payment.amount, true, 12n, namesOf(payment, `C${payment.pspReference.slice(1)}`))
  }
  for (const modification of ledger.modifications) {
    const { kind, success, payment, amount } = modification
    if (!success || !isHere(payment) || (kind !== 'capture' && kind !== 'refund')) continue
    const type = kind === 'capture' ? 'Settled' : 'Refunded'
    add(
      type,
      amount,
      kind === 'capture',
      kind === 'capture' ? 12n : 0n,
      namesOfModification(modification),
    )
  }
  for (const { type, payment, pspReference, amount } of disputes) {
    add(type, amount, type === 'ChargebackReversed', 0n, namesOf(payment, pspReference))
  }
  const fee = { minor: 100n, currency }
  lines.push(batchLine(about, 'Fee', fee, 'Transaction Fees Mar 2026'))
  const payout = { minor: rest - fee.minor, currency }
  lines.push(batchLine(about, 'MerchantPayout', payout, `TX${about.batch}XT, batch ${about.batch}`))
  return reportOf(lines)
}

const namesOf = (payment: Payment, modification: string): Line => ({
  'Psp Reference': payment.pspReference,
  'Merchant Reference': payment.reference,
  'Modification Reference': modification,
})

const namesOfModification = ({ payment, pspReference, reference }: Modification): Line => ({
  ...namesOf(payment, pspReference),
  'Modification Merchant Reference': reference,
})

/** `12.34`, with the decimals of the currency. */
export function decimal({ minor, currency }: Money): string {
  const exponent = currencyOf(currency)?.exponent ?? 2
  const digits = String(minor).padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  return exponent === 0 ? whole : `${whole}.${digits.slice(-exponent)}`
}
