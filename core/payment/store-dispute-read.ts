/** SQL that reads chargebacks, their reversals and their open amounts. */
import { sql } from '../db/sql.ts'
import type { PaymentState } from './types.ts'

export type FactKind = 'chargeback' | 'reversal'

export type ChargebackRow = {
  reference: string
  /** The acquirer's name of a reversal that an operator recorded by hand. */
  told_as: string | null
  is_named: boolean
  /** Id of the first message. */
  source: string | null
  record_id: string
  payment_id: string
  balance_id: string | null
  minor: bigint
  currency: string
  counted: bigint
  reversed: bigint
  /** The returned amount, including amounts outside of the sums. */
  given_back: bigint
}

const columns = sql`reference, told_as, is_named, source, record_id, payment_id, balance_id, minor, currency, counted, reversed,
  case when balance_id is null then (
    select coalesce(sum(reversal.minor), 0)::bigint
    from tollgate.chargeback reversal
    where reversal.payment_id = chargeback.payment_id and reversal.kind = 'reversal'
      and reversal.connector = chargeback.connector and reversal.account = chargeback.account
      and reversal.reverses = chargeback.reference and reversal.currency = chargeback.currency)
    else reversed end as given_back`

/** A fact by the acquirer's reference, including facts that an operator recorded first. */
export const factByReference = (
  connector: string,
  account: string,
  kind: FactKind,
  reference: string,
) => sql<ChargebackRow>`
  select ${columns}
  from tollgate.chargeback
  where connector = ${connector}::text and account = ${account}::text and kind = ${kind}::text
    and (reference = ${reference}::text or told_as = ${reference}::text)`

/** Sources of settlement lines begin with this; ids of messages never contain a space. */
export const lineSource = 'line '

const isLine = sql`coalesce(source like ${`${lineSource}%`}::text, false)`

/**
 * A message and a settlement line about one dispute meet without a common reference: the line takes the one
 * fact of equal amount that only a message told, and the message the one that only a line told. Two facts
 * that both have a reference are different disputes.
 *
 * @returns a row if the fact of this source is recorded.
 */
export const adoptFact = (report: {
  readonly connector: string
  readonly account: string
  readonly kind: FactKind
  readonly paymentIds: readonly string[]
  readonly minor: bigint
  readonly currency: string
  readonly isNamed: boolean
  readonly source: string
  readonly withinDays: number
}) => sql<{ reference: string }>`
with mine as (
  select reference
  from tollgate.chargeback
  where payment_id = any(${report.paymentIds}::uuid[]) and confirmed_by = ${report.source}::text),
alike as (
  select connector, account, kind, reference
  from tollgate.chargeback
  where payment_id = any(${report.paymentIds}::uuid[]) and connector = ${report.connector}::text
    and account = ${report.account}::text and kind = ${report.kind}::text
    and minor = ${String(report.minor)}::bigint and currency = ${report.currency}::text
    and confirmed_by is null and told_as is null and source is not null
    and ${isLine} <> ${report.source.startsWith(lineSource)}::boolean
    and not (is_named and ${report.isNamed}::boolean)
    and at > now() - ${report.withinDays}::integer * interval '1 day'
    and not exists (select from mine)
  for update),
adopted as (
  update tollgate.chargeback set confirmed_by = ${report.source}::text
  from alike
  where chargeback.connector = alike.connector and chargeback.account = alike.account
    and chargeback.kind = alike.kind and chargeback.reference = alike.reference
    and (select count(*) from alike) = 1
  returning chargeback.reference)
select reference from mine
union all
select reference from adopted`

/**
 * The same with a common reference: the report confirms the oldest of these rounds that only the other kind of
 * source told. Otherwise the line of a chargeback that was reversed meanwhile would begin a new round.
 *
 * @param references names of the rounds
 * @returns a row if the fact of this source is recorded.
 */
