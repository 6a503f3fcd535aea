/** Reads of searches; every one within the channels the caller may see (null: any). */
import { type Sql, sql } from '../db/sql.ts'
import type { Mode } from '../payment/types.ts'
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

/** A transaction of a stream. `at` is null where the id tells the time. */
export type FoundRow = { kind: 'payment' | 'record'; id: string; at: Date | null }

const nothing = sql``
const scopeOf = (channels: Channels) => sql`
  with scope as (select ${channels}::uuid[] as channels)`
const inScope = sql`any((select channels from scope)::uuid[])`

/** Payments `p` in real time. */
const realTime = ({ fromId, toId }: Stretch): Sql =>
  sql`p.clock_id is null and p.id >= ${fromId}::uuid and p.id < ${toId}::uuid`

const onClock = ({ from, to, belowId }: Stretch): Sql => sql`p.clock_id is not null
    and p.created_at >= ${from}::timestamptz and (p.created_at, p.id) < (${to}::timestamptz, ${belowId}::uuid)`

const paymentFits = ({ types, brands, merchantTransactionId }: Criteria): Sql => sql`
  ${merchantTransactionId === null ? nothing : sql`and p.merchant_transaction_id = ${merchantTransactionId}::text`}
  ${types === null ? nothing : sql`and p.payment_type = any(${types}::text[])`}
  ${brands === null ? nothing : sql`and p.brand = any(${brands}::text[])`}`

/**
 * A payment `p` of the kind `k.kind`, in the index of each channel or in that of all channels. The common kinds
 * stand in the text: a plan for all values takes a partial index only for a statement that has the condition of
 * the index, in its words.
 */
function isOfKind(by: UncommonKinds['by'], index: 'channel' | 'all'): Sql {
  const [column, common] =
    by === 'type' ? ['p.payment_type', commonTypes] : ['p.brand', commonBrands]
  const codes = common.map((code) => `'${code}'`).join(', ')
  const isUncommon =
    index === 'channel' ? `${column} not in (${codes})` : `(${column} in (${codes})) is false`
  return { strings: [`and ${column} = k.kind and ${isUncommon}`], values: [] }
}

const before = ({ from, to, belowId }: Stretch): Sql => sql`r.created_at >= ${from}::timestamptz
  and (r.created_at, r.id) < (${to}::timestamptz, ${belowId}::uuid)`

const recordFits = ({ types, brands, merchantTransactionId }: Criteria): Sql => sql`
  ${merchantTransactionId === null ? nothing : sql`and r.merchant_transaction_id = ${merchantTransactionId}::text`}
  ${types === null ? nothing : sql`and r.type = any(${types}::text[])`}
  ${
    brands === null
      ? nothing
      : sql`and exists (
    select from tollgate.registration g
    where g.id = coalesce((select s.registration_id from tollgate.schedule s where s.id = r.resource), r.resource)
      and g.brand = any(${brands}::text[]))`
  }`

const union = (streams: readonly Sql[]): Sql =>
  streams.reduce((all, one) => sql`${all} union all ${one}`)

export const areRecordsAsked = ({ types }: Criteria) =>
  types?.some((type) => recordedTypes.includes(type)) ?? true
const arePaymentsAsked = ({ types }: Criteria) =>
  types?.some((type) => !recordedTypes.includes(type)) ?? true

const perChannel = (channels: Channels): Sql =>
  channels === null ? sql`(select) as c` : sql`unnest((select channels from scope)) as c(id)`

/** Payments in real time as `f`, among them the newest `limit`. */
function paymentsByTime(scope: Scope, stretch: Stretch, limit: number): Sql {
  const { channels, criteria } = scope
  const uncommon = uncommonKindsOf(criteria)
  const isEach = channels !== null && (uncommon === null || !readsAllChannels(scope, uncommon))
  const column = uncommon?.by === 'type' ? 'types' : 'brands'
  const newestFirst = sql`
      select p.id, p.channel_id
      from tollgate.payment p
      where ${realTime(stretch)} ${isEach ? sql`and p.channel_id = c.id` : nothing}
        ${uncommon === null ? nothing : isOfKind(uncommon.by, isEach ? 'channel' : 'all')}
        ${paymentFits(uncommon === null ? criteria : { ...criteria, [column]: null })}
      order by p.id desc`
  const kinds =
    uncommon === null ? nothing : sql`cross join unnest(${uncommon.kinds}::text[]) as k(kind)`
  if (isEach || channels === null) {
    return sql`${perChannel(channels)} ${kinds} cross join lateral (${newestFirst}
      limit ${limit}::integer) f`
  }
  // "offset 0" and "is true" keep the filter above the partitions, so that the channels are hashed once.
  return sql`(select) as c ${kinds} cross join lateral (
      select e.id
      from (${newestFirst}
      offset 0) e
      where (e.channel_id in (select unnest((select channels from scope)))) is true
      limit ${limit}::integer) f`
}

/**
 * By time. Every channel is asked by itself, for then its index gives the newest of it in order and
 * no more than these are read. `isSorted`: the newest of all; otherwise any of them, for counting.
 */
