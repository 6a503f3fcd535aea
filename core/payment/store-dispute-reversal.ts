/**
 * SQL of reversals of chargebacks. One statement: the fact, its payment record, the sums and the
 * event. The acquirer's reference makes the fact unique.
 */
import { type AuditEntry, auditRows, nobody } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'
import { type FactRow, factParts, minorOf, type Recorded, text } from './store-dispute.ts'

/**
 * The acquirer reports a reversal that an operator recorded by hand: the existing fact takes the
 * acquirer's name and message. No row: no unconfirmed reversal by hand has this amount.
 *
 * @param names Prefixes of the reversals by hand of the possible chargebacks.
 */
export const confirmReversal = (reversal: {
  readonly connector: string
  readonly account: string
  readonly names: readonly string[]
  readonly reference: string
  readonly isNamed: boolean
  readonly source: string
  readonly minor: bigint
  readonly currency: string
}) => sql<{ record_id: string }>`
with by_hand as (
  select fact.reference
  from unnest(${reversal.names}::text[]) as named (beginning)
  join tollgate.chargeback as fact on fact.connector = ${reversal.connector}::text
    and fact.account = ${reversal.account}::text and fact.kind = 'reversal'
    and starts_with(fact.reference, named.beginning)
  where fact.told_as is null and fact.source is null and fact.minor = ${String(reversal.minor)}::bigint
    and fact.currency = ${reversal.currency}::text
  order by fact.at, fact.record_id
  limit 1
  for update of fact)
update tollgate.chargeback set told_as = ${reversal.reference}::text, source = ${reversal.source}::text,
  is_named = ${reversal.isNamed}::boolean
from by_hand
where chargeback.connector = ${reversal.connector}::text and chargeback.account = ${reversal.account}::text
  and chargeback.kind = 'reversal' and chargeback.reference = by_hand.reference and chargeback.told_as is null
returning chargeback.record_id`

/** How a reversal chooses its chargebacks. */
export type Reversing = {
  /** Refuses a partial match: for merchants and operators. */
  readonly isStrict: boolean
  /** Also requires the whole amount; the chargeback may still be missing. */
  readonly isWhole: boolean
  /** Without a reference: also uses chargebacks with a reference, after those without. */
  readonly isAny: boolean
  /**
   * What was given back of these chargebacks at the time of the read; after a change the statement
   * records nothing.
   */
  readonly givenBackBefore?: bigint
  /**
   * For an operator's reversal: its audit entry. An amount outside of the sums is then expected.
   */
  readonly byHand?: AuditEntry | null
  /** Why an operator has to look before any refund; null: no reason. */
  readonly why?: string | null
  /** Further balances that wait for the operator then. */
  readonly freezes?: readonly string[]
}

/** The reason for a reversal without a reference that used a chargeback with one. */
const guessed = 'it names no chargeback, and gave one back that has a reference'

/**
 * Records the reversal of a chargeback, up to the open amount in the same sums and currency, or in
 * the same currency outside of the sums. Without a reference, uses the referenced chargeback and then
 * the oldest open ones without a reference, or of all with `isAny`. No row: the reference is known, or
 * the open amount is below the one that `isStrict` or `isWhole` require.
 */
export const recordReversal = (
  row: FactRow,
  { isStrict, isWhole, isAny, givenBackBefore, byHand = null, why = null, freezes = [] }: Reversing,
) => sql<Recorded>`
with standing as (
  select reference, record_id, at, is_named, given_back, case
    when currency = ${row.record.amount.currency}::text and balance_id is not distinct from ${row.record.parentId}::uuid
      then minor - given_back
    else 0 end as rest
  from tollgate.chargeback
  where payment_id = ${row.paymentId}::uuid and kind = 'chargeback'
    and connector = ${row.record.connector}::text and account = ${row.account}::text
    and (reference = ${row.reverses}::text
      or ${row.reverses}::text is null and (not is_named or ${isAny}::boolean))
  for update),
spread as (
  select reference, is_named, given_back, least(rest, greatest(0,
    ${minorOf(row)}::bigint - (sum(rest) over (
      order by record_id <> ${row.record.referencedId}::uuid, is_named, at, record_id) - rest)))::bigint as counts
  from standing),
charged as (
  select coalesce(sum(counts), 0)::bigint as counts,
    coalesce(${why}::text, case when ${row.reverses}::text is null and bool_or(is_named and counts > 0)
      then ${guessed}::text end) as why
  from spread
  having count(*) > 0
    and (${text(givenBackBefore)}::bigint is null or sum(given_back) = ${text(givenBackBefore)}::bigint)
    and (not ${isStrict || isWhole}::boolean or sum(counts) = ${minorOf(row)}::bigint)),
${factParts.fact(row, sql`case when ${row.record.parentId}::uuid is null then 0 else charged.counts end`, sql`from charged`)},
reversed as (
  update tollgate.chargeback set given_back = chargeback.given_back + spread.counts,
    reversed = chargeback.reversed + case when chargeback.balance_id is null then 0 else spread.counts end
  from spread, fact
  where chargeback.connector = ${row.record.connector}::text and chargeback.account = ${row.account}::text
    and chargeback.kind = 'chargeback' and chargeback.reference = spread.reference),
entry as (
  insert into tollgate.attention (id, kind, payment_id, reference, freezes, detail)
  select ${row.event.id}::uuid, 'beyond-sums', ${row.paymentId}::uuid, ${`reversal ${row.reference}`}::text,
    case when charged.why is null then '{}'
      else array_remove(${freezes}::uuid[] || ${row.record.parentId}::uuid, null) end,
    jsonb_strip_nulls(jsonb_build_object('why', charged.why) || jsonb_build_object('reported', 'CR',
      'reference', split_part(${row.reference}::text, chr(10), 1), 'minor', ${minorOf(row)}::text,
      'currency', ${row.record.amount.currency}::text, 'leftMinor', (fact.counted - ${minorOf(row)}::bigint)::text))
  from fact
  cross join charged
  where ${byHand === null}::boolean
    and (fact.counted < ${minorOf(row)}::bigint or charged.why is not null)
  ${factParts.freezesToo}
  returning id, freezes),
sums as (
  update tollgate.payment_balance set charged_back = charged_back - fact.counted,
    frozen_by = case when payment_balance.payment_id = any(entry.freezes)
      then array_append(array_remove(frozen_by, entry.id), entry.id) else frozen_by end
  from fact
  left join entry on true
  where payment_balance.payment_id = ${row.record.parentId}::uuid),
${factParts.frozen(row)},
${factParts.written(row)},
audited as (${auditRows(byHand ?? nobody, {
  from: sql`new_payment where ${byHand !== null}::boolean`,
})})
select new_payment.id, new_payment.seq, fact.counted, null::bigint as left
from new_payment
cross join fact
left join frozen on true`
