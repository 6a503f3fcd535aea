/** SQL of decided records: from the work of a run to `settlement_record` and `settlement_match`. */
import { sql } from '../db/sql.ts'
import { fence, type Held } from './stored-fence.ts'

/** A record that is not matched for certain is tried again for this long. */
const retryDays = 30

/** One row while all leases are held. The scopes stay locked until the commit. */
export const holdScopes = (held: Held, forMs: number) => sql<{ is_held: boolean }>`
with ${fence(held, forMs)}
select true as is_held
from fence`

/** Decimals of each currency, for the check of rates. */
export type Exponents = { readonly codes: readonly string[]; readonly exponents: readonly number[] }

/**
 * Discrepancies of a record besides those of its match. A rate fits if it is off by less than one minor
 * unit and half of its last decimal.
 */
const ownDiscrepancies = sql`array_remove(array[
    case when (stage.named_payment is not null or stage.named_key is not null) and next.purpose <> 'none'
      and not exists (
        select
        from tollgate.settlement_candidate as candidate
        where candidate.run_id = stage.file_id and candidate.line = next.line and candidate.tier = 1)
      then 'ID_UNKNOWN' end,
    case when next.purpose in ('settled', 'dispute')
      and (stage.fx_rate is not null or stage.currency = stage.settled_currency)
      and abs(stage.settled_minor - stage.amount_minor * rate.value * rate.scale)
        > 1 + stage.amount_minor * rate.scale * rate.half_decimal then 'FX' end,
    case when next.purpose = 'settled' and stage.fee_minor > stage.settled_minor then 'FEE' end], null)`

const rateOf = (currencies: Exponents) => sql`
left join unnest(${currencies.codes}::text[], ${currencies.exponents}::integer[]) as paid (code, exponent)
  on paid.code = stage.currency
left join unnest(${currencies.codes}::text[], ${currencies.exponents}::integer[]) as settled (code, exponent)
  on settled.code = stage.settled_currency
cross join lateral (
  select coalesce(stage.fx_rate, '1')::numeric as value,
    power(10::numeric, settled.exponent - paid.exponent) as scale,
    case when stage.fx_rate is null then 0
      else 0.5 * power(10::numeric, -length(split_part(stage.fx_rate, '.', 2))) end as half_decimal) as rate`

const sorted = sql`array(
    select name
    from unnest(decision.discrepancies || ${ownDiscrepancies}) as given (name)
    group by name
    order by name)`

/** Days to try again; null: the decision stands. Which of several payments a dispute is about, operators decide. */
const retryUntil = sql`case
    when decision.match_status is not null
      and not (next.purpose = 'dispute' and decision.match_status = 'MULTIPLE_MATCHES')
      and (decision.match_status <> 'MATCHED' or decision.tier = 'composite')
    then now() + ${retryDays}::integer * interval '1 day' end`

const isGuess = sql`(decision.tier is not distinct from 'composite')`

/** A guess among the payments of several merchants stays above them until it is certain. */
const ownerOf = sql`case when decision.tier = 'composite' and shared.kind not in ('merchant', 'channel')
      then scope.entity_id else coalesce(decision.entity_id, scope.entity_id) end`

/** The line and its result, looked up one by one: a commit takes few of many. */
const ofStage = (runId: string) => sql`
  cross join lateral (
    select file_id, line, shown_line, scope_id, merchant_number, record_type, transaction_type, cashflow, status, key, content,
      settlement_id, batch, settlement_date, requested_at, requested, amount_minor, currency, settled_minor,
      settled_currency, fee_minor, fx_rate, named_payment, named_key, ref1, ref2, ref3, merchant_transaction_id,
      merchant_invoice_id, short_no, brand, last4, holder, bank_code, descriptor, reason, reference
    from tollgate.settlement_stage
    where settlement_stage.file_id = ${runId}::uuid and settlement_stage.line = next.line
    offset 0) as stage`
const ofDecision = (runId: string) => sql`
  cross join lateral (
    select match_status, tier, candidates, candidate_count, payments, allocated, discrepancies, entity_id,
      account_id, has_effect
    from tollgate.settlement_decision
    where settlement_decision.run_id = ${runId}::uuid and settlement_decision.line = next.line
    offset 0) as decision`

/**
 * Inserts the records behind a position, with their matches. A key that is known adds nothing. One row for
 * each line that was looked at.
 */
