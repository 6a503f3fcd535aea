/** SQL of staged lines: those of a file that is read and not decided yet. */
import { from as copyFrom } from 'pg-copy-streams'
import { type Sql, sql } from '../db/sql.ts'
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

/** Part of a statement: the staged lines without an id, with the record of their key. */
const unnamed = (fileId: string) => sql`
unnamed as materialized (
  select stage.ctid as place, stage.line, stage.scope_id, stage.key, record.file_id as known_file
  from tollgate.settlement_stage as stage
  left join lateral (
    select record.file_id
    from tollgate.settlement_record as record
    where record.scope_id = stage.scope_id and record.key = stage.key
    offset 0) as record on true
  where stage.file_id = ${fileId}::uuid and stage.settlement_id is null)`

/** Lines without an id that an earlier file with another reference has, too: their number and the first of them. */
export const repeatedLines = (fileId: string, reference: string | null, shown: number) => sql<{
  count: number
  first: number[]
}>`
with ${unnamed(fileId)}
select count(*)::integer as count,
  coalesce((array_agg(unnamed.line order by unnamed.line))[1:${shown}::integer], '{}') as first
from unnamed
join tollgate.settlement_file as earlier on earlier.id = unnamed.known_file
where earlier.id <> ${fileId}::uuid and earlier.reference is distinct from ${reference}::text`

/** Lines without an id that no file had before. */
export const addedLines = (fileId: string, shown: number) => sql<{
  count: number
  first: number[]
}>`
with ${unnamed(fileId)}
select count(*)::integer as count,
  coalesce((array_agg(line order by line))[1:${shown}::integer], '{}') as first
from unnamed
where known_file is null`

/** What a line without an id says about its payment; null: nothing. */
const subject = (of: Sql) => sql`case
    when coalesce(${of}.named_payment::text, ${of}.named_key, ${of}.ref1, ${of}.ref2, ${of}.ref3,
      ${of}.merchant_transaction_id, ${of}.short_no::text) is not null
    then jsonb_build_array(${of}.scope_id, ${of}.record_type, ${of}.transaction_type, ${of}.batch,
      ${of}.named_payment, ${of}.named_key, ${of}.ref1, ${of}.ref2, ${of}.ref3, ${of}.merchant_transaction_id,
      ${of}.short_no)::text end`

/**
 * A corrected file has the reference of an earlier one. Its lines without an id that name the same payment as
 * lines of the earlier file, which do not come again, are those lines with other values: they get their keys.
 */
export const joinCorrected = (fileId: string, institute: string, reference: string) => sql`
with ${unnamed(fileId)},
gone as materialized (
  select record.scope_id, record.key, ${subject(sql`record`)} as subject, record.line
  from tollgate.settlement_file as earlier
  join tollgate.settlement_record as record on record.file_id = earlier.id
  where earlier.institute = ${institute}::text and earlier.reference = ${reference}::text
    and earlier.state in ('staged', 'decided', 'done') and earlier.id <> ${fileId}::uuid
    and record.settlement_id is null
    and not exists (
      select from unnamed where unnamed.scope_id = record.scope_id and unnamed.key = record.key)),
earlier as materialized (
  select scope_id, key, subject, row_number() over (partition by subject order by line, key) as no
  from gone
  where subject is not null),
added as materialized (
  select place, scope_id, subject, row_number() over (partition by subject order by line) as no
  from (
    select unnamed.place, unnamed.scope_id, unnamed.line, ${subject(sql`stage`)} as subject
    from unnamed
    join tollgate.settlement_stage as stage on stage.ctid = unnamed.place
    where unnamed.known_file is null) as given
  where subject is not null)
update tollgate.settlement_stage as stage set key = earlier.key
from added
join earlier on earlier.subject = added.subject and earlier.no = added.no
where stage.ctid = added.place`
