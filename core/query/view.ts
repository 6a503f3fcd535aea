/** The responses of searches: transactions of every kind in one format. */
import { type Answers, resultDescription } from '@tollgate/schemas'
import { type Draft, listResult, type ResultView, type ViewOfAnswer } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import { shortId } from '../ids.ts'
import { formatAmount } from '../money.ts'
import { approvedCode } from '../payment/decide.ts'
import type { Balance, Payment } from '../payment/types.ts'
import { type PaymentView, paymentView } from '../payment/view.ts'
import type { RecordRow } from './store.ts'

/** A payment in its usual view, or a record of a registration or schedule. */
export type TransactionView = ViewOfAnswer<
  Extract<Answers['query.get'], { id: string }>,
  'shortId' | 'paymentType'
>

/** Newest first. */
export type QueryView = {
  result: ResultView
  buildNumber: string
  timestamp: string
  ndc: string
  records: TransactionView[]
  /** Number of pages, at most 100. Absent with a cursor. */
  pages?: number
  /** The cursor of the next page; absent on the last page. */
  nextCursor?: string
}

/** The common fields of responses. */
export type Envelope = {
  /** The gateway's number of this request. */
  readonly ndc: string
  readonly buildNumber: string
  readonly now: Date
}

export function transactionView(entry: Entry, about: Envelope): TransactionView {
  return 'record' in entry
    ? recordView(entry.record, about)
    : (paymentView(entry.payment, entry.balance, about.ndc, about.buildNumber) as PaymentView)
}

function recordView(record: RecordRow, { ndc, buildNumber }: Envelope): TransactionView {
  const code = approvedCode[record.mode]
  const view: Draft = {
    id: record.id,
    shortId: shortId(record.short_no),
    paymentType: record.type,
    result: { code, description: resultDescription(code) },
    buildNumber,
    timestamp: wireTimestamp(record.created_at),
    ndc,
    // A change of a schedule refers to the schedule, all others to the payment that created the registration.
    referencedId:
      record.is_schedule && record.resource !== record.id ? record.resource : record.origin_id,
    registrationId: record.registration_id,
    registration: { id: record.registration_id },
  }
  if (record.brand !== null) view.paymentBrand = record.brand
  if (record.merchant_transaction_id !== null) {
    view.merchantTransactionId = record.merchant_transaction_id
  }
  if (record.type === 'SD' && record.amount_minor !== null && record.currency !== null) {
    view.amount = formatAmount(record.amount_minor, record.currency)
    view.currency = record.currency
  }
  return view as TransactionView
}

/** A transaction of a response, with the balance of an approved payment. */
export type Entry =
  | { readonly payment: Payment; readonly balance: Balance | undefined }
  | { readonly record: RecordRow }

export type Listed = {
  readonly entries: readonly Entry[]
  readonly pages?: number
  readonly nextCursor?: string
}

export function queryView({ entries, pages, nextCursor }: Listed, about: Envelope): QueryView {
  const { ndc, buildNumber, now } = about
  return {
    result: listResult(),
    records: entries.map((entry) => transactionView(entry, about)),
    ...(pages === undefined ? {} : { pages }),
    ...(nextCursor === undefined ? {} : { nextCursor }),
    buildNumber,
    timestamp: wireTimestamp(now),
    ndc,
  }
}
