/** SQL of the end of a decision: changed lines, control totals, and the entries of the operators' list. */
import { type Sql, sql } from '../db/sql.ts'
import { isExceptional } from './stored-exceptional.ts'
import type { Held } from './stored-fence.ts'

/**
 * Lines with the key of a record and another content. The first version stands; the record is marked, and
 * the exception says what was expected and what came.
 */
export const noteChanged = (fileId: string, lines: readonly number[]) => sql`
with changed as materialized (
  select coalesce(stage.shown_line, stage.line) as line, record.id, jsonb_build_object(
    'why', 'a record of this key exists with other content',
    'expected', jsonb_build_object('amount', record.amount_minor::text, 'currency', record.currency,
      'settled', record.settled_minor::text, 'settledCurrency', record.settled_currency,
      'fee', record.fee_minor::text, 'date', record.settlement_date),
    'came', jsonb_build_object('amount', stage.amount_minor::text, 'currency', stage.currency,
      'settled', stage.settled_minor::text, 'settledCurrency', stage.settled_currency,
      'fee', stage.fee_minor::text, 'date', stage.settlement_date)) as detail
  from unnest(${lines}::integer[]) as given (no)
  cross join lateral (
    select line, shown_line, scope_id, key, content, amount_minor, currency, settled_minor, settled_currency, fee_minor,
      settlement_date
    from tollgate.settlement_stage
    where settlement_stage.file_id = ${fileId}::uuid and settlement_stage.line = given.no
    offset 0) as stage
  cross join lateral (
    select id, content, amount_minor, currency, settled_minor, settled_currency, fee_minor, settlement_date
    from tollgate.settlement_record as known
    where known.scope_id = stage.scope_id and known.key = stage.key
    offset 0) as record
  where record.content <> stage.content),
noted as (
  insert into tollgate.settlement_exception (id, file_id, line, kind, detail)
  select gen_random_uuid(), ${fileId}::uuid, line, 'CHANGED', detail
  from changed
  on conflict (file_id, line, kind) do nothing)
update tollgate.settlement_record as record set version = record.version + 1, txid = pg_current_xact_id(),
  discrepancies = array(
    select name from unnest(record.discrepancies || array['CHANGED']) as given (name) order by name)
where record.id in (select id from changed) and not 'CHANGED' = any(record.discrepancies)`

export type BatchRow = {
  scope_id: string
  entity_id: string
  name: string
  currency: string
  first_day: string
  /** Null: without a payout line. */
  is_balanced: boolean | null
  expected: bigint
  came: bigint
}

/**
 * Balances the batches of a file: opening, gross amounts, less fees, and other lines must equal payout and
 * closing. A record that failed is not paid out: only its fee counts. Writes nothing: the leases keep the sums.
 * After a crash the stage has only the lines that were no records yet.
 */
export const batchesOf = (fileId: string) => sql<BatchRow>`
with named as materialized (
  select scope_id, batch, settled_currency as currency
  from tollgate.settlement_stage
  where file_id = ${fileId}::uuid and scope_id is not null
  union
  select scope_id, batch, settled_currency
  from tollgate.settlement_record
  where file_id = ${fileId}::uuid
  union
  select scope_id, batch, currency
  from tollgate.settlement_batch_line
  where file_id = ${fileId}::uuid),
total as materialized (
  select named.scope_id, named.batch, named.currency, records.minor + lines.minor as expected, lines.paid as came,
    lines.has_payout, least(records.first_day, lines.first_day) as first_day
  from named
  cross join lateral (
    select coalesce(sum(case when status = 'FAILED' then 0 when cashflow = 'POS' then settled_minor
      else -settled_minor end - coalesce(fee_minor, 0)), 0)::bigint as minor, min(settlement_date) as first_day
    from tollgate.settlement_record as record
    where record.scope_id = named.scope_id and record.batch = named.batch
      and record.settled_currency = named.currency) as records
  cross join lateral (
    select coalesce(sum(signed.minor) filter (where line.kind not in ('payout', 'closing')), 0)::bigint as minor,
      coalesce(sum(signed.minor) filter (where line.kind in ('payout', 'closing')), 0)::bigint as paid,
      coalesce(bool_or(line.kind = 'payout'), false) as has_payout, min(line.settlement_date) as first_day
    from tollgate.settlement_batch_line as line
    cross join lateral (
      select case when line.cashflow = 'POS' then line.minor else -line.minor end as minor) as signed
    where line.scope_id = named.scope_id and line.batch = named.batch and line.currency = named.currency) as lines)
select total.scope_id, scope.entity_id, total.batch as name, total.currency, total.first_day::text as first_day,
  case when total.has_payout then total.expected = total.came end as is_balanced, total.expected, total.came
from total
join tollgate.settlement_scope as scope on scope.id = total.scope_id
where total.first_day is not null
order by total.scope_id, total.batch, total.currency`

