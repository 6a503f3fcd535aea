/** The columns of a record as reports show it, and the tables that they come from. */
import { sql } from '../db/sql.ts'

export type RecordRow = {
  id: string
  version: number
  entity_id: string
  merchant_number: string
  record_type: string
  transaction_type: string
  cashflow: string
  status: string
  settlement_id: string | null
  /** `yyyy-MM-dd` and `yyyy-MM-dd HH:mm:ss` in the zone of the institute. */
  settlement_day: string
  requested_time: string | null
  amount_minor: bigint
  currency: string
  settled_minor: bigint
  settled_currency: string
  fee_minor: bigint | null
  fx_rate: string | null
  ref1: string | null
  ref2: string | null
  ref3: string | null
  merchant_transaction_id: string | null
  merchant_invoice_id: string | null
  short_no: bigint | null
  brand: string | null
  last4: string | null
  holder: string | null
  bank_code: string | null
  descriptor: string | null
  reason: string | null
  match_status: string | null
  candidates: string[]
  candidate_count: number
  discrepancies: string[]
  dispute_record_id: string | null
  connector: string
  institute: string
  format: string
  /** The reading of the file, for records without a time. */
  read_at: Date | null
  account_id: string | null
  account_name: string | null
  /** Of the payment, if the record names exactly one. */
  paid_short_no: bigint | null
  paid_brand: string | null
  paid_transaction_id: string | null
  paid_minor: bigint | null
  paid_currency: string | null
}

/**
 * The row that takes a record out of the files of an entity that no longer has it: without amounts, and without
 * what it says about a payment.
 */
export const takenOut = <Row extends RecordRow>(row: Row, entityId: string): Row => ({
  ...row,
  entity_id: entityId,
  amount_minor: 0n,
  settled_minor: 0n,
  fee_minor: row.fee_minor === null ? null : 0n,
  short_no: null,
  ...{ last4: null, holder: null, bank_code: null, descriptor: null, reason: null },
  match_status: 'NOT_MATCHED',
  candidates: [],
  candidate_count: 0,
  discrepancies: [],
  dispute_record_id: null,
  ...{ account_id: null, account_name: null },
  ...{ paid_short_no: null, paid_brand: null, paid_transaction_id: null },
  ...{ paid_minor: null, paid_currency: null },
})

/** Of a `record`, joined by `recordsOfPage`. */
export const recordColumns = sql`record.id, record.version, record.entity_id, record.merchant_number,
    record.record_type, record.transaction_type, record.cashflow, record.status, record.settlement_id,
    record.settlement_date::text as settlement_day,
    to_char(record.requested_at, 'YYYY-MM-DD HH24:MI:SS') as requested_time, record.amount_minor, record.currency,
    record.settled_minor, record.settled_currency, record.fee_minor, record.fx_rate, record.ref1, record.ref2,
    record.ref3, record.merchant_transaction_id, record.merchant_invoice_id, record.short_no, record.brand,
    record.last4, record.holder, record.bank_code, record.descriptor, record.reason, record.match_status,
    record.candidates, record.candidate_count, record.discrepancies, record.dispute_record_id, scope.connector,
    file.institute, file.format, file.read_at, account.id as account_id, channel.name as account_name,
    paid.short_no as paid_short_no, paid.brand as paid_brand,
    paid.merchant_transaction_id as paid_transaction_id, paid.minor as paid_minor, paid.currency as paid_currency`

/**
 * The records with the ids of `page`. The account of a record is that of its payment, else the only one of its
 * merchant number. Offset 0: records and payments are looked up by their ids, because a join of many would read
 * the whole tables.
 */
export const recordsOfPage = sql`page
  cross join lateral (
    select id, version, txid, scope_id, file_id, entity_id, account_id, merchant_number, record_type,
      transaction_type, cashflow, status, settlement_id, settlement_date, requested_at, amount_minor, currency,
      settled_minor, settled_currency, fee_minor, fx_rate, ref1, ref2, ref3, merchant_transaction_id,
      merchant_invoice_id, short_no, brand, last4, holder, bank_code, descriptor, reason, match_status, candidates,
      candidate_count, discrepancies, dispute_record_id
    from tollgate.settlement_record
    where settlement_record.id = page.id
    offset 0) as record
  join tollgate.settlement_scope as scope on scope.id = record.scope_id
  join tollgate.settlement_file as file on file.id = record.file_id
  left join tollgate.merchant_account as account on account.id = coalesce(record.account_id,
    scope.only_account_id)
  left join tollgate.entity as channel on channel.id = account.channel_id
  left join lateral (
    select payment.short_no, payment.brand, payment.merchant_transaction_id, payment.currency,
      coalesce(payment.approved_minor, payment.amount_minor) as minor
    from tollgate.payment
    where payment.id = record.candidates[1] and record.candidate_count = 1
    offset 0) as paid on true`
