/** SQL by which a message and a settlement line, or two contents of one event id, meet in one fact. */
import { sql } from '../db/sql.ts'
import { type FactKind, lineSource } from './store-dispute-read.ts'

/** What a message or a line says of a dispute. */
export type Adopting = {
  readonly connector: string
  readonly account: string
  readonly kind: FactKind
  readonly paymentIds: readonly string[]
  readonly minor: bigint
  readonly currency: string
  readonly source: string
  /** The institute's number of a line. */
  readonly settlementId: string | null
}

const isLine = sql`coalesce(source like ${`${lineSource}%`}::text, false)`

/** Condition: the acquirer gave the fact a reference, in the report that told it or in a later one. */
const hasName = sql`(is_named or coalesce(told_as not like '%' || chr(10) || 'unnamed%', false))`

/**
 * A message and a settlement line about one dispute meet without a common reference: each takes the oldest
 * fact of equal amount that only the other told, so that n messages and m lines are as many facts as the
 * larger number, in every order. Facts of one payment, kind and amount are alike in the sums, so it does not
 * matter which one is taken. Two facts that both have a reference are different disputes. The fact takes the
 * reference that it lacked.
 *
 * A second content of one event id, which an operator retried, is the fact of the first content.
 *
 * @param name The name of the round, if the report has a reference.
 * @param event The id of the message, without the digest of a second content.
 * @returns a row if the fact of this source is recorded.
 */
export const adoptFact = (
  report: Adopting & {
    readonly name: string | null
    readonly event: string
    readonly withinDays: number
  },
) => sql<{ reference: string }>`
with mine as (
  select connector, account, kind, reference
  from tollgate.chargeback
  where payment_id = any(${report.paymentIds}::uuid[]) and connector = ${report.connector}::text
    and account = ${report.account}::text and kind = ${report.kind}::text
    and (confirmed_by = ${report.source}::text or ${report.event}::text in (
        split_part(coalesce(source, ''), ' says ', 1), split_part(coalesce(confirmed_by, ''), ' says ', 1))
      and minor = ${String(report.minor)}::bigint and currency = ${report.currency}::text
      and not (${hasName} and ${report.name !== null}::boolean))
  order by at, record_id
  limit 1),
alike as (
  select connector, account, kind, reference, ${hasName} as has_name, at, record_id
  from tollgate.chargeback
  where payment_id = any(${report.paymentIds}::uuid[]) and connector = ${report.connector}::text
    and account = ${report.account}::text and kind = ${report.kind}::text
    and minor = ${String(report.minor)}::bigint and currency = ${report.currency}::text
    and confirmed_by is null and source is not null
    and ${isLine} <> ${report.source.startsWith(lineSource)}::boolean
    and not (${hasName} and ${report.name !== null}::boolean)
    and at > now() - ${report.withinDays}::integer * interval '1 day'
    and not exists (select from mine)
  for update),
taken as (
  select connector, account, kind, reference, true as is_new
  from (
    -- A fact with a reference is left to a report with that reference, as long as there is another one.
    select connector, account, kind, reference from alike order by has_name, at, record_id limit 1) as first
  union all
  select connector, account, kind, reference, false from mine)
update tollgate.chargeback as fact
set confirmed_by = case when taken.is_new then ${report.source}::text else fact.confirmed_by end,
  told_as = coalesce(case when not fact.is_named then ${report.name}::text end, fact.told_as),
  settlement_id = coalesce(fact.settlement_id, ${report.settlementId}::text)
from taken
where fact.connector = taken.connector and fact.account = taken.account
  and fact.kind = taken.kind and fact.reference = taken.reference
returning fact.reference`

/**
 * The same with a common reference: the report confirms the oldest of these rounds that only the other kind of
 * source told. Otherwise the line of a chargeback that was reversed meanwhile would begin a new round.
 *
 * @param references names of the rounds
 * @returns a row if the fact of this source is recorded.
 */
export const confirmRound = (references: readonly string[], report: Adopting) => sql<{
  reference: string
}>`
with mine as (
  select reference
  from tollgate.chargeback
  where payment_id = any(${report.paymentIds}::uuid[]) and confirmed_by = ${report.source}::text),
open as (
  select connector, account, kind, reference, at, record_id
  from tollgate.chargeback
  where connector = ${report.connector}::text and account = ${report.account}::text
    and kind = ${report.kind}::text
    and reference = any(${references}::text[]) and payment_id = any(${report.paymentIds}::uuid[])
    and minor = ${String(report.minor)}::bigint and currency = ${report.currency}::text
    and confirmed_by is null and ${isLine} <> ${report.source.startsWith(lineSource)}::boolean
    and not exists (select from mine)
  for update),
oldest as (
  select connector, account, kind, reference
  from open
  order by at, record_id
  limit 1),
confirmed as (
  update tollgate.chargeback set confirmed_by = ${report.source}::text,
    settlement_id = coalesce(chargeback.settlement_id, ${report.settlementId}::text)
  from oldest
  where chargeback.connector = oldest.connector and chargeback.account = oldest.account
    and chargeback.kind = oldest.kind and chargeback.reference = oldest.reference
  returning chargeback.reference)
select reference from mine
union all
select reference from confirmed`