export const addRecords = (
  runId: string,
  after: number,
  ids: readonly string[],
  currencies: Exponents,
) => sql<{ id: string; is_new: boolean }>`
with next as materialized (
  select (${ids}::uuid[])[work.position - ${after}::integer] as id, work.line, work.position, work.purpose
  from tollgate.settlement_work as work
  where work.run_id = ${runId}::uuid and work.position > ${after}::integer
    and work.position <= ${after}::integer + ${ids.length}::integer),
added as (
  insert into tollgate.settlement_record (id, scope_id, file_id, line, key, content, entity_id, account_id,
    merchant_number, record_type, transaction_type, cashflow, status, settlement_id, batch, settlement_date,
    requested_at, requested, amount_minor, currency, settled_minor, settled_currency, fee_minor, fx_rate,
    named_payment, named_key, ref1, ref2, ref3, merchant_transaction_id, merchant_invoice_id, short_no, brand, last4,
    holder, bank_code, descriptor, reason, reference, match_status, tier, candidates, candidate_count,
    discrepancies, effect, is_unconfirmed, retry_until)
  select next.id, stage.scope_id, stage.file_id, coalesce(stage.shown_line, stage.line), stage.key, stage.content,
    ${ownerOf}, decision.account_id, stage.merchant_number, stage.record_type,
    stage.transaction_type, stage.cashflow, stage.status, stage.settlement_id, stage.batch, stage.settlement_date,
    stage.requested_at, stage.requested, stage.amount_minor, stage.currency, stage.settled_minor,
    stage.settled_currency, stage.fee_minor, stage.fx_rate, stage.named_payment, stage.named_key, stage.ref1,
    stage.ref2, stage.ref3, stage.merchant_transaction_id, stage.merchant_invoice_id, stage.short_no, stage.brand,
    stage.last4, stage.holder, stage.bank_code, stage.descriptor, stage.reason, stage.reference,
    decision.match_status, decision.tier, decision.candidates, decision.candidate_count, ${sorted},
    case when decision.has_effect and not ${isGuess} then 'open' else 'none' end, decision.has_effect and ${isGuess},
    ${retryUntil}
  from next
  ${ofStage(runId)}
  ${ofDecision(runId)}
  join tollgate.settlement_scope as scope on scope.id = stage.scope_id
  join tollgate.entity as shared on shared.id = scope.entity_id
  ${rateOf(currencies)}
  order by next.position
  on conflict (scope_id, key) do nothing
  returning id),
matched as (
  insert into tollgate.settlement_match (payment_id, record_id, tier, allocated_minor, is_final)
  select member.payment_id, next.id, decision.tier, member.minor, decision.tier <> 'composite'
  from added
  join next on next.id = added.id
  ${ofDecision(runId)}
  cross join lateral unnest(decision.payments, decision.allocated) as member (payment_id, minor)
  on conflict do nothing)
select next.id, added.id is not null as is_new
from next
left join added on added.id = next.id
order by next.position`

/**
 * Gives the undecided records behind a position the results of a run. A record that an operator assigned
 * meanwhile stays as it is. A record whose result is the same keeps its version. A dispute among several payments stays
 * one, also when some of them are gone, and none is about a payment that was made after its record.
 */
export const redecideRecords = (
  runId: string,
  after: number,
  limit: number,
  currencies: Exponents,
) => sql<{
  id: string
  /** In the first row: payments that lost a match. */
  was: string[]
}>`
with next as materialized (
  select record.id, work.line, work.position, work.purpose
  from tollgate.settlement_work as work
  join tollgate.settlement_stage as stage on stage.file_id = work.run_id and stage.line = work.line
  join tollgate.settlement_record as record on record.scope_id = stage.scope_id and record.key = stage.key
  where work.run_id = ${runId}::uuid and work.position > ${after}::integer
    and work.position <= ${after}::integer + ${limit}::integer),
result as materialized (
  select next.id, next.purpose, decision.match_status, decision.tier, decision.candidates, decision.candidate_count,
    -- Ids follow the time.
    exists (select from unnest(decision.candidates) as given (id) where given.id > next.id) as is_about_newer,
    decision.payments, decision.allocated, ${ownerOf} as entity_id,
    decision.account_id, decision.has_effect and not ${isGuess} as has_effect,
    decision.has_effect and ${isGuess} as is_unconfirmed, ${sorted} as discrepancies,
    decision.match_status = 'MATCHED' and decision.tier <> 'composite' as is_final
  from next
  ${ofStage(runId)}
  ${ofDecision(runId)}
  join tollgate.settlement_scope as scope on scope.id = stage.scope_id
  join tollgate.entity as shared on shared.id = scope.entity_id
  ${rateOf(currencies)}),
decided as (
  update tollgate.settlement_record as record set match_status = result.match_status, tier = result.tier,
    candidates = result.candidates, candidate_count = result.candidate_count, entity_id = result.entity_id,
    account_id = result.account_id,
    -- Of the record's history, and set again from all matches of the payment.
    discrepancies = array(
      select name
      from unnest(result.discrepancies || case when 'CHANGED' = any(record.discrepancies)
        then array['CHANGED'] else array[]::text[] end) as given (name)
      group by name
      order by name),
    effect = case when result.has_effect and record.effect = 'none' then 'open' else record.effect end,
    is_unconfirmed = result.is_unconfirmed,
    retry_until = case when result.is_final then null else record.retry_until end,
    decided_at = now(), version = record.version + 1, txid = pg_current_xact_id()
  from result
  where record.id = result.id and record.retry_until is not null
    -- The money is with the payment for which the record took effect, and would count for another one, too.
    and (record.effect = 'none' or record.candidates = result.candidates)
    and not (result.purpose = 'dispute' and (record.match_status = 'MULTIPLE_MATCHES'
      or (result.is_about_newer and (result.match_status = 'MATCHED' or result.has_effect))))
    and (record.match_status is distinct from result.match_status or record.tier is distinct from result.tier
      or record.is_unconfirmed <> result.is_unconfirmed
      or record.candidates <> result.candidates or record.candidate_count <> result.candidate_count
      or array_remove(array_remove(record.discrepancies, 'CHANGED'), 'DUPLICATE_SETTLEMENT')
        <> result.discrepancies)
  returning record.id),
removed as (
  delete from tollgate.settlement_match as match
  using decided
  join result on result.id = decided.id
  where match.record_id = decided.id and match.payment_id <> all(result.payments)
  returning match.payment_id),
matched as (
  insert into tollgate.settlement_match (payment_id, record_id, tier, allocated_minor, is_final)
  select member.payment_id, result.id, result.tier, member.minor, result.is_final
  from decided
  join result on result.id = decided.id
  cross join lateral unnest(result.payments, result.allocated) as member (payment_id, minor)
  on conflict (payment_id, record_id) do update set tier = excluded.tier,
    allocated_minor = excluded.allocated_minor, is_final = excluded.is_final)
select next.id,
  case when row_number() over (order by next.position) = 1
    then array(select payment_id from removed) else '{}' end as was
from next
order by next.position`

