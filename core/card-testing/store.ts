import { sql } from '../db/sql.ts'
import type { Dimension } from '../entity/card-testing-settings.ts'
import type { Bucket } from './windows.ts'

/** What one process saw. A minute is written as often as it changes, and again when an answer was lost. */
export const tellCounts = (processId: string, buckets: readonly Bucket[]) => sql`
  insert into tollgate.card_testing as known
    (merchant_id, dimension, value, bucket_at, process_id, failures, approvals)
  select seen.merchant_id, seen.dimension, seen.value, seen.bucket_at, ${processId}::uuid, seen.failures,
    seen.approvals
  from json_to_recordset(${JSON.stringify(buckets.map(recordOf))}::json)
    as seen (merchant_id uuid, dimension text, value text, bucket_at timestamptz, failures integer,
      approvals integer)
  order by seen.merchant_id, seen.dimension, seen.value, seen.bucket_at
  on conflict (merchant_id, dimension, value, bucket_at, process_id) do update
    set failures = greatest(known.failures, excluded.failures),
      approvals = greatest(known.approvals, excluded.approvals), changed_at = now()`

const recordOf = ({ merchantId, dimension, value, at, failures, approvals }: Bucket) => ({
  merchant_id: merchantId,
  dimension,
  value,
  bucket_at: new Date(at).toISOString(),
  failures,
  approvals,
})

/**
 * Minutes of which other processes told something since: the sums of all of them. Of too many, the newest;
 * in the order of time. Failures of a version that told no approvals say nothing of a share.
 */
export const countsOfOthers = (processId: string, since: Date, most: number) => sql<{
  merchant_id: string
  dimension: Dimension
  value: string
  bucket_at: Date
  failures: number
  approvals: number
}>`
  with changed as (
    select merchant_id, dimension, value, bucket_at, max(changed_at) as changed_at
    from tollgate.card_testing
    -- The other end of the range is for the planner, which takes an open one for a third of the table.
    where changed_at > ${since}::timestamptz and changed_at <= now() and process_id <> ${processId}::uuid
      and (dimension in ('number', 'address') or approvals is not null)
    group by merchant_id, dimension, value, bucket_at
    order by max(changed_at) desc
    limit ${most}::integer)
  select known.merchant_id, known.dimension, known.value, known.bucket_at, sum(known.failures)::integer as failures,
    coalesce(sum(known.approvals), 0)::integer as approvals
  from changed
  join tollgate.card_testing known using (merchant_id, dimension, value, bucket_at)
  where known.process_id <> ${processId}::uuid
    and (known.dimension in ('number', 'address') or known.approvals is not null)
  group by known.merchant_id, known.dimension, known.value, known.bucket_at
  order by known.bucket_at`

/** What operators lifted within the longest window, and what time it is for the database. */
export const liftedBlocks = (withinMs: number) => sql<{
  now: Date
  /** Reference of the entry -> milliseconds since 1970. */
  lifts: Readonly<Record<string, number>>
}>`
  select now() as now, coalesce(json_object_agg(lifted.reference, lifted.at_ms), '{}'::json) as lifts
  from (
    select reference, floor(extract(epoch from max(resolved_at)) * 1000)::bigint as at_ms
    from tollgate.attention
    where kind = 'card-testing' and resolved_at > now() - ${withinMs}::bigint * interval '1 millisecond'
    group by reference) lifted`

export const purgeCounts = (olderThanMs: number, batch: number) => sql<{ value: string }>`
  delete from tollgate.card_testing
  where ctid in (
    select ctid
    from tollgate.card_testing
    where changed_at < now() - ${olderThanMs}::bigint * interval '1 millisecond'
    limit ${batch}::integer)
  returning value`

/** The same of all but numbers, which have the longest window. */
export const purgeShort = (olderThanMs: number, batch: number) => sql<{ value: string }>`
  delete from tollgate.card_testing
  where ctid in (
    select ctid
    from tollgate.card_testing
    where dimension <> 'number' and changed_at < now() - ${olderThanMs}::bigint * interval '1 millisecond'
    limit ${batch}::integer)
  returning value`

/** By what the number of a payment is known; nothing where it was erased. */
export const fingerprintOf = (paymentId: string) => sql<{ fingerprint: Buffer | null }>`
  select fingerprint
  from tollgate.instrument
  where id = ${paymentId}::uuid`

export type DecidedRow = {
  id: string
  state: string
  result_code: string
  amount_minor: bigint
}

/** Those of some payments that are not open any more; only partitions between the lowest and the highest are looked at. */
export const decidedOf = (ids: readonly string[]) => {
  const sorted = [...ids].sort()
  return sql<DecidedRow>`
  select id, state, result_code, amount_minor
  from tollgate.payment
  where id = any(${sorted}::uuid[]) and id >= ${sorted[0]!}::uuid and id <= ${sorted.at(-1)!}::uuid
    and state not in ('processing', 'pending', 'unknown')`
}
