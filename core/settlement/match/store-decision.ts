/** SQL of the results of matching: one row for each line of a run. */
import { type Sql, sql } from '../../db/sql.ts'
import { isRightWay as isRightWayOf } from '../stored-way.ts'
import { lastOwnName } from './stored-places.ts'
import { inWindow, type Lines } from './stored-window.ts'

/** Ids shown of a line with many candidates. */
const shown = 100

/**
 * Of the candidates of a line: a name of the payment's own leads to a payment that nothing can settle. The line is
 * about that payment, and its order number can be that of another try.
 */
const isNamedInVain = sql`bool_or(candidate.tier <= ${lastOwnName}::integer and candidate.is_named
      and candidate.fits and not candidate.is_eligible)`

/** Of the candidates of a line: the first tier with a payment that the line can be about; null: there is none. */
const decisiveTier = sql`min(candidate.tier) filter (where candidate.is_eligible)`

const isDecided = sql`(${decisiveTier} is not null
    and (${decisiveTier} <= ${lastOwnName}::integer or not ${isNamedInVain}))`

/** Part of a statement: the eligible payments of the first tier that has any, for each line. */
const options = (runId: string, lines: Lines) => sql`
decisive as materialized (
  select candidate.line, ${decisiveTier} as tier
  from tollgate.settlement_candidate as candidate
  where candidate.run_id = ${runId}::uuid and ${inWindow(sql`candidate`, lines)}
  group by candidate.line
  having ${isDecided}),
option as (
  select candidate.line, candidate.tier, candidate.payment_id, candidate.account_id, candidate.channel_id,
    candidate.state, candidate.final_by, candidate.minor, candidate.currency, candidate.created_at,
    candidate.crowd, candidate.crowd_count, candidate.is_doubtful
  from tollgate.settlement_candidate as candidate
  join decisive on decisive.line = candidate.line and decisive.tier = candidate.tier
  where candidate.run_id = ${runId}::uuid and ${inWindow(sql`candidate`, lines)} and candidate.is_eligible)`

/** Condition: the line of `work` has no result yet. */
const isUndecided = (lines: Lines) => sql`not exists (
    select
    from tollgate.settlement_decision as decided
    where decided.run_id = work.run_id and ${inWindow(sql`decided`, lines)} and decided.line = work.line)`

/** Lines with several eligible payments. */
export const severalOptions = (runId: string, lines: Lines) => sql<{
  line: number
  purpose: string
  amount_minor: bigint
  currency: string
  ids: string[]
  minors: string[]
  currencies: string[]
  is_crowd: boolean
}>`
with ${options(runId, lines)}
select work.line, work.purpose, work.amount_minor, work.currency,
  array_agg(option.payment_id order by option.payment_id) as ids,
  array_agg(option.minor::text order by option.payment_id) as minors,
  array_agg(option.currency order by option.payment_id) as currencies,
  bool_or(option.crowd is not null) as is_crowd
from option
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)}
  and work.line = option.line
where ${isUndecided(lines)}
group by work.line, work.purpose, work.amount_minor, work.currency
having count(*) > 1 or bool_or(option.crowd is not null)
order by work.line`

const tierName = sql`case option.tier when 1 then 'payment-id' when 2 then 'acquirer-reference'
    when 3 then 'merchant-reference' when 4 then 'short-id' else 'composite' end`

const isRightWay = isRightWayOf(sql`stage`)

/** One line settles at most the amount of its payment; what is above is a discrepancy. */
const part = sql`case
    when work.purpose <> 'settled' or stage.status <> 'SUCCESS' or not ${isRightWay} then 0
    when chosen.is_sum or option.currency <> work.currency then option.minor
    else least(option.minor, work.amount_minor) end`

/**
 * What follows from a certain match: a chargeback or its reversal, a failure, or the end of an open or
 * accepted payment. A plain settled payment needs nothing. Money that goes the other way than the payment's proves
 * nothing about it. A composite match has no effect before an operator confirms it.
 */
const hasEffect = sql`((work.purpose = 'dispute' and (option.tier < 5 or stage.status <> 'FAILED'))
    or (work.purpose = 'settled' and (stage.status = 'FAILED'
      or (${isRightWay} and (option.state <> 'approved' or option.final_by is not null)))))`

const matched = (runId: string, lines: Lines, chosen: Sql) => sql`
with ${options(runId, lines)},
chosen as materialized (${chosen})
insert into tollgate.settlement_decision (run_id, line, match_status, tier, payments, allocated, candidates,
  candidate_count, discrepancies, entity_id, account_id, has_effect)
select ${runId}::uuid, work.line, 'MATCHED', min(${tierName}), array_agg(option.payment_id order by option.payment_id),
  array_agg(${part} order by option.payment_id), array_agg(option.payment_id order by option.payment_id),
  count(*)::integer,
  array_remove(array[
    case when work.purpose <> 'fee' and not bool_or(chosen.is_sum) and bool_and(option.currency = work.currency)
      and (sum(option.minor) < work.amount_minor
        or (work.purpose = 'settled' and sum(option.minor) > work.amount_minor)) then 'AMOUNT' end,
    case when work.purpose <> 'fee' and bool_or(option.currency <> work.currency) then 'CURRENCY' end,
    case when (work.purpose = 'settled' and stage.status = 'SUCCESS' and not ${isRightWay})
      or (work.purpose <> 'fee' and stage.status = 'SUCCESS' and bool_or(option.state in ('declined', 'expired')))
      or (work.purpose <> 'fee' and bool_or(option.is_doubtful)) then 'STATE' end,
    case when work.purpose = 'settled' and min(option.created_at) < work.from_at then 'LATE' end], null),
  case when count(distinct option.channel_id) = 1 then min(option.channel_id::text)::uuid end,
  case when count(distinct option.account_id) = 1 then min(option.account_id::text)::uuid end,
  bool_or(${hasEffect})
from chosen
join option on option.line = chosen.line and option.payment_id = chosen.payment_id
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)}
  and work.line = chosen.line
join tollgate.settlement_stage as stage on stage.file_id = work.run_id and ${inWindow(sql`stage`, lines)}
  and stage.line = work.line
where ${isUndecided(lines)}
group by work.line, work.purpose, work.amount_minor, work.currency, work.from_at, stage.status, stage.cashflow,
  stage.transaction_type, stage.amount_minor`