/**
 * Marks all records of payments whose parts exceed the amount, and unmarks those that no longer do: certain
 * matches among each other, and composite ones among each other. The mark does not depend on which record
 * came first.
 *
 * @param recordIds Records of this commit. @param paymentIds Payments that lost a match in this commit.
 */
export const markDuplicates = (recordIds: readonly string[], paymentIds: readonly string[]) => sql`
with touched as materialized (
  select payment_id
  from tollgate.settlement_match
  where record_id = any(${recordIds}::uuid[])
  union
  select payment_id from unnest(${paymentIds}::uuid[]) as lost (payment_id)),
concerned as materialized (
  select distinct match.record_id
  from touched
  join tollgate.settlement_match as match on match.payment_id = touched.payment_id
  where match.allocated_minor > 0),
claim as materialized (
  select match.payment_id, match.is_final, sum(match.allocated_minor) as minor
  from tollgate.settlement_match as match
  where match.payment_id in (
    select own.payment_id
    from concerned
    join tollgate.settlement_match as own on own.record_id = concerned.record_id)
  group by match.payment_id, match.is_final
  having count(*) filter (where match.allocated_minor > 0) > 1),
exceeded as materialized (
  select claim.payment_id, claim.is_final
  from claim
  cross join lateral (
    select coalesce(payment.approved_minor, payment.amount_minor) as minor
    from tollgate.payment
    where payment.id = claim.payment_id
    offset 0) as payment
  where claim.minor > payment.minor),
marked as materialized (
  select concerned.record_id, exists (
    select
    from tollgate.settlement_match as match
    join exceeded on exceeded.payment_id = match.payment_id and exceeded.is_final = match.is_final
    where match.record_id = concerned.record_id and match.allocated_minor > 0) as is_duplicate
  from concerned)
update tollgate.settlement_record as record set version = record.version + 1, txid = pg_current_xact_id(),
  discrepancies = case when marked.is_duplicate
    then array(select name from unnest(record.discrepancies || array['DUPLICATE_SETTLEMENT']) as given (name) order by name)
    else array_remove(record.discrepancies, 'DUPLICATE_SETTLEMENT') end
from marked
where record.id = marked.record_id
  and marked.is_duplicate <> ('DUPLICATE_SETTLEMENT' = any(record.discrepancies))`

/**
 * A certain match of a payment makes the guesses that have it undecided again, also after their 30 days: the
 * timer of the scope looks at them within an hour.
 */
export const retryGuesses = (recordIds: readonly string[]) => sql`
update tollgate.settlement_record as guess set retry_until = now() + interval '1 day'
where guess.retry_until is null and guess.match_status = 'MATCHED' and guess.tier = 'composite' and guess.id in (
  select other.record_id
  from tollgate.settlement_record as record
  join tollgate.settlement_match as own on own.record_id = record.id and own.is_final
  join tollgate.settlement_match as other on other.payment_id = own.payment_id and not other.is_final
  join tollgate.settlement_record as guessed on guessed.id = other.record_id
    and guessed.record_type = record.record_type
  where record.id = any(${recordIds}::uuid[]))`

/** Records without matches any more lose their mark, too. */
export const unmarkUnmatched = (recordIds: readonly string[]) => sql`
update tollgate.settlement_record as record
set discrepancies = array_remove(discrepancies, 'DUPLICATE_SETTLEMENT'), version = record.version + 1,
  txid = pg_current_xact_id()
where record.id = any(${recordIds}::uuid[]) and 'DUPLICATE_SETTLEMENT' = any(record.discrepancies)
  and not exists (
    select from tollgate.settlement_match as match where match.record_id = record.id)`
