/** SQL that starts and ends a run of matching. */
import { type Sql, sql } from '../../db/sql.ts'

/** Scopes of the staged lines of a run: their leases are held while it is decided. */
export const stagedScopes = (runId: string) => sql<{ scope_id: string }>`
  select distinct scope_id
  from tollgate.settlement_stage
  where file_id = ${runId}::uuid and scope_id is not null
  order by scope_id`

/** What a line is about, and the payment types that it can mean. */
const purpose = sql`case
    when stage.transaction_type in ('BATCH', 'MONTHLY', 'SUBMERCHANT', 'PAYMENT_FACILITATOR') then 'none'
    when stage.record_type = 'FEE' or stage.transaction_type like '%\\_FEE' then 'fee'
    when stage.record_type in ('CHARGEBACK', 'CHARGEBACK REVERSAL') then 'dispute'
    else 'settled' end`

const wanted = sql`case
    when stage.record_type in ('CHARGEBACK', 'CHARGEBACK REVERSAL') then array['DB', 'CP', 'RB', 'RC', 'RF']
    when stage.transaction_type = 'DEBIT' then array['DB', 'CP', 'RB', 'RC']
    when stage.transaction_type = 'CREDIT' then array['CD']
    when stage.transaction_type in ('REFUND', 'REFUND_FEE') then array['RF']
    when stage.transaction_type = 'AUTH_FEE' then array['PA', 'DB', 'CD', 'RB']
    when stage.transaction_type = 'CAPTURE_FEE' then array['CP', 'RC', 'DB', 'RB']
    when stage.transaction_type = 'CANCEL_FEE' then array['RV']
    else array[]::text[] end`

/**
 * Of lines with one key, the one with the lowest content, so that the order of lines changes nothing. Records
 * are stored by position, in the order of their keys.
 */
const workOf = (runId: string, zone: string, known: Sql, more: Sql) => sql`
insert into tollgate.settlement_work (run_id, line, scope_id, purpose, wanted, amount_minor, currency,
  named_payment, named_key, from_at, to_at, known, position)
select ${runId}::uuid, stage.line, stage.scope_id, ${purpose}, ${wanted}, stage.amount_minor, stage.currency,
  stage.named_payment, stage.named_key,
  stage.settlement_date::timestamp at time zone ${zone}::text - interval '45 days',
  stage.settlement_date::timestamp at time zone ${zone}::text + interval '3 days', ${known},
  row_number() over (order by stage.scope_id, stage.key)
from (
  select distinct on (scope_id, key) line, scope_id, key, record_type, transaction_type, amount_minor, currency,
    named_payment, named_key, settlement_date
  from tollgate.settlement_stage
  where file_id = ${runId}::uuid and scope_id is not null
  order by scope_id, key, content, line) as stage
${more}`

/** Every line that is no record yet. */
export const planNew = (runId: string, zone: string) =>
  workOf(
    runId,
    zone,
    sql`array[]::uuid[]`,
    sql`
where not exists (
  select
  from tollgate.settlement_record as record
  where record.scope_id = stage.scope_id and record.key = stage.key)`,
  )

/** Undecided records that were staged again, with the candidates that they had. */
export const planAgain = (runId: string, zone: string) =>
  workOf(
    runId,
    zone,
    sql`record.candidates`,
    sql`
join tollgate.settlement_record as record on record.scope_id = stage.scope_id and record.key = stage.key`,
  )

/**
 * A bank takes back what a shopper paid: beside a charge, a refund of the same name is not what a dispute is
 * about, even if only the refund has the amount of the line.
 */
export const leaveRefunds = (runId: string) => sql`
update tollgate.settlement_candidate as refund set is_eligible = false
from tollgate.settlement_work as work
where refund.run_id = ${runId}::uuid and refund.payment_type = 'RF' and refund.is_eligible
  and work.run_id = refund.run_id and work.line = refund.line and work.purpose = 'dispute'
  and exists (
    select
    from tollgate.settlement_candidate as charge
    where charge.run_id = refund.run_id and charge.line = refund.line and charge.tier = refund.tier
      and charge.is_eligible and charge.payment_type <> 'RF')`

/** The times of payments that any line, and that every line can be about; null without lines. */
export const workTimes = (runId: string) => sql<{
  from_at: Date | null
  to_at: Date | null
  all_from_at: Date | null
  all_to_at: Date | null
}>`
  select min(from_at) as from_at, max(to_at) as to_at, max(from_at) as all_from_at, min(to_at) as all_to_at
  from tollgate.settlement_work
  where run_id = ${runId}::uuid and purpose <> 'none'`

/** Lines of a run: their last position. */
export const workLength = (runId: string) => sql<{ length: number }>`
  select coalesce(max(position), 0) as length
  from tollgate.settlement_work
  where run_id = ${runId}::uuid`

export const clearWork = (runId: string) => sql`
  delete from tollgate.settlement_work
  where run_id = ${runId}::uuid`

export const clearCandidates = (runId: string) => sql`
  delete from tollgate.settlement_candidate
  where run_id = ${runId}::uuid`

export const clearDecisions = (runId: string) => sql`
  delete from tollgate.settlement_decision
  where run_id = ${runId}::uuid`

/**
 * Statistics of rows that this transaction wrote are rough, and a nested loop or a merge by the
 * date alone, after a wrong guess, never ends.
 * Single rows are looked up by `lateral` with `offset 0`, which stays a nested loop.
 */
export const hashJoins = sql`
  select set_config('enable_nestloop', 'off', true) as nested, set_config('enable_mergejoin', 'off', true) as merged`

/** For statements of the same transaction that look few rows up in large tables. */
export const allJoins = sql`
  select set_config('enable_nestloop', 'on', true) as nested, set_config('enable_mergejoin', 'on', true) as merged`

/** The planner knows nothing of rows that this transaction wrote. */
export const analyze = {
  stage: sql`analyze tollgate.settlement_stage`,
  work: sql`analyze tollgate.settlement_work`,
  candidates: sql`analyze tollgate.settlement_candidate`,
  decisions: sql`analyze tollgate.settlement_decision`,
} as const
