/** SQL that starts and ends a run of matching. */
import { type Sql, sql } from '../../db/sql.ts'
import { inWindow, type Lines } from './stored-window.ts'

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

/** The last line of a run. */
export const lastLine = (runId: string) => sql<{ line: number }>`
  select coalesce(max(line), 0) as line
  from tollgate.settlement_stage
  where file_id = ${runId}::uuid`

/**
 * Of lines with one key, all but the one with the lowest content: the order of lines changes nothing. Runs before
 * any window of the run, and writes nothing.
 */
export const surplusLines = (runId: string) => sql<{ line: number }>`
with repeated as materialized (
  select scope_id, key
  from tollgate.settlement_stage
  where file_id = ${runId}::uuid
  group by scope_id, key
  having count(*) > 1)
select counted.line
from (
  select stage.line, row_number() over (partition by stage.scope_id, stage.key order by stage.content, stage.line) as no
  from tollgate.settlement_stage as stage
  join repeated on repeated.scope_id = stage.scope_id and repeated.key = stage.key
  where stage.file_id = ${runId}::uuid) as counted
where counted.no > 1
order by counted.line`

/** Part of a statement: the lines of a window with the record of their key, which are looked up one by one. */
const withRecords = (runId: string, lines: Lines, surplus: readonly number[]) => sql`
given as materialized (
  select stage.line, stage.scope_id, stage.key, stage.content, stage.record_type, stage.transaction_type,
    stage.amount_minor, stage.currency, stage.named_payment, stage.named_key, stage.settlement_date,
    record.id as record_id, record.content as record_content, record.candidates
  from tollgate.settlement_stage as stage
  left join lateral (
    select record.id, record.content, record.candidates
    from tollgate.settlement_record as record
    where record.scope_id = stage.scope_id and record.key = stage.key
    offset 0) as record on true
  where stage.file_id = ${runId}::uuid and ${inWindow(sql`stage`, lines)}
    and stage.line <> all(${surplus}::integer[]))`

/** Records are stored by position: those of a window follow each other, in the order of their keys. */
const workOf = (
  runId: string,
  zone: string,
  position: number,
  { known, where }: { readonly known: Sql; readonly where: Sql },
) => sql`
insert into tollgate.settlement_work (run_id, line, scope_id, purpose, wanted, amount_minor, currency,
  named_payment, named_key, from_at, to_at, known, position)
select ${runId}::uuid, stage.line, stage.scope_id, ${purpose}, ${wanted}, stage.amount_minor, stage.currency,
  stage.named_payment, stage.named_key,
  stage.settlement_date::timestamp at time zone ${zone}::text - interval '45 days',
  stage.settlement_date::timestamp at time zone ${zone}::text + interval '3 days', ${known},
  ${position}::integer + row_number() over (order by stage.scope_id, stage.key)
from given as stage
where ${where}`

/** What became of a window. */
export type Planned = {
  /** Lines that are decided in this run. */
  planned: number
  /** Lines with the key of a record and another content. */
  changed: number[]
}

/**
 * Plans every line of a window that is no record yet.
 *
 * @param position The last position of the windows before.
 */
export const planNew = (
  runId: string,
  zone: string,
  lines: Lines,
  surplus: readonly number[],
  position: number,
) => sql<Planned>`
with ${withRecords(runId, lines, surplus)},
planned as (${workOf(runId, zone, position, {
  known: sql`array[]::uuid[]`,
  where: sql`stage.record_id is null`,
})}
  returning line)
select (select count(*)::integer from planned) as planned,
  array(select line from given where record_content <> content order by line) as changed`

/** The same for undecided records that were staged again, with the candidates that they had. */
export const planAgain = (
  runId: string,
  zone: string,
  lines: Lines,
  surplus: readonly number[],
  position: number,
) => sql<Planned>`
with ${withRecords(runId, lines, surplus)},
planned as (${workOf(runId, zone, position, {
  known: sql`stage.candidates`,
  where: sql`stage.record_id is not null`,
})}
  returning line)
select (select count(*)::integer from planned) as planned, array[]::integer[] as changed`

