/** Reads of searches; every one within the channels the caller may see (null: any). */

import type { Mode } from '../connector/registry.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Criteria } from './criteria.ts'
import { commonBrands, commonTypes, type Rare, rareOfEach, recordedTypes } from './rare.ts'
import type { Channels, Scope, Stretch } from './scope.ts'

/** A transaction of a stream. `at` is null where the id tells the time. */
export type FoundRow = { kind: 'payment' | 'record'; id: string; at: Date | null }

const nothing = sql``
const scopeOf = (channels: Channels) => sql`
  with scope as (select ${channels}::uuid[] as channels)`
const inScope = sql`any((select channels from scope)::uuid[])`

/** Payments in real time. */
const realTime = ({ fromId, toId }: Stretch): Sql =>
  sql`payment.clock_id is null and payment.id >= ${fromId}::uuid and payment.id < ${toId}::uuid`

const onClock = ({ from, to, belowId }: Stretch): Sql => sql`payment.clock_id is not null
    and payment.created_at >= ${from}::timestamptz
    and (payment.created_at, payment.id) < (${to}::timestamptz, ${belowId}::uuid)`

const paymentFits = ({ types, brands, merchantTransactionId }: Criteria): Sql => sql`
  ${merchantTransactionId === null ? nothing : sql`and payment.merchant_transaction_id = ${merchantTransactionId}::text`}
  ${types === null ? nothing : sql`and payment.payment_type = any(${types}::text[])`}
  ${brands === null ? nothing : sql`and payment.brand = any(${brands}::text[])`}`

/**
 * A payment of the kind `rare.kind`, to be found among each channel's own or among everybody's. The
 * common ones stand in the text: a plan that is made once for all values takes a partial index only
 * where the statement says what the index leaves out, in the index's own words.
 */
function isOfKind(by: Rare['by'], among: 'own' | 'all'): Sql {
  const [column, common] =
    by === 'type' ? ['payment.payment_type', commonTypes] : ['payment.brand', commonBrands]
  const codes = common.map((code) => `'${code}'`).join(', ')
  const isRare =
    among === 'own' ? `${column} not in (${codes})` : `(${column} in (${codes})) is false`
  return { strings: [`${column} = rare.kind and ${isRare}`], values: [] }
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
    where registration.id = coalesce((
        select schedule.registration_id from tollgate.schedule where schedule.id = record.resource), record.resource)
      and registration.brand = any(${brands}::text[]))`
  }`

const union = (streams: readonly Sql[]): Sql =>
  streams.reduce((all, one) => sql`${all} union all ${one}`)

/** Of what a search by time finds, everything or all but payments in real time. */
export type Part = 'all' | 'others'

export const areRecordsAsked = ({ types }: Criteria) =>
  types?.some((type) => recordedTypes.includes(type)) ?? true
const arePaymentsAsked = ({ types }: Criteria) =>
  types?.some((type) => !recordedTypes.includes(type)) ?? true

/** Whether a search by time may find anything but payments in real time. */
export const hasOthers = ({ criteria, hasClocks }: Scope) =>
  areRecordsAsked(criteria) || (hasClocks && arePaymentsAsked(criteria))

/** Payments in real time: each channel's own, and of each kind where kinds are indexed by themselves. */
function paymentsByTime(scope: Scope, stretch: Stretch, limit: number): Sql {
  const { channels, channelCount, criteria } = scope
  const rare = rareOfEach(criteria, channelCount)
  const rest =
    rare === null
      ? criteria
      : { ...criteria, ...(rare.by === 'type' ? { types: null } : { brands: null }) }
  return sql`
    ${rare === null ? nothing : sql`cross join unnest(${rare.kinds}::text[]) as rare(kind)`}
    cross join lateral (
      select payment.id
      from tollgate.payment
      where ${realTime(stretch)} ${channels === null ? nothing : sql`and payment.channel_id = channel.id`}
        ${rare === null ? nothing : sql`and ${isOfKind(rare.by, channels === null ? 'all' : 'own')}`}
        ${paymentFits(rest)}
      order by payment.id desc
      limit ${limit}::integer) found`
}

/**
 * By time. Every channel is asked by itself, for then its index gives the newest of it in order and
 * no more than these are read. `isSorted`: the newest of all; otherwise any of them, for counting.
 */
