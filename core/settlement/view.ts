/** Settlement files as callers see them. */
import { idTimeMs, shortId } from '../ids.ts'
import { exactDecimal } from '../money.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import type { UnsettledRow } from './store-check.ts'
import type { ExceptionalPayment, ExceptionalRecordRow } from './store-exception.ts'
import type { ExceptionRow, FileRow, FileState } from './store-file.ts'

export type SettlementFileView = {
  readonly id: string
  readonly name: string
  readonly state: FileState
  readonly source: FileRow['source']
  readonly institute: string
  readonly format: string
  readonly merchantNumber: string
  readonly account?: string
  /** The institute's own reference of the file. */
  readonly reference?: string
  readonly bytes: number
  /** ISO 8601 in UTC. */
  readonly receivedAt: string
  readonly records: number
  readonly batchLines: number
  /** Lines that became no record. */
  readonly exceptionCount: number
  readonly refused?: { readonly line?: number; readonly why: string }
  /** An earlier file with the same bytes, or with the same reference. */
  readonly earlier?: string
  readonly exceptions?: readonly ExceptionRow[]
}

export const fileView = (
  row: FileRow,
  exceptions?: readonly ExceptionRow[],
): SettlementFileView => ({
  id: row.id,
  name: row.name,
  state: row.state,
  source: row.source,
  institute: row.institute,
  format: row.format,
  merchantNumber: row.merchant_number,
  ...(row.account_id !== null && { account: row.account_id }),
  ...(row.reference !== null && { reference: row.reference }),
  bytes: Number(row.bytes),
  receivedAt: row.received_at.toISOString(),
  records: row.records,
  batchLines: row.batch_lines,
  exceptionCount: row.exceptions,
  ...(row.refused_why !== null && {
    refused: { ...(row.refused_line !== null && { line: row.refused_line }), why: row.refused_why },
  }),
  ...(row.earlier_id !== null && { earlier: row.earlier_id }),
  ...(exceptions !== undefined && { exceptions }),
})

/** A record that waits for an operator, or that differs from its payment. */
export type ExceptionalRecordView = {
  readonly id: string
  readonly file: string
  readonly fileName: string
  readonly line: number
  readonly merchantNumber: string
  /** SETTLED, CHARGEBACK, CHARGEBACK REVERSAL or FEE. */
  readonly recordType: string
  readonly transactionType: string
  /** POS: the institute pays. NEG: the institute takes. */
  readonly cashflow: string
  readonly status: string
  /** `yyyy-MM-dd`, by the calendar of the institute. */
  readonly settlementDate: string
  /** Decimal number with the decimals of the currency, for example `92.00`. */
  readonly amount: string
  readonly currency: string
  readonly merchantTransactionId?: string
  /** References of the acquirer. */
  readonly references: readonly string[]
  readonly brand?: string
  readonly last4?: string
  /** Missing: a fee of no single transaction. */
  readonly matchStatus?: string
  /** What named the payment, for example `payment-id`, `composite` or `operator`. */
  readonly tier?: string
  /** Ids of payments that the record may be about: at most 100. */
  readonly candidates: readonly string[]
  readonly candidateCount: number
  /** The order numbers and the amounts of these payments, less what was reversed. */
  readonly payments: readonly {
    readonly id: string
    readonly merchantTransactionId?: string
    readonly amount: string
    readonly currency: string
  }[]
  /** What the payments of a match come to, where all of them are listed: `92.00 EUR`. The record reports `amount`. */
  readonly expected?: string
  readonly discrepancies: readonly string[]
  /** Found by amount, card and brand alone: it changes its payment once an operator assigns the payment. */
  readonly isUnconfirmed?: true
  /** Its effect on the payment failed: tollgate settlement rerun. */
  readonly isFailed?: true
  /** The engine tries again until then. ISO 8601 in UTC. */
  readonly retryUntil?: string
}

