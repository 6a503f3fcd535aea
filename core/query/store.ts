/** SQL of searches, within the channels that the caller may see (null: any). */
import type { Mode } from '../connector/registry.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Criteria } from './criteria.ts'
import type { Channels, Scope, Stretch } from './scope.ts'
import {
  commonBrands,
  commonTypes,
  readsAllChannels,
  recordedTypes,
  type UncommonKinds,
  uncommonKindsOf,
} from './uncommon-kinds.ts'

/** A found transaction. `at` is null when the id contains the time. */
export type FoundRow = { kind: 'payment' | 'record'; id: string; at: Date | null }

const nothing = sql``
const scopeOf = (channels: Channels) => sql`
  with scope as (select ${channels}::uuid[] as channels)`
const inScope = sql`any((select channels from scope)::uuid[])`

/** Payments in real time. */
const realTime = ({ fromId, toId }: Stretch): Sql =>
  sql`payment.clock_id is null and payment.id >= ${fromId}::uuid and payment.id < ${toId}::uuid`

const onClock = ({ from, to, belowId }: Stretch): Sql => sql`payment.clock_id is not null
    and payment.created_at >= ${from}::timestamptz and (payment.created_at, payment.id) < (${to}::timestamptz, ${belowId}::uuid)`

const paymentFits = ({ types, brands, merchantTransactionId }: Criteria): Sql => sql`
  ${merchantTransactionId === null ? nothing : sql`and payment.merchant_transaction_id = ${merchantTransactionId}::text`}
  ${types === null ? nothing : sql`and payment.payment_type = any(${types}::text[])`}
  ${brands === null ? nothing : sql`and payment.brand = any(${brands}::text[])`}`

/**
 * Payments of the kind `uncommon.kind`, in the index by channel or in the index of all channels. The text lists
 * the common kinds: a generic plan uses a partial index only if the statement repeats the condition of the index.
 */
function isOfKind(by: UncommonKinds['by'], index: 'channel' | 'all'): Sql {
  const [column, common] =
    by === 'type' ? ['payment.payment_type', commonTypes] : ['payment.brand', commonBrands]
  const codes = common.map((code) => `'${code}'`).join(', ')
  const isUncommon =
    index === 'channel' ? `${column} not in (${codes})` : `(${column} in (${codes})) is false`
  return { strings: [`and ${column} = uncommon.kind and ${isUncommon}`], values: [] }
}

const before = ({
  from,
  to,
  belowId,
}: Stretch): Sql => sql`record.created_at >= ${from}::timestamptz
  and (record.created_at, record.id) < (${to}::timestamptz, ${belowId}::uuid)`

const recordFits = ({ types, brands, merchantTransactionId }: Criteria): Sql => sql`
  ${merchantTransactionId === null ? nothing : sql`and record.merchant_transaction_id = ${merchantTransactionId}::text`}
  ${types === null ? nothing : sql`and record.type = any(${types}::text[])`}
  ${
    brands === null
      ? nothing
      : sql`and exists (
    select from tollgate.registration
    where registration.id = coalesce((select schedule.registration_id from tollgate.schedule where schedule.id = record.resource), record.resource)
      and registration.brand = any(${brands}::text[]))`
  }`

const union = (streams: readonly Sql[]): Sql =>
  streams.reduce((all, one) => sql`${all} union all ${one}`)

export const areRecordsAsked = ({ types }: Criteria) =>
  types?.some((type) => recordedTypes.includes(type)) ?? true
const arePaymentsAsked = ({ types }: Criteria) =>
  types?.some((type) => !recordedTypes.includes(type)) ?? true

const perChannel = (channels: Channels): Sql =>
  channels === null
    ? sql`(select) as channel`
    : sql`unnest((select channels from scope)) as channel(id)`

/** Payments in real time as `found`, including the newest `limit`. */
function paymentsByTime(scope: Scope, stretch: Stretch, limit: number): Sql {
  const { channels, criteria } = scope
  const uncommon = uncommonKindsOf(criteria)
  const isEach = channels !== null && (uncommon === null || !readsAllChannels(scope, uncommon))
  const column = uncommon?.by === 'type' ? 'types' : 'brands'
  const newestFirst = sql`
      select payment.id, payment.channel_id
      from tollgate.payment
      where ${realTime(stretch)} ${isEach ? sql`and payment.channel_id = channel.id` : nothing}
        ${uncommon === null ? nothing : isOfKind(uncommon.by, isEach ? 'channel' : 'all')}
        ${paymentFits(uncommon === null ? criteria : { ...criteria, [column]: null })}
      order by payment.id desc`
  const kinds =
    uncommon === null
      ? nothing
      : sql`cross join unnest(${uncommon.kinds}::text[]) as uncommon(kind)`
  if (isEach || channels === null) {
    return sql`${perChannel(channels)} ${kinds} cross join lateral (${newestFirst}
      limit ${limit}::integer) found`
  }
  // "offset 0" and "is true" keep the filter above the partitions, so that the channels are hashed once.
  return sql`(select) as channel ${kinds} cross join lateral (
      select entry.id
      from (${newestFirst}
      offset 0) entry
      where (entry.channel_id in (select unnest((select channels from scope)))) is true
      limit ${limit}::integer) found`
}

/**
 * By time. Each channel has a query of its own, so that its index returns the newest in order and nothing
 * else is read. `isSorted`: the newest of all channels; otherwise any, for counting.
 */
