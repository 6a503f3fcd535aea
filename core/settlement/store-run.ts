/** SQL of runs over records that exist. */
import { sql } from '../db/sql.ts'
import type { ScopeRow } from './store-scope.ts'

export const scopesById = (ids: readonly string[]) => sql<ScopeRow>`
  select id, connector, mode, merchant_number, clock_id, entity_id, only_account_id
  from tollgate.settlement_scope
  where id = any(${ids}::uuid[])
  order by id`

const hasUndecided = sql`exists (
    select
    from tollgate.settlement_record as record
    where record.scope_id = scope.id and record.retry_until is not null)`

/** Gives scopes with undecided records a timer. A timer that is there keeps its time. */
export const planRetries = (scopeIds: readonly string[], afterMs: number) => sql`
  insert into tollgate.timer (id, due_at, kind, ref)
  select gen_random_uuid(), now() + ${afterMs}::bigint * interval '1 millisecond', 'settlement-retry',
    replace(scope.id::text, '-', '')
  from unnest(${scopeIds}::uuid[]) as scope (id)
  where ${hasUndecided}
  on conflict (kind, ref) do nothing`

/**
 * Stages copies of the next undecided records of a scope, in the order of their keys.
 *
 * @param after The last key of the page before; null: none. @param staged The number of lines before.
 */
export const stageUndecided = (
  runId: string,
  scopeId: string,
  after: Buffer | null,
  staged: number,
  limit: number,
) => sql<{ lines: number; last: Buffer | null }>`
with next as materialized (
  select scope_id, merchant_number, record_type, transaction_type, cashflow, status, key, content, settlement_id, batch,
    settlement_date, requested_at, requested, amount_minor, currency, settled_minor, settled_currency, fee_minor,
    fx_rate, named_payment, named_key, ref1, ref2, ref3, merchant_transaction_id, merchant_invoice_id, short_no, brand,
    last4, holder, bank_code, descriptor, reason, reference
  from tollgate.settlement_record
  where scope_id = ${scopeId}::uuid and retry_until is not null and (${after}::bytea is null or key > ${after}::bytea)
  order by key
  limit ${limit}::integer),
copied as (
  insert into tollgate.settlement_stage (file_id, line, scope_id, merchant_number, record_type, transaction_type,
    cashflow, status, key, content, settlement_id, batch, settlement_date, requested_at, requested, amount_minor,
    currency, settled_minor, settled_currency, fee_minor, fx_rate, named_payment, named_key, ref1, ref2, ref3,
    merchant_transaction_id, merchant_invoice_id, short_no, brand, last4, holder, bank_code, descriptor, reason,
    reference)
  select ${runId}::uuid, ${staged}::integer + row_number() over (order by key), scope_id, merchant_number, record_type,
    transaction_type, cashflow, status, key, content, settlement_id, batch, settlement_date, requested_at, requested,
    amount_minor, currency, settled_minor, settled_currency, fee_minor, fx_rate, named_payment, named_key, ref1, ref2,
    ref3, merchant_transaction_id, merchant_invoice_id, short_no, brand, last4, holder, bank_code, descriptor, reason,
    reference
  from next)
select count(*)::integer as lines, (select key from next order by key desc limit 1) as last
from next`

/** The time to try again is over: records stay as they are, for operators. Ends some at a time. */
export const endRetries = (scopeId: string, limit: number) => sql<{ id: string }>`
update tollgate.settlement_record set retry_until = null
where id in (
  select id
  from tollgate.settlement_record
  where scope_id = ${scopeId}::uuid and retry_until is not null and retry_until <= now()
  limit ${limit}::integer)
returning id`

/** Files that a scope's undecided records came with, for the entries of the operators' list. */
export const filesOfRun = (runId: string) => sql<{ id: string; name: string }>`
select file.id, file.name
from tollgate.settlement_file as file
where file.id in (
  select record.file_id
  from tollgate.settlement_stage as stage
  join tollgate.settlement_record as record on record.scope_id = stage.scope_id and record.key = stage.key
  where stage.file_id = ${runId}::uuid)
order by file.id`