export function exceptionalRecordView(row: ExceptionalRecordRow): ExceptionalRecordView {
  const payments = row.payments ?? []
  const [only, ...others] = payments
  const order = row.merchant_transaction_id ?? (others.length === 0 && only?.merchantTransactionId)
  return {
    ...factsOf(row),
    ...(order && { merchantTransactionId: order }),
    ...expectedOf(row, payments),
    payments: payments.map(({ id, merchantTransactionId, minor, currency }) => ({
      ...{ id, ...(merchantTransactionId !== null && { merchantTransactionId }) },
      ...{ amount: exactDecimal(BigInt(minor), currency), currency },
    })),
  }
}

function expectedOf(
  { match_status: status, candidate_count: count }: ExceptionalRecordRow,
  payments: readonly ExceptionalPayment[],
): Pick<ExceptionalRecordView, 'expected'> {
  const currencies = [...new Set(payments.map(({ currency }) => currency))]
  const [currency] = currencies
  if (status !== 'MATCHED' || currency === undefined || currencies.length > 1) return {}
  if (payments.length < count) return {}
  const sum = payments.reduce((total, { minor }) => total + BigInt(minor), 0n)
  return { expected: `${exactDecimal(sum, currency)} ${currency}` }
}

/** A record in one line: its kind, its payment, the order, both amounts, and whether the amount is not paid out. */
export function recordWords(record: ExceptionalRecordView): string {
  const { amount, currency, expected, merchantTransactionId: order, payments, status } = record
  const kind = record.recordType === 'SETTLED' ? '' : ` about a ${record.recordType.toLowerCase()}`
  const names = payments.slice(0, 3).map(({ id }) => id)
  return [
    `line ${record.line}${kind}`,
    ...(order === undefined ? [] : [`order ${maskCardNumbers(order)}`]),
    ...(names.length === 0 ? [] : [`payment ${names.join(' or ')}`]),
    ...(expected === undefined ? [] : [`expected ${expected}`]),
    `reported ${amount} ${currency}${status === 'FAILED' ? ' as FAILED' : ''}`,
  ].join(', ')
}

const factsOf = (row: ExceptionalRecordRow) => ({
  id: row.id,
  file: row.file_id,
  fileName: row.file_name,
  line: row.line,
  merchantNumber: row.merchant_number,
  recordType: row.record_type,
  transactionType: row.transaction_type,
  cashflow: row.cashflow,
  status: row.status,
  settlementDate: row.settlement_date,
  amount: exactDecimal(row.amount_minor, row.currency),
  currency: row.currency,
  references: row.references,
  ...(row.brand !== null && { brand: row.brand }),
  ...(row.last4 !== null && { last4: row.last4 }),
  ...(row.match_status !== null && { matchStatus: row.match_status }),
  ...(row.tier !== null && { tier: row.tier }),
  candidates: row.candidates,
  candidateCount: row.candidate_count,
  discrepancies: row.discrepancies,
  ...(row.is_unconfirmed && { isUnconfirmed: true as const }),
  ...(row.is_failed && { isFailed: true as const }),
  ...(row.retry_until !== null && { retryUntil: row.retry_until.toISOString() }),
})

/** An approved payment that no settlement record has paid out. */
export type UnsettledPaymentView = {
  readonly id: string
  readonly shortId: string
  readonly merchantTransactionId?: string
  readonly paymentType: string
  /** ISO 8601 in UTC. */
  readonly createdAt: string
  readonly amount: string
  readonly currency: string
  readonly channel: string
  readonly connector: string
  readonly mode: string
}

export const unsettledView = (row: UnsettledRow): UnsettledPaymentView => ({
  id: row.id,
  shortId: shortId(row.short_no),
  ...(row.merchant_transaction_id !== null && {
    merchantTransactionId: row.merchant_transaction_id,
  }),
  paymentType: row.payment_type,
  createdAt: new Date(idTimeMs(row.id)).toISOString(),
  amount: exactDecimal(row.minor, row.currency),
  ...{ currency: row.currency, channel: row.channel_id, connector: row.connector, mode: row.mode },
})