/** Stores the batches of a file. One row for each, with its id. */
export const saveBatches = (batches: readonly BatchRow[]) => sql<{
  id: string
  scope_id: string
  name: string
  currency: string
}>`
insert into tollgate.settlement_batch (id, scope_id, entity_id, name, currency, settlement_date, is_balanced)
select gen_random_uuid(), scope_id, entity_id, name, currency, first_day, is_balanced
from unnest(${batches.map((batch) => batch.scope_id)}::uuid[], ${batches.map((batch) => batch.entity_id)}::uuid[],
  ${batches.map(({ name }) => name)}::text[], ${batches.map(({ currency }) => currency)}::text[],
  ${batches.map((batch) => batch.first_day)}::date[], ${batches.map((batch) => batch.is_balanced)}::boolean[])
  as given (scope_id, entity_id, name, currency, first_day, is_balanced)
on conflict (scope_id, name, currency) do update set is_balanced = excluded.is_balanced,
  settlement_date = excluded.settlement_date, entity_id = excluded.entity_id
returning id, scope_id, name, currency`

/**
 * Kinds of exceptions of a file, with the first ten lines and the number of each. The partial index of exceptional
 * records serves the condition, so that a large file costs no more than its exceptions.
 *
 * @param from An id below those of the records of the file.
 */
export const exceptionKinds = (fileId: string, from: string) => sql<{
  kind: string
  lines: number[]
  /** Ids of the first three records. */
  records: string[] | null
  count: number
  entity_id: string | null
  /** The last failure of an effect, to the microsecond: an operator gives those up to it. */
  failed_at: string | null
}>`
with exceptional as materialized (
  select match_status, discrepancies, case when effect = 'failed' then effect_after end as failed_at, is_unconfirmed,
    record_type = 'SETTLED' and status = 'FAILED' and match_status = 'MATCHED' as is_unpaid, line, scope_id, id
  from tollgate.settlement_record as record
  where record.file_id = ${fileId}::uuid and record.id > ${from}::uuid and ${isExceptional}),
found as (
  select match_status as kind, line, scope_id, null::timestamptz as failed_at, id
  from exceptional
  where match_status in ('NOT_MATCHED', 'MULTIPLE_MATCHES')
  union all
  -- A record that does not pay out an approved payment is the opposite of one that pays out a declined one.
  select case when name = 'STATE' and is_unpaid then 'FAILED' else name end, line, scope_id, null, id
  from exceptional
  cross join lateral unnest(discrepancies) as given (name)
  where name <> 'CHANGED'
  union all
  select 'EFFECT', line, scope_id, failed_at, id
  from exceptional
  where failed_at is not null
  union all
  select 'UNCONFIRMED', line, scope_id, null, id
  from exceptional
  where is_unconfirmed
  union all
  select 'CHANGED', exception.line, file.scope_id, null, null
  from tollgate.settlement_exception as exception
  join tollgate.settlement_file as file on file.id = exception.file_id
  where exception.file_id = ${fileId}::uuid and exception.kind = 'CHANGED')
select found.kind, (array_agg(found.line order by found.line))[1:10] as lines, count(*)::integer as count,
  (array_agg(found.id order by found.line) filter (where found.id is not null))[1:3] as records,
  case when count(distinct scope.entity_id) = 1 then min(scope.entity_id::text)::uuid end as entity_id,
  to_json(max(found.failed_at)) #>> '{}' as failed_at
from found
left join tollgate.settlement_scope as scope on scope.id = found.scope_id
group by found.kind
order by found.kind`

/** One open entry for each reference; a later one of the same reference says the present state. */
export const listException = (entry: {
  id: string
  reference: string
  entityId: string | null
  detail: Readonly<Record<string, unknown>>
}): Sql => sql`
insert into tollgate.attention (id, kind, payment_id, entity_id, detail, reference)
values (${entry.id}::uuid, 'settlement', null, ${entry.entityId}::uuid, ${JSON.stringify(entry.detail)}::jsonb,
  ${entry.reference}::text)
on conflict (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference)
  where resolved_at is null
do update set detail = excluded.detail || jsonb_strip_nulls(jsonb_build_object('failedAt',
  -- Of two lists at once, the earlier one can be written last.
  greatest((attention.detail ->> 'failedAt')::timestamptz, (excluded.detail ->> 'failedAt')::timestamptz)))`

/** The engine itself found that nothing is left of an entry. */
export const endException = (reference: string) => sql`
update tollgate.attention set resolved_at = now(), resolved_by = 'engine'
where payment_id is null and kind = 'settlement' and reference = ${reference}::text and resolved_at is null`

export const endExceptions = (references: readonly string[]) => sql`
update tollgate.attention set resolved_at = now(), resolved_by = 'engine'
where payment_id is null and kind = 'settlement' and reference = any(${references}::text[]) and resolved_at is null`

/** Open entries of a file. */
export const listedOf = (fileId: string) => sql<{ reference: string }>`
select reference
from tollgate.attention
where payment_id is null and kind = 'settlement' and resolved_at is null
  and reference like ${`% ${fileId}`}::text`

/** The file is decided: its effects come next. The leases are held by an earlier statement of the commit. */
export const fileDecided = (fileId: string, { ids }: Held) => sql<{ id: string }>`
update tollgate.settlement_file set state = 'decided', tries = 0
where id = ${fileId}::uuid and state = 'staged' and scope_id = any(${[...ids]}::uuid[])
returning id`