function byTime(scope: Scope, stretch: Stretch, limit: number, isSorted: boolean, part: Part): Sql {
  const { channels, criteria, hasClocks } = scope
  const perChannel =
    channels === null
      ? sql`(select) as channel`
      : sql`unnest((select channels from scope)) as channel(id)`
  const streams: Sql[] = []
  if (part === 'all' && arePaymentsAsked(criteria)) {
    streams.push(sql`(
    select 'payment' as kind, found.id, null::timestamptz as at
    from ${perChannel}
    ${paymentsByTime(scope, stretch, limit)}
    ${isSorted ? sql`order by found.id desc` : nothing}
    limit ${limit}::integer)`)
  }
  if (areRecordsAsked(criteria)) {
    streams.push(sql`(
    select 'record' as kind, found.id, found.created_at as at
    from ${perChannel}
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
 * What has a reference or a number, whenever it was made, in no order, at most `limit` of each kind.
 * One look for all channels. It names no time, so that no other index seems good enough.
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

/** The newest of a stretch, at most `limit` of each kind. */
export const newestIn = (
  scope: Scope,
  stretch: Stretch,
  limit: number,
  part: Part = 'all',
) => sql<FoundRow>`
  ${scopeOf(scope.channels)}
  select found.kind, found.id, found.at
  from (${byTime(scope, stretch, limit, true, part)}) found`

/** How many there are in a stretch, counted no further than `limit` of each kind. */
export const countIn = (scope: Scope, stretch: Stretch, limit: number, part: Part = 'all') => sql<{
  count: bigint
}>`
  ${scopeOf(scope.channels)}
  select count(*) as count
  from (${byTime(scope, stretch, limit, false, part)}) found`

/**
 * Whether an entry fits. It stands beside a number of rows: as a condition the channels may be gone
 * through for each entry, and as a column of the table they are hashed for each partition.
 */
function fits({ channels, criteria: { types, brands } }: Scope, { by }: Rare): Sql {
  return sql`
      ${channels === null ? sql`true` : sql`payment.channel_id in (select unnest((select channels from scope)))`}
        ${types === null || by === 'type' ? nothing : sql`and payment.payment_type = any(${types}::text[])`}
        ${brands === null || by === 'brand' ? nothing : sql`and payment.brand = any(${brands}::text[])`}`
}

/** `fits`: null where the payment has no brand and one is asked for. */
export type EntryRow = { id: string; fits: boolean | null; is_last: boolean }

/**
 * Newest first, `limit` that fit where there are so many among the newest `most` of each kind. Of a kind
 * that may have more of them the last one read is there too: behind it some may be missing.
 */
export const newestOfAll = (
  scope: Scope,
  rare: Rare,
  stretch: Stretch,
  most: number,
  limit: number,
) => sql<EntryRow>`
  ${scopeOf(scope.channels)}
  select entry.id, entry.fits, entry.no = ${most}::integer as is_last
  from unnest(${rare.kinds}::text[]) as rare(kind)
  cross join lateral (
    select payment.id, ${fits(scope, rare)} as fits, row_number() over (order by payment.id desc) as no
    from tollgate.payment
    where ${realTime(stretch)} and ${isOfKind(rare.by, 'all')}
    order by payment.id desc
    limit ${most}::integer) entry
  where entry.fits or entry.no = ${most}::integer
  order by entry.id desc
  limit ${limit + rare.kinds.length}::integer`

/** How many fit among `most` entries, counted no further than `limit`. `is_cut`: there may be more entries. */
export const countOfAll = (
  scope: Scope,
  rare: Rare,
  stretch: Stretch,
  most: number,
  limit: number,
) => sql<{ count: bigint; is_cut: boolean }>`
  ${scopeOf(scope.channels)}
  select count(*) filter (where found.fits) as count, coalesce(bool_or(found.no = ${most}::integer), false) as is_cut
  from (
    select entry.fits, entry.no
    from (
      select ${fits(scope, rare)} as fits, row_number() over () as no
      from unnest(${rare.kinds}::text[]) as rare(kind)
      cross join lateral (
        select payment.channel_id, payment.payment_type, payment.brand
        from tollgate.payment
        where ${realTime(stretch)} and ${isOfKind(rare.by, 'all')}
        limit ${most}::integer) payment
      limit ${most}::integer) entry
    where entry.fits or entry.no = ${most}::integer
    limit ${limit}::integer) found`

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
  /** The payment that made the registration. */
  origin_id: string
  is_schedule: boolean
  amount_minor: bigint | null
  currency: string | null
}

const recordColumns = sql`
  record.id, record.type, record.resource, record.short_no, record.merchant_transaction_id, record.created_at,
  coalesce(schedule.mode, registration.mode) as mode,
  registration.brand, registration.id as registration_id, registration.payment_id as origin_id,
  schedule.id is not null as is_schedule, schedule.amount_minor, schedule.currency`

/** Records of registrations and schedules. */
export const recordsById = (ids: readonly string[], channels: Channels) => sql<RecordRow>`
  ${scopeOf(channels)}
  select ${recordColumns}
  from tollgate.record
  left join tollgate.schedule on schedule.id = record.resource
  join tollgate.registration on registration.id = coalesce(schedule.registration_id, record.resource)
  where record.id = any(${ids}::uuid[])
    ${channels === null ? nothing : sql`and record.channel_id = ${inScope}`}`

/** Records of the registrations that these payments made, and of the schedules on them. */
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
