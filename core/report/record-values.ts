/** A record by the names of the API: one map for JSON and for the columns of the file. */
import {
  brandOf,
  type Field,
  groupsByName,
  isResultCode,
  resultDescription,
} from '@tollgate/schemas'
import { shortId } from '../ids.ts'
import { exactDecimal, fitsWire, formatAmount } from '../money.ts'
import type { RecordRow } from './stored-record.ts'

/** The entities above a record, and the zone of its institute. */
export type RecordPlace = {
  readonly psp?: string
  readonly division?: string
  readonly merchant?: string
  readonly zone: string
}

/** Names of the API with their values; absent values are undefined. */
export type RecordValues = Readonly<Record<string, string | readonly string[] | undefined>>

/** The fields of one record, in the order of the table. */
export const recordFields: readonly Field[] = groupsByName.get('reconciliation record')!.fields

/** Two decimals as everywhere in the API; all decimals of an amount that has more. */
export const reportAmount = (minor: bigint, currency: string): string =>
  fitsWire(minor, currency) ? formatAmount(minor, currency) : exactDecimal(minor, currency)

export function valuesOf(row: RecordRow, place: RecordPlace): RecordValues {
  const matched = row.candidate_count === 1 ? row.candidates[0] : undefined
  return {
    recordType: row.record_type,
    transactionType: row.transaction_type,
    'settlement.cashflow': row.cashflow,
    'clearingInstitute.merchantId': row.merchant_number,
    'merchantAccount.id': row.account_id ?? undefined,
    'merchantAccount.name': row.account_name ?? undefined,
    pspEntityId: place.psp,
    divisionEntityId: place.division,
    merchantEntityId: place.merchant,
    // Every row has one, so that a correction replaces the row before: the id stays the same in all versions.
    'settlement.id': row.settlement_id ?? row.id,
    'payment.id': matched,
    shortId: shortIdOf(row),
    'clearingInstitute.txId1': row.ref1 ?? undefined,
    'clearingInstitute.txId2': row.ref2 ?? undefined,
    'clearingInstitute.txId3': row.ref3 ?? undefined,
    amount: reportAmount(row.amount_minor, row.currency),
    currency: row.currency,
    paymentBrand: row.brand ?? row.paid_brand ?? undefined,
    presentmentDate: row.requested_time ?? wallTime(row.read_at, place.zone),
    'settlement.amount': reportAmount(row.settled_minor, row.settled_currency),
    'settlement.currency': row.settled_currency,
    'settlement.fee':
      row.fee_minor === null ? undefined : reportAmount(row.fee_minor, row.settled_currency),
    'settlement.fxRate': row.fx_rate ?? (row.currency === row.settled_currency ? '1' : undefined),
    'settlement.date': row.settlement_day,
    'settlement.status': row.status,
    descriptor: row.descriptor ?? undefined,
    ...accountOf(row),
    ...reasonOf(row),
    'settlement.format': row.format,
    'clearingInstitute.name': row.institute,
    'matchedTransactions.status': row.match_status ?? undefined,
    'matchedTransactions.payment[n].id': row.candidates,
    'chargebackTransaction.id': row.dispute_record_id ?? undefined,
    'payment.amount':
      row.paid_minor === null ? undefined : reportAmount(row.paid_minor, row.paid_currency!),
    'payment.currency': row.paid_currency ?? undefined,
    merchantTransactionId: row.merchant_transaction_id ?? row.paid_transaction_id ?? undefined,
    merchantInvoiceId: row.merchant_invoice_id ?? undefined,
  }
}

function shortIdOf({ paid_short_no: ofPayment, short_no: ofFile }: RecordRow): string | undefined {
  const no = ofPayment ?? ofFile
  return no === null ? undefined : shortId(no)
}

/** Last digits and holder are those of a card, or of a bank account. */
function accountOf({
  brand,
  paid_brand,
  bank_code: bankCode,
  last4,
  holder,
}: RecordRow): RecordValues {
  const known = brandOf(brand ?? paid_brand ?? '')?.account
  const isBank = known === 'bankAccount' || (known !== 'card' && bankCode !== null)
  const group = isBank ? 'bankAccount' : 'card'
  return {
    [`${group}.last4Digits`]: last4?.slice(-4),
    [`${group}.holder`]: holder ?? undefined,
    'bankAccount.bankCode': bankCode ?? undefined,
  }
}

const longestCode = 11

function reasonOf({ record_type: recordType, reason }: RecordRow): RecordValues {
  if (reason === null || !recordType.startsWith('CHARGEBACK')) return {}
  // A scheme's own code can be longer than the column of codes.
  if (reason.length > longestCode) return { 'result.description': reason }
  return {
    'result.code': reason,
    'result.description': isResultCode(reason) ? resultDescription(reason) : undefined,
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** `yyyy-MM-dd HH:mm:ss` in a zone. */
function wallTime(at: Date | null, zone: string): string | undefined {
  if (at === null) return undefined
  let format = formats.get(zone)
  if (format === undefined) {
    // Sweden writes times in this form.
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    })
    formats.set(zone, format)
  }
  return format.format(at)
}
