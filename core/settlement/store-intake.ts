/** SQL of the acceptance of a file: its state, its batch lines and its exceptions, in one commit. */
import { sql } from '../db/sql.ts'
import { fence, type Held } from './stored-fence.ts'
import type { ExceptionLine, StagedBatchLine } from './types.ts'

/** A batch line and the scope of its merchant number. */
export type PlacedBatchLine = StagedBatchLine & { readonly id: string; readonly scopeId: string }

/** Moves an `arrived` file to `staged`, or counts one anew that was staged again. No row: this process lost a scope. */
export const acceptFile = (
  held: Held,
  forMs: number,
  file: {
    id: string
    reference: string | null
    earlierId: string | null
    records: number
    /** Those of them in the stage. */
    staged: number
    batchLines: number
    exceptions: number
    scopeIds: readonly string[]
  },
) => sql<{ id: string }>`
with ${fence(held, forMs)}
update tollgate.settlement_file set state = 'staged', reference = ${file.reference}::text,
  earlier_id = ${file.earlierId}::uuid, records = ${file.records}::integer,
  batch_lines = ${file.batchLines}::integer, exceptions = ${file.exceptions}::integer, scope_ids = ${file.scopeIds}::uuid[],
  staged_lines = ${file.staged}::integer, read_at = coalesce(settlement_file.read_at, now()), tries = 0, due_at = now()
from fence
where settlement_file.id = ${file.id}::uuid and settlement_file.state in ('arrived', 'staged')
returning settlement_file.id`

/** A batch line that is known with the same content adds nothing. */
export const addBatchLines = (fileId: string, lines: readonly PlacedBatchLine[]) => sql<{
  line: number
}>`
insert into tollgate.settlement_batch_line (id, scope_id, file_id, line, key, content, kind, cashflow, batch,
  settlement_date, value_date, payout_id, minor, currency, description)
select id, scope_id, ${fileId}::uuid, line, key, content, kind, cashflow, batch, settlement_date, value_date,
  payout_id, minor, currency, description
from unnest(${lines.map(({ id }) => id)}::uuid[], ${lines.map(({ scopeId }) => scopeId)}::uuid[],
  ${lines.map(({ line }) => line)}::integer[], ${lines.map(({ key }) => key)}::bytea[],
  ${lines.map(({ content }) => content)}::bytea[], ${lines.map(({ kind }) => kind)}::text[],
  ${lines.map(({ cashflow }) => cashflow)}::text[], ${lines.map(({ batch }) => batch)}::text[],
  ${lines.map(({ settlementDate }) => settlementDate)}::date[],
  ${lines.map(({ valueDate }) => valueDate)}::date[], ${lines.map(({ payoutId }) => payoutId)}::text[],
  ${lines.map(({ minor }) => String(minor))}::bigint[], ${lines.map(({ currency }) => currency)}::text[],
  ${lines.map(({ description }) => description)}::text[])
  as given (id, scope_id, line, key, content, kind, cashflow, batch, settlement_date, value_date, payout_id, minor,
    currency, description)
on conflict (scope_id, key) do nothing
returning line`

/** Lines that are known with another content. */
export const changedBatchLines = (lines: readonly PlacedBatchLine[]) => sql<{ line: number }>`
select given.line
from unnest(${lines.map(({ scopeId }) => scopeId)}::uuid[], ${lines.map(({ line }) => line)}::integer[],
  ${lines.map(({ key }) => key)}::bytea[], ${lines.map(({ content }) => content)}::bytea[])
  as given (scope_id, line, key, content)
join tollgate.settlement_batch_line as known on known.scope_id = given.scope_id and known.key = given.key
where known.content <> given.content
order by given.line`

/** Lines of an earlier file with another reference. Those that a payout has once may be in several files. */
export const repeatedBatchLines = (
  fileId: string,
  reference: string | null,
  lines: readonly PlacedBatchLine[],
) => sql<{ line: number }>`
select given.line
from unnest(${lines.map(({ scopeId }) => scopeId)}::uuid[], ${lines.map(({ line }) => line)}::integer[],
  ${lines.map(({ key }) => key)}::bytea[], ${lines.map(({ content }) => content)}::bytea[])
  as given (scope_id, line, key, content)
join tollgate.settlement_batch_line as known on known.scope_id = given.scope_id and known.key = given.key
join tollgate.settlement_file as earlier on earlier.id = known.file_id
where known.content = given.content and known.kind not in ('payout', 'opening', 'closing')
  and earlier.id <> ${fileId}::uuid and earlier.reference is distinct from ${reference}::text
order by given.line`

/** What an earlier reading of the file found; the present one finds it again. */
export const dropExceptions = (fileId: string) => sql`
delete from tollgate.settlement_exception where file_id = ${fileId}::uuid`

export const addExceptions = (
  fileId: string,
  exceptions: readonly (ExceptionLine & { readonly id: string })[],
) => sql`
insert into tollgate.settlement_exception (id, file_id, line, kind, detail)
select id, ${fileId}::uuid, line, kind, jsonb_strip_nulls(jsonb_build_object('why', why, 'number', number))
from unnest(${exceptions.map(({ id }) => id)}::uuid[], ${exceptions.map(({ line }) => line)}::integer[],
  ${exceptions.map(({ kind }) => kind)}::text[], ${exceptions.map(({ why }) => why)}::text[],
  ${exceptions.map(({ number }) => number ?? null)}::text[])
  as given (id, line, kind, why, number)
on conflict (file_id, line, kind) do nothing`