function byTime(scope: Scope, stretch: Stretch, limit: number, isSorted: boolean): Sql {
  const { channels, criteria, hasClocks } = scope
  const streams: Sql[] = []
  if (arePaymentsAsked(criteria)) {
    streams.push(sql`(
    select 'payment' as kind, f.id, null::timestamptz as at
    from ${paymentsByTime(scope, stretch, limit)}
    ${isSorted ? sql`order by f.id desc` : nothing}
    limit ${limit}::integer)`)
  }
  if (areRecordsAsked(criteria)) {
    streams.push(sql`(
    select 'record' as kind, f.id, f.created_at as at
    from ${perChannel(channels)}
    cross join lateral (
      select r.id, r.created_at
      from tollgate.record r
      where ${before(stretch)} ${channels === null ? nothing : sql`and r.channel_id = c.id`}
        ${recordFits(criteria)}
      order by r.created_at desc, r.id desc
      limit ${limit}::integer) f
    ${isSorted ? sql`order by f.created_at desc, f.id desc` : nothing}
    limit ${limit}::integer)`)
  }
  if (hasClocks && arePaymentsAsked(criteria)) {
    streams.push(sql`(
    select 'payment' as kind, p.id, p.created_at as at
    from tollgate.payment p
    where ${onClock(stretch)} ${paymentFits(criteria)}
      ${channels === null ? nothing : sql`and p.channel_id in (select unnest((select channels from scope)))`}
    ${isSorted ? sql`order by p.created_at desc, p.id desc` : nothing}
    limit ${limit}::integer)`)
  }
  return union(streams)
}

/**
 * What has a reference or a number, whenever it was made, in no order, at most `limit` of each kind.
 * One look for all channels. It names no time, so that no other index seems good enough.
 */
export const named = ({ channels, criteria }: Scope, limit: number) => sql<FoundRow>`
  ${scopeOf(channels)}
  (select 'payment' as kind, p.id, case when p.clock_id is not null then p.created_at end as at
  from tollgate.payment p
  where ${channels === null ? sql`true` : sql`p.channel_id = ${inScope}`} ${paymentFits(criteria)}
    ${criteria.shortNo === null ? nothing : sql`and p.short_no = ${criteria.shortNo}::bigint`}
  limit ${limit}::integer)
  union all
  (select 'record', r.id, r.created_at
  from tollgate.record r
  where ${channels === null ? sql`true` : sql`r.channel_id = ${inScope}`} ${recordFits(criteria)}
    ${criteria.shortNo === null ? nothing : sql`and r.short_no = ${criteria.shortNo}::bigint`}
  limit ${limit}::integer)`

/** The newest of a stretch, at most `limit` of each kind. */
export const newestIn = (scope: Scope, stretch: Stretch, limit: number) => sql<FoundRow>`
  ${scopeOf(scope.channels)}
  select f.kind, f.id, f.at
  from (${byTime(scope, stretch, limit, true)}) f`

/** How many there are in a stretch, counted no further than `limit` of each kind. */
export const countIn = (scope: Scope, stretch: Stretch, limit: number) => sql<{ count: bigint }>`
  ${scopeOf(scope.channels)}
  select count(*) as count
  from (${byTime(scope, stretch, limit, false)}) f`

/** Payments that refer to one of these. */
export const followUpsOf = (ids: readonly string[], channels: Channels) => sql<{ id: string }>`
  ${scopeOf(channels)}
  select p.id
  from tollgate.payment p
  where p.referenced_id = any(${ids}::uuid[])
    ${channels === null ? nothing : sql`and p.channel_id = ${inScope}`}
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
  /** The payment that made the registration. */
  origin_id: string
  is_schedule: boolean
  amount_minor: bigint | null
  currency: string | null
}

const recordColumns = sql`
  r.id, r.type, r.resource, r.short_no, r.merchant_transaction_id, r.created_at, coalesce(s.mode, g.mode) as mode,
  g.brand, g.id as registration_id, g.payment_id as origin_id, s.id is not null as is_schedule, s.amount_minor, s.currency`

/** Records of registrations and schedules. */
export const recordsById = (ids: readonly string[], channels: Channels) => sql<RecordRow>`
  ${scopeOf(channels)}
  select ${recordColumns}
  from tollgate.record r
  left join tollgate.schedule s on s.id = r.resource
  join tollgate.registration g on g.id = coalesce(s.registration_id, r.resource)
  where r.id = any(${ids}::uuid[])
    ${channels === null ? nothing : sql`and r.channel_id = ${inScope}`}`

/** Records of the registrations that these payments made, and of the schedules on them. */
export const recordsOf = (
  paymentIds: readonly string[],
  registrationIds: readonly string[],
  channels: Channels,
) => sql<{ id: string }>`
  ${scopeOf(channels)},
  made as materialized (
    select g.id
    from tollgate.registration g
    where g.id = any(${registrationIds}::uuid[]) and g.payment_id = any(${paymentIds}::uuid[])),
  resources as materialized (
    select id from made
    union all
    select s.id from made join tollgate.schedule s on s.registration_id = made.id)
  select r.id
  from resources
  join tollgate.record r on r.resource = resources.id
  ${channels === null ? nothing : sql`where r.channel_id = ${inScope}`}
  limit 5001`
