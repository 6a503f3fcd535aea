import { sql } from '../db/sql.ts'
import type { Dimension } from '../entity/card-testing-settings.ts'
import type { Bucket } from './windows.ts'

/**
 * Shares this process's counts. A minute is written after each change, and again after a lost
 * answer.
 */
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
 * The sums of minutes that other processes have changed since; beyond the limit the newest, in
 * order of time. Failures of a version that does not share approvals are left out.
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
    -- The upper bound is for the planner, which assumes a third of the table for an open range.
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

/** Recent lifts by operators, within the longest window, and the database's time. */
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

/**
 * Adds a block to the operators' list, unless an operator lifted it since: then the attempts that told of it were
 * refused before this process heard of the lift.
 *
 * @param heardAt The database's time at which this process last read the lifts.
 */
export const listBlock = (
  id: string,
  reference: string,
  detail: Readonly<Record<string, unknown>>,
  heardAt: Date,
) => sql`
  insert into tollgate.attention (id, kind, alarm_at, detail, reference)
  select ${id}::uuid, 'card-testing', now(), ${JSON.stringify(detail)}::jsonb, ${reference}::text
  where not exists (
    select
    from tollgate.attention
    where kind = 'card-testing' and reference = ${reference}::text and resolved_at >= ${heardAt}::timestamptz)
  on conflict do nothing`

export const purgeCounts = (olderThanMs: number, batch: number) => sql<{ value: string }>`
  delete from tollgate.card_testing
  where ctid in (
    select ctid
    from tollgate.card_testing
    where changed_at < now() - ${olderThanMs}::bigint * interval '1 millisecond'
    limit ${batch}::integer)
  returning value`

/** The same for all dimensions but numbers, which have the longest window. */
export const purgeShort = (olderThanMs: number, batch: number) => sql<{ value: string }>`
  delete from tollgate.card_testing
  where ctid in (
    select ctid
    from tollgate.card_testing
    where dimension <> 'number' and changed_at < now() - ${olderThanMs}::bigint * interval '1 millisecond'
    limit ${batch}::integer)
  returning value`

/** The fingerprint of a payment's number; null after its erasure. */
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

/**
 * Payments that are no longer open. Reads only the partitions between the lowest and the highest
 * id.
 */
export const decidedOf = (ids: readonly string[]) => {
  const sorted = [...ids].sort()
  return sql<DecidedRow>`
  select id, state, result_code, amount_minor
  from tollgate.payment
  where id = any(${sorted}::uuid[]) and id >= ${sorted[0]!}::uuid and id <= ${sorted.at(-1)!}::uuid
    and state not in ('processing', 'pending', 'unknown')`
}