/**
 * A bank takes back what a shopper paid: beside a charge, a refund of the same name is not what a dispute is
 * about, even if only the refund has the amount of the line. Nor is it where the charge has other references of the
 * acquirer than the line: a charge of a wanted type that does not fit.
 */
export const leaveRefunds = (runId: string, lines: Lines) => sql`
update tollgate.settlement_candidate as refund set is_eligible = false
from tollgate.settlement_work as work
where refund.run_id = ${runId}::uuid and ${inWindow(sql`refund`, lines)} and refund.payment_type = 'RF'
  and refund.is_eligible and work.run_id = refund.run_id and ${inWindow(sql`work`, lines)}
  and work.line = refund.line and work.purpose = 'dispute'
  and exists (
    select
    from tollgate.settlement_candidate as charge
    where charge.run_id = refund.run_id and ${inWindow(sql`charge`, lines)} and charge.line = refund.line and charge.tier = refund.tier
      and (charge.is_eligible or (not charge.fits and charge.payment_type = any(work.wanted)))
      and charge.payment_type <> 'RF')`

/** Beside an authorisation of the same name, what belongs to it is not what a dispute is about. */
export const leaveCaptures = (runId: string, lines: Lines) => sql`
update tollgate.settlement_candidate as below set is_eligible = false
from tollgate.settlement_work as work
where below.run_id = ${runId}::uuid and ${inWindow(sql`below`, lines)} and below.is_eligible
  and work.run_id = below.run_id and ${inWindow(sql`work`, lines)} and work.line = below.line
  and work.purpose = 'dispute' and exists (
    select
    from tollgate.settlement_candidate as named
    where named.run_id = below.run_id and ${inWindow(sql`named`, lines)} and named.line = below.line
      and named.tier = below.tier and named.payment_id = below.referenced_id and named.payment_type = 'PA'
      and named.is_eligible)`

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

/** Part of the end of a run: deletes some rows of a table, which is a part of the statement. */
const drop = (table: Sql, column: Sql, runId: string, limit: number) => sql<{ rows: number }>`
with gone as (
  delete from ${table}
  where ctid = any(array(
    select ctid
    from ${table}
    where ${column} = ${runId}::uuid
    limit ${limit}::integer))
  returning ${column})
select count(*)::integer as rows
from gone`

/** Each deletes some rows that a run wrote; fewer than the limit: the rest of them. */
export const dropStage = (runId: string, limit: number) =>
  drop(sql`tollgate.settlement_stage`, sql`file_id`, runId, limit)
export const dropWork = (runId: string, limit: number) =>
  drop(sql`tollgate.settlement_work`, sql`run_id`, runId, limit)
export const dropCandidates = (runId: string, limit: number) =>
  drop(sql`tollgate.settlement_candidate`, sql`run_id`, runId, limit)
export const dropDecisions = (runId: string, limit: number) =>
  drop(sql`tollgate.settlement_decision`, sql`run_id`, runId, limit)
export const dropAsked = (runId: string, limit: number) =>
  drop(sql`tollgate.settlement_asked`, sql`run_id`, runId, limit)
export const dropFound = (runId: string, limit: number) =>
  drop(sql`tollgate.settlement_found`, sql`run_id`, runId, limit)

/**
 * Rows of a window are few among those of its run, and their statistics are rough. A nested loop or a merge by
 * the date alone, after a wrong guess, never ends.
 * Single rows are looked up by `lateral` with `offset 0`, which stays a nested loop.
 */
export const hashJoins = sql`
  select set_config('enable_nestloop', 'off', true) as nested, set_config('enable_mergejoin', 'off', true) as merged`

/** For a transaction whose loss in a crash costs work alone. Every later commit that waits makes it lasting, too. */
export const unwaited = sql`select set_config('synchronous_commit', 'off', true) as waits`

/** The planner knows nothing of rows that a run has just written. */
export const analyze = {
  stage: sql`analyze tollgate.settlement_stage`,
  work: sql`analyze tollgate.settlement_work`,
  candidates: sql`analyze tollgate.settlement_candidate`,
  decisions: sql`analyze tollgate.settlement_decision`,
  names: sql`analyze tollgate.settlement_asked, tollgate.settlement_found`,
} as const
