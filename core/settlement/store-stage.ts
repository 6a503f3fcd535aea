/** SQL of staged lines: those of a file that is read and not decided yet. */
import { from as copyFrom } from 'pg-copy-streams'
import { sql } from '../db/sql.ts'
import type { StagedRecord } from './types.ts'

/** Columns of a staged line, in the order of the copy. */
export const stageColumns = [
  'file_id',
  'line',
  'scope_id',
  'merchant_number',
  'record_type',
  'transaction_type',
  'cashflow',
  'status',
  'key',
  'content',
  'settlement_id',
  'batch',
  'settlement_date',
  'requested_at',
  'requested',
  'amount_minor',
  'currency',
  'settled_minor',
  'settled_currency',
  'fee_minor',
  'fx_rate',
  'named_payment',
  'named_key',
  'ref1',
  'ref2',
  'ref3',
  'merchant_transaction_id',
  'merchant_invoice_id',
  'short_no',
  'brand',
  'last4',
  'holder',
  'bank_code',
  'descriptor',
  'reason',
  'reference',
] as const

export const copyStage = (schema: string) =>
  copyFrom(`copy ${schema}.settlement_stage (${stageColumns.join(', ')}) from stdin`)

/** One line of the copy, in the text format of Postgres. */
export function copyLine(fileId: string, scopeId: string, record: StagedRecord): string {
  const [ref1, ref2, ref3] = record.refs
  const values = [
    fileId,
    record.line,
    scopeId,
    record.merchantNumber,
    record.recordType,
    record.transactionType,
    record.cashflow,
    record.status,
    record.key,
    record.content,
    record.settlementId,
    record.batch,
    record.settlementDate,
    record.requestedAt,
    record.requested,
    record.amountMinor,
    record.currency,
    record.settledMinor,
    record.settledCurrency,
    record.feeMinor,
    record.fxRate,
    record.namedPayment,
    record.namedKey,
    ref1,
    ref2,
    ref3,
    record.merchantTransactionId,
    record.merchantInvoiceId,
    record.shortNo,
    record.brand,
    record.last4,
    record.holder,
    record.bankCode,
    record.descriptor,
    record.reason,
    record.reference,
  ]
  return `${values.map(copyValue).join('\t')}\n`
}

const special = /[\\\t\n\r]/
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

function copyValue(value: string | number | bigint | Buffer | Date | null): string {
  if (value === null) return '\\N'
  if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`
  if (value instanceof Date) return value.toISOString()
  const text = String(value)
  return special.test(text) ? text.replace(/[\\\t\n\r]/g, (found) => escapes[found]!) : text
}

export const emptyStage = (fileId: string) => sql`
  delete from tollgate.settlement_stage
  where file_id = ${fileId}::uuid`

export const stagedLines = (fileId: string) => sql<{ lines: number }>`
  select count(*)::integer as lines
  from tollgate.settlement_stage
  where file_id = ${fileId}::uuid`

/**
 * Equal lines without an id of the institute are so many records: from the second on, the occurrence is a
 * part of the key. A line with an id that comes twice stays one record. One line can have several records,
 * so a row is found by its place.
 */
export const numberTwins = (fileId: string) => sql`
update tollgate.settlement_stage as stage
set key = substring(sha256(stage.key || int8send(twin.occurrence)) for 16)
from (
  select place, occurrence
  from (
    select ctid as place, row_number() over (partition by key order by line, content) as occurrence
    from tollgate.settlement_stage
    where file_id = ${fileId}::uuid and settlement_id is null) as counted
  where occurrence > 1) as twin
where stage.ctid = twin.place`