export const confirmRound = (
  references: readonly string[],
  report: {
    readonly connector: string
    readonly account: string
    readonly paymentIds: readonly string[]
    readonly minor: bigint
    readonly currency: string
    readonly source: string
  },
) => sql<{ reference: string }>`
with mine as (
  select reference
  from tollgate.chargeback
  where payment_id = any(${report.paymentIds}::uuid[]) and confirmed_by = ${report.source}::text),
open as (
  select connector, account, kind, reference
  from tollgate.chargeback
  where connector = ${report.connector}::text and account = ${report.account}::text and kind = 'chargeback'
    and reference = any(${references}::text[]) and payment_id = any(${report.paymentIds}::uuid[])
    and minor = ${String(report.minor)}::bigint and currency = ${report.currency}::text and confirmed_by is null
    and ${isLine} <> ${report.source.startsWith(lineSource)}::boolean
    and not exists (select from mine)
  order by at, record_id
  limit 1
  for update),
confirmed as (
  update tollgate.chargeback set confirmed_by = ${report.source}::text
  from open
  where chargeback.connector = open.connector and chargeback.account = open.account
    and chargeback.kind = open.kind and chargeback.reference = open.reference
  returning chargeback.reference)
select reference from mine
union all
select reference from confirmed`

/** Chargebacks of payments and of their captures, oldest first. */
export const chargebacksOf = (paymentIds: readonly string[]) => sql<ChargebackRow>`
  select ${columns}
  from tollgate.chargeback
  where payment_id = any(${paymentIds}::uuid[]) and kind = 'chargeback'
  order by at, record_id`

/**
 * The open amounts of chargebacks by currency, including chargebacks outside of the sums. A late
 * success has no sums, yet its money is gone. Empty: no chargeback is open.
 *
 * @param parentId For a capture, its authorisation: chargebacks by the key of the authorisation
 * stay there while no capture has them.
 */
export const standingOf = (paymentId: string, parentId: string | null) => sql<{
  currency: string
  minor: bigint
}>`
with subject as (
  select ${paymentId}::uuid as id
  union all
  select authorisation.id
  from tollgate.payment authorisation
  where authorisation.id = ${parentId}::uuid and authorisation.effect in ('authorisation', 'replacement')
  union all
  select increase.id
  from tollgate.payment increase
  where increase.referenced_id = ${parentId}::uuid and increase.effect = 'increase'),
charged as (
  select ${columns}
  from tollgate.chargeback
  where payment_id in (select id from subject) and kind = 'chargeback'),
nameless as (
  select reversal.payment_id, reversal.currency, sum(reversal.minor) as minor
  from tollgate.chargeback reversal
  where reversal.payment_id in (select id from subject) and reversal.kind = 'reversal'
    and reversal.balance_id is null and reversal.reverses is null
  group by reversal.payment_id, reversal.currency),
standing as (
  select charged.payment_id, charged.currency,
    coalesce(sum(greatest(0, charged.minor - charged.given_back)) filter (where charged.balance_id is not null), 0) as inside,
    coalesce(sum(greatest(0, charged.minor - charged.given_back)) filter (where charged.balance_id is null), 0) as outside
  from charged
  group by charged.payment_id, charged.currency)
select standing.currency,
  sum(standing.inside + greatest(0, standing.outside - coalesce(nameless.minor, 0)))::bigint as minor
from standing
left join nameless on nameless.payment_id = standing.payment_id and nameless.currency = standing.currency
group by standing.currency
having sum(standing.inside + greatest(0, standing.outside - coalesce(nameless.minor, 0))) > 0`

/** Chargebacks by their payment records. */
export const chargebacksByRecord = (recordIds: readonly string[]) => sql<ChargebackRow>`
  select ${columns}
  from tollgate.chargeback
  where record_id = any(${recordIds}::uuid[]) and kind = 'chargeback'`

/** Captures of an authorisation and its increases, including failed captures. */
export const capturesOf = (rootId: string | null) => sql<{
  id: string
  state: PaymentState
  attempt_key: string
}>`
  select capture.id, capture.state, capture.attempt_key
  from tollgate.payment capture
  where capture.effect = 'capture' and (
    capture.referenced_id = ${rootId}::uuid or capture.referenced_id in (
      select increase.id from tollgate.payment increase
      where increase.referenced_id = ${rootId}::uuid and increase.effect = 'increase'))
  order by capture.id`
