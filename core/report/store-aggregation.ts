/** SQL of aggregations: payouts in one currency, and the sums of their records and lines. */
import type { Mode } from '../connector/registry.ts'
import { sql } from '../db/sql.ts'

/** Entities at and below one; null: all. */
export const entitiesBelow = (entityId: string | null) => sql<{ id: string }>`
  with recursive below as (
    select id
    from tollgate.entity
    where id = ${entityId}::uuid or ${entityId}::uuid is null and parent_id is null
    union all
    select entity.id
    from tollgate.entity
    join below on entity.parent_id = below.id)
  select id from below`

export type BatchRow = {
  id: string
  scope_id: string
  name: string
  currency: string
  /** `yyyy-MM-dd` */
  day: string
  is_balanced: boolean | null
  connector: string
  mode: Mode
  merchant_number: string
  clock_id: string | null
  /** Whether the reader sees all channels of the payout. */
  is_whole: boolean
}

const columns = sql`batch.id, batch.scope_id, batch.name, batch.currency, batch.settlement_date::text as day,
    batch.is_balanced, scope.connector, scope.mode, scope.merchant_number, scope.clock_id,
    scope.entity_id = any(own.ids) as is_whole`

/** A payout that the reader sees: of a merchant number of its own, or with records of its entities. */
const isVisible = sql`(scope.entity_id = any(own.ids) or exists (
      select
      from tollgate.settlement_record as record
      where record.scope_id = batch.scope_id and record.batch = batch.name
        and record.settled_currency = batch.currency and record.entity_id = any(own.ids)))`

/**
 * Payouts of some days, oldest first.
 *
 * @param own Entities of the reader. @param above Entities above, whose payouts can have records of the reader.
 * @param after Day and id of the last payout of the page before.
 */
export const batchesOf = (
  own: readonly string[],
  above: readonly string[],
  wanted: {
    readonly from: string
    readonly to: string
    readonly currency: string
    readonly mode: Mode
  },
  after: { readonly day: string; readonly id: string },
  limit: number,
) => sql<BatchRow>`
  select ${columns}
  from (select ${own}::uuid[] as ids) as own
  cross join tollgate.settlement_scope as scope
  cross join lateral (
    select batch.id, batch.scope_id, batch.name, batch.currency, batch.settlement_date, batch.is_balanced
    from tollgate.settlement_batch as batch
    where batch.scope_id = scope.id and batch.currency = ${wanted.currency}::text
      and batch.settlement_date between ${wanted.from}::date and ${wanted.to}::date
      and (batch.settlement_date, batch.id) > (${after.day}::date, ${after.id}::uuid) and ${isVisible}
    order by batch.settlement_date, batch.id
    limit ${limit}::integer) as batch
  where (scope.entity_id = any(own.ids) or scope.entity_id = any(${above}::uuid[]))
    and scope.mode = ${wanted.mode}::text
  order by batch.settlement_date, batch.id
  limit ${limit}::integer`

export const batchById = (id: string, own: readonly string[]) => sql<BatchRow>`
  select ${columns}
  from (select ${own}::uuid[] as ids) as own
  cross join tollgate.settlement_batch as batch
  join tollgate.settlement_scope as scope on scope.id = batch.scope_id
  where batch.id = ${id}::uuid and ${isVisible}`

/** An operator may have checked an earlier version. */
const isUnchecked = sql`record.checked_version is distinct from record.version`

export type SumRow = {
  batch_id: string
  record_type: string
  transaction_type: string
  count: bigint
  /** Signed: positive in favour of the merchant. Without records that failed. */
  settled: bigint
  fee: bigint
  merchant_number: string
  /** The lowest and the highest account id; null: none is known. */
  first_account: string | null
  last_account: string | null
  not_matched: bigint
  several_matches: bigint
  with_discrepancies: bigint
}

/** Records of some payouts by kind. */
export const sumsOf = (batchIds: readonly string[], own: readonly string[]) => sql<SumRow>`
  select batch.id as batch_id, total.record_type, total.transaction_type, total.count, total.settled, total.fee,
    total.merchant_number, total.first_account, total.last_account, total.not_matched, total.several_matches,
    total.with_discrepancies
  from tollgate.settlement_batch as batch
  cross join lateral (
    select record.record_type, record.transaction_type, count(*) as count,
      sum(case when record.status = 'FAILED' then 0 when record.cashflow = 'POS' then record.settled_minor
        else -record.settled_minor end)::bigint as settled,
      coalesce(sum(record.fee_minor), 0)::bigint as fee, min(record.merchant_number) as merchant_number,
      min(record.account_id::text)::uuid as first_account, max(record.account_id::text)::uuid as last_account,
      count(*) filter (where record.match_status = 'NOT_MATCHED' and ${isUnchecked}) as not_matched,
      count(*) filter (where record.match_status = 'MULTIPLE_MATCHES' and ${isUnchecked}) as several_matches,
      count(*) filter (where record.discrepancies <> '{}' and ${isUnchecked}) as with_discrepancies
    from tollgate.settlement_record as record
    where record.scope_id = batch.scope_id and record.batch = batch.name
      and record.settled_currency = batch.currency and record.entity_id = any(${own}::uuid[])
    group by record.record_type, record.transaction_type) as total
  where batch.id = any(${batchIds}::uuid[])
  order by batch.id, total.record_type, total.transaction_type`

/** Records of some payouts by discrepancy. */
export const discrepanciesOf = (batchIds: readonly string[], own: readonly string[]) => sql<{
  batch_id: string
  kind: string
  count: bigint
}>`
  select batch.id as batch_id, total.kind, total.count
  from tollgate.settlement_batch as batch
  cross join lateral (
    select given.kind, count(*) as count
    from tollgate.settlement_record as record
    cross join lateral unnest(record.discrepancies) as given (kind)
    where record.scope_id = batch.scope_id and record.batch = batch.name
      and record.settled_currency = batch.currency and record.entity_id = any(${own}::uuid[])
      and ${isUnchecked}
    group by given.kind) as total
  where batch.id = any(${batchIds}::uuid[])
  order by batch.id, total.kind`

export type LineRow = {
  batch_id: string
  kind: string
  minor: bigint
  value_day: string | null
  payout_id: string | null
}

/** Lines of payouts by kind, signed; the last value day and reference of each kind. */
export const linesOf = (batchIds: readonly string[]) => sql<LineRow>`
  select batch.id as batch_id, line.kind,
    sum(case when line.cashflow = 'POS' then line.minor else -line.minor end)::bigint as minor,
    max(line.value_date)::text as value_day, max(line.payout_id) as payout_id
  from tollgate.settlement_batch as batch
  join tollgate.settlement_batch_line as line on line.scope_id = batch.scope_id and line.batch = batch.name
    and line.currency = batch.currency
  where batch.id = any(${batchIds}::uuid[])
  group by batch.id, line.kind
  order by batch.id, line.kind`

/** Names of the channels of accounts. */
export const accountNames = (ids: readonly string[]) => sql<{ id: string; name: string }>`
  select account.id, channel.name
  from tollgate.merchant_account as account
  join tollgate.entity as channel on channel.id = account.channel_id
  where account.id = any(${ids}::uuid[])`