function byTime(scope: Scope, stretch: Stretch, limit: number, isSorted: boolean): Sql {
  const { channels, criteria, hasClocks } = scope
  const streams: Sql[] = []
  if (arePaymentsAsked(criteria)) {
    streams.push(sql`(
    select 'payment' as kind, found.id, null::timestamptz as at
    from ${paymentsByTime(scope, stretch, limit)}
    ${isSorted ? sql`order by found.id desc` : nothing}
    limit ${limit}::integer)`)
  }
  if (areRecordsAsked(criteria)) {
    streams.push(sql`(
    select 'record' as kind, found.id, found.created_at as at
    from ${perChannel(channels)}
    cross join lateral (
      select record.id, record.created_at
      from tollgate.record
      where ${before(stretch)} ${channels === null ? nothing : sql`and record.channel_id = channel.id`}
        ${recordFits(criteria)}
      order by record.created_at desc, record.id desc
      limit ${limit}::integer) found
    ${isSorted ? sql`order by found.created_at desc, found.id desc` : nothing}
    limit ${limit}::integer)`)
  }
  if (hasClocks && arePaymentsAsked(criteria)) {
    streams.push(sql`(
    select 'payment' as kind, payment.id, payment.created_at as at
    from tollgate.payment
    where ${onClock(stretch)} ${paymentFits(criteria)}
      ${channels === null ? nothing : sql`and payment.channel_id in (select unnest((select channels from scope)))`}
    ${isSorted ? sql`order by payment.created_at desc, payment.id desc` : nothing}
    limit ${limit}::integer)`)
  }
  return union(streams)
}

/**
 * Transactions with a reference or a number, of any time and in no order, at most `limit` of each
 * kind. One look-up for all channels. Without a time condition, no other index looks good enough.
 */
export const named = ({ channels, criteria }: Scope, limit: number) => sql<FoundRow>`
  ${scopeOf(channels)}
  (select 'payment' as kind, payment.id, case when payment.clock_id is not null then payment.created_at end as at
  from tollgate.payment
  where ${channels === null ? sql`true` : sql`payment.channel_id = ${inScope}`} ${paymentFits(criteria)}
    ${criteria.shortNo === null ? nothing : sql`and payment.short_no = ${criteria.shortNo}::bigint`}
  limit ${limit}::integer)
  union all
  (select 'record', record.id, record.created_at
  from tollgate.record
  where ${channels === null ? sql`true` : sql`record.channel_id = ${inScope}`} ${recordFits(criteria)}
    ${criteria.shortNo === null ? nothing : sql`and record.short_no = ${criteria.shortNo}::bigint`}
  limit ${limit}::integer)`

/** The newest results of a range, at most `limit` of each kind. */
export const newestIn = (scope: Scope, stretch: Stretch, limit: number) => sql<FoundRow>`
  ${scopeOf(scope.channels)}
  select found.kind, found.id, found.at
  from (${byTime(scope, stretch, limit, true)}) found`

/** Number of results in a range, counted up to `limit` of each kind. */
export const countIn = (scope: Scope, stretch: Stretch, limit: number) => sql<{ count: bigint }>`
  ${scopeOf(scope.channels)}
  select count(*) as count
  from (${byTime(scope, stretch, limit, false)}) found`

/** Payments that refer to one of these. */
export const followUpsOf = (ids: readonly string[], channels: Channels) => sql<{ id: string }>`
  ${scopeOf(channels)}
  select payment.id
  from tollgate.payment
  where payment.referenced_id = any(${ids}::uuid[])
    ${channels === null ? nothing : sql`and payment.channel_id = ${inScope}`}
  limit 5001`

export type RecordRow = {
  id: string
  type: string
  resource: string
  short_no: bigint
  merchant_transaction_id: string | null
  created_at: Date
  mode: Mode
  brand: string | null
  registration_id: string
  /** The payment that created the registration. */
  origin_id: string
  is_schedule: boolean
  amount_minor: bigint | null
  currency: string | null
}

const recordColumns = sql`
  record.id, record.type, record.resource, record.short_no, record.merchant_transaction_id, record.created_at, coalesce(schedule.mode, registration.mode) as mode,
  registration.brand, registration.id as registration_id, registration.payment_id as origin_id, schedule.id is not null as is_schedule, schedule.amount_minor, schedule.currency`

/** Records of registrations and schedules. */
export const recordsById = (ids: readonly string[], channels: Channels) => sql<RecordRow>`
  ${scopeOf(channels)}
  select ${recordColumns}
  from tollgate.record
  left join tollgate.schedule on schedule.id = record.resource
  join tollgate.registration on registration.id = coalesce(schedule.registration_id, record.resource)
  where record.id = any(${ids}::uuid[])
    ${channels === null ? nothing : sql`and record.channel_id = ${inScope}`}`

/** Records of the registrations that these payments created, and of the schedules on them. */
export const recordsOf = (
  paymentIds: readonly string[],
  registrationIds: readonly string[],
  channels: Channels,
) => sql<{ id: string }>`
  ${scopeOf(channels)},
  made as materialized (
    select registration.id
    from tollgate.registration
    where registration.id = any(${registrationIds}::uuid[]) and registration.payment_id = any(${paymentIds}::uuid[])),
  resources as materialized (
    select id from made
    union all
    select schedule.id from made join tollgate.schedule on schedule.registration_id = made.id)
  select record.id
  from resources
  join tollgate.record on record.resource = resources.id
  ${channels === null ? nothing : sql`where record.channel_id = ${inScope}`}
  limit 5001`