/** Lines with exactly one eligible payment. */
export const matchSingle = (runId: string, lines: Lines) =>
  matched(
    runId,
    lines,
    sql`
  select line, min(payment_id::text)::uuid as payment_id, false as is_sum
  from option
  group by line
  having count(*) = 1 and bool_and(crowd is null)`,
  )

/** Lines of several candidates whose payments are known. Pairs of line and payment. */
export const matchChosen = (
  runId: string,
  lines: Lines,
  pairs: readonly {
    readonly line: number
    readonly paymentId: string
    readonly isSum: boolean
  }[],
) =>
  matched(
    runId,
    lines,
    sql`
  select line, payment_id, is_sum
  from unnest(${pairs.map(({ line }) => line)}::integer[], ${pairs.map(({ paymentId }) => paymentId)}::uuid[],
    ${pairs.map(({ isSum }) => isSum)}::boolean[]) as given (line, payment_id, is_sum)`,
  )

/** Lines with more than one reading. */
export const matchSeveral = (runId: string, lines: Lines) => sql`
with ${options(runId, lines)}
insert into tollgate.settlement_decision (run_id, line, match_status, tier, candidates, candidate_count)
select ${runId}::uuid, work.line, 'MULTIPLE_MATCHES', min(${tierName}),
  (coalesce(max(option.crowd),
    array_agg(option.payment_id order by option.payment_id)))[1:${shown}::integer],
  coalesce(max(option.crowd_count), count(*)::integer)
from option
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)}
  and work.line = option.line
where ${isUndecided(lines)}
group by work.line`

/**
 * Lines whose names lead to no eligible payment: of a wrong type, never approved, wholly reversed, or with other
 * references of the acquirer. A refund whose sale is known was made at the acquirer. Money of a declined payment, and
 * its chargeback, are reported to it where the line names the payment itself: its order number can be that of
 * another operation. A chargeback that stays untold would let the engine give the money back a second time.
 */
export const matchIneligible = (runId: string, lines: Lines) => sql`
insert into tollgate.settlement_decision (run_id, line, match_status, tier, candidates, candidate_count,
  discrepancies, has_effect)
select ${runId}::uuid, work.line, 'NOT_MATCHED', null, (about.ids)[1:${shown}::integer], cardinality(about.ids),
  array[case when refund.is_external then 'EXTERNAL_REFUND' else 'STATE' end],
  (work.purpose = 'dispute' or (work.purpose = 'settled' and ${isRightWay})) and stage.status = 'SUCCESS'
    and coalesce(cardinality(named.declined), 0) = 1 and cardinality(about.ids) = 1
from (
  select candidate.line, case when ${isNamedInVain}
      then array_agg(candidate.payment_id order by candidate.payment_id)
        filter (where (candidate.fits or candidate.is_named) and candidate.tier <= ${lastOwnName}::integer)
      else array_agg(candidate.payment_id order by candidate.payment_id)
        filter (where candidate.fits or candidate.is_named) end as ids,
    array_agg(candidate.payment_id) filter (where candidate.fits
      and candidate.tier <= ${lastOwnName}::integer) as fitting,
    array_agg(candidate.payment_id) filter (where candidate.fits and candidate.state in ('declined', 'expired')
      and candidate.tier <= ${lastOwnName}::integer) as declined,
    bool_and(not candidate.fits) and bool_or(candidate.payment_type in ('DB', 'CP', 'RB', 'RC')
      and candidate.state = 'approved') as is_external
  from tollgate.settlement_candidate as candidate
  where candidate.run_id = ${runId}::uuid and ${inWindow(sql`candidate`, lines)}
  group by candidate.line
  having not ${isDecided}) as named
join tollgate.settlement_work as work on work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)}
  and work.line = named.line
join tollgate.settlement_stage as stage on stage.file_id = work.run_id and ${inWindow(sql`stage`, lines)}
  and stage.line = work.line
cross join lateral (select stage.transaction_type = 'REFUND' and named.is_external as is_external) as refund
-- Disputes call a capture by its authorisation, too.
cross join lateral (select case when work.purpose = 'dispute' and cardinality(named.fitting) = 1
  then named.fitting else named.ids end as ids) as about
where ${isUndecided(lines)}`

/**
 * The rest: unknown payments, and fees of no single transaction, which have no status.
 *
 * @param isLast False: without the lines that are still compared by amount, card and brand.
 */
export const matchNone = (runId: string, lines: Lines, isLast: boolean) => sql`
insert into tollgate.settlement_decision (run_id, line, match_status)
select work.run_id, work.line, case when work.purpose = 'none' then null else 'NOT_MATCHED' end
from tollgate.settlement_work as work
where work.run_id = ${runId}::uuid and ${inWindow(sql`work`, lines)} and ${isUndecided(lines)}
  and (${isLast}::boolean or not exists (
    select
    from tollgate.settlement_asked as asked
    where asked.run_id = work.run_id and ${inWindow(sql`asked`, lines)} and asked.line = work.line))`
