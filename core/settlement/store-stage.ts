/** SQL of staged lines: those of a file that is read and not decided yet. */
import { from as copyFrom } from 'pg-copy-streams'
import { type Sql, sql } from '../db/sql.ts'
import type { StagedRecord } from './types.ts'

/** Columns of a staged line, in the order of the copy. */
export const stageColumns = [
  'file_id',
  'line',
  'shown_line',
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

/**
 * One line of the copy, in the text format of Postgres.
 *
 * @param no Counts the records of the file: one of its lines can have several.
 */
export function copyLine(
  fileId: string,
  scopeId: string,
  record: StagedRecord,
  no: number = record.line,
): string {
  const [ref1, ref2, ref3] = record.refs
  const values = [
    fileId,
    no,
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

/** Which lines are records with the same content. Numbers from 1. */
export const knownLines = (
  lines: readonly { readonly scopeId: string; readonly key: Buffer; readonly content: Buffer }[],
) => sql<{ no: number }>`
select given.no::integer as no
from unnest(${lines.map(({ scopeId }) => scopeId)}::uuid[], ${lines.map(({ key }) => key)}::bytea[],
  ${lines.map(({ content }) => content)}::bytea[]) with ordinality as given (scope_id, key, content, no)
cross join lateral (
  select content
  from tollgate.settlement_record as record
  where record.scope_id = given.scope_id and record.key = given.key
  offset 0) as known
where known.content = given.content`

/** A row while the lines of an accepted file are all staged: a crash of the database server takes them. */
export const wholeStage = (fileId: string) => sql<{ id: string }>`
  select id
  from tollgate.settlement_file
  where id = ${fileId}::uuid and staged_lines <= (
    select count(*) from tollgate.settlement_stage where file_id = ${fileId}::uuid)`

/** The lines of an accepted file are staged again: until its next acceptance they are no whole. */
export const noteUnstaged = (fileId: string) => sql`
  update tollgate.settlement_file set staged_lines = null
  where id = ${fileId}::uuid and staged_lines is not null`

/**
 * Equal lines without an id of the institute are so many records: from the second on, the occurrence is a
 * part of the key. A line with an id that comes twice stays one record. The last occurrences come first, so that
 * the others keep their numbers once these have keys of their own.
 */
export const twinsOf = (fileId: string, limit: number) => sql<{ line: number; occurrence: number }>`
select line, occurrence::integer as occurrence
from (
  select line, row_number() over (partition by key order by line) as occurrence
  from tollgate.settlement_stage
  where file_id = ${fileId}::uuid and settlement_id is null) as counted
where occurrence > 1
order by occurrence desc, line
limit ${limit}::integer`

export const numberTwins = (
  fileId: string,
  twins: readonly { readonly line: number; readonly occurrence: number }[],
) => sql`
update tollgate.settlement_stage as stage
set key = substring(sha256(stage.key || int8send(twin.occurrence)) for 16)
from unnest(${twins.map(({ line }) => line)}::integer[],
  ${twins.map(({ occurrence }) => String(occurrence))}::bigint[]) as twin (line, occurrence)
where stage.file_id = ${fileId}::uuid and stage.line = twin.line`

/** Part of a statement: the staged lines without an id, with the record of their key. */
const unnamed = (fileId: string) => sql`
unnamed as materialized (
  select stage.line, coalesce(stage.shown_line, stage.line) as shown, stage.scope_id, stage.key, record.file_id as known_file
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
  coalesce((array_agg(unnamed.shown order by unnamed.line))[1:${shown}::integer], '{}') as first
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
  coalesce((array_agg(shown order by line))[1:${shown}::integer], '{}') as first
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
 * lines of the earlier file, which do not come again, are those lines with other values: they get their keys. Of one
 * payment, the first lines come first.
 */
export const correctedLines = (
  fileId: string,
  institute: string,
  reference: string,
  limit: number,
) => sql<{ line: number; key: Buffer }>`
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
  select line, scope_id, subject, row_number() over (partition by subject order by line) as no
  from (
    select unnamed.line, unnamed.scope_id, ${subject(sql`stage`)} as subject
    from unnamed
    join tollgate.settlement_stage as stage on stage.file_id = ${fileId}::uuid and stage.line = unnamed.line
    where unnamed.known_file is null) as given
  where subject is not null)
select added.line, earlier.key
from added
join earlier on earlier.subject = added.subject and earlier.no = added.no
order by added.subject, added.no
limit ${limit}::integer`

export const giveKeys = (
  fileId: string,
  lines: readonly { readonly line: number; readonly key: Buffer }[],
) => sql`
update tollgate.settlement_stage as stage set key = given.key
from unnest(${lines.map(({ line }) => line)}::integer[], ${lines.map(({ key }) => key)}::bytea[])
  as given (line, key)
where stage.file_id = ${fileId}::uuid and stage.line = given.line`
