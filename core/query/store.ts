/** Reads of searches; every one within the channels the caller may see (null: any). */
import { type Sql, sql } from '../db/sql.ts'
import type { Mode } from '../payment/types.ts'
import type { Criteria } from './criteria.ts'

/** Sorted channel ids as one Postgres array in text: made once for a list, not once for a statement. */
export type Channels = string | null

type Scope = { readonly channels: Channels; readonly criteria: Criteria }

/** A stretch of time: ids between which payments in real time lie, and the same in business time. */
export type Stretch = {
  readonly fromId: string
  readonly toId: string
  readonly from: Date
  readonly to: Date
}

/** A candidate of a stream. `at` is null where the id tells the time. */
export type FoundRow = { stream: number; id: string; at: Date | null }

const nothing = sql``

const paymentFits = ({ channels, criteria }: Scope): Sql => sql`
  ${channels === null ? nothing : sql`and p.channel_id = any((select channels from scope)::uuid[])`}
  ${criteria.types === null ? nothing : sql`and p.payment_type = any(${criteria.types}::text[])`}
  ${criteria.brands === null ? nothing : sql`and p.brand = any(${criteria.brands}::text[])`}
  ${criteria.merchantTransactionId === null ? nothing : sql`and p.merchant_transaction_id = ${criteria.merchantTransactionId}::text`}
  ${criteria.shortNo === null ? nothing : sql`and p.short_no = ${criteria.shortNo}::bigint`}`

const recordFits = ({ channels, criteria }: Scope): Sql => sql`
  ${channels === null ? nothing : sql`and r.channel_id = any((select channels from scope)::uuid[])`}
  ${criteria.types === null ? nothing : sql`and r.type = any(${criteria.types}::text[])`}
  ${
    criteria.brands === null
      ? nothing
      : sql`and exists (
    select from tollgate.registration g
    where g.id = coalesce((select s.registration_id from tollgate.schedule s where s.id = r.resource), r.resource)
      and g.brand = any(${criteria.brands}::text[]))`
  }
  ${criteria.merchantTransactionId === null ? nothing : sql`and r.merchant_transaction_id = ${criteria.merchantTransactionId}::text`}
  ${criteria.shortNo === null ? nothing : sql`and r.short_no = ${criteria.shortNo}::bigint`}`

/** The three streams of a search: payments in real time, payments on test clocks, records. */
const streams = (scope: Scope, stretch: Stretch, limit: number | null): Sql => sql`
  (select 0 as stream, p.id, null::timestamptz as at
  from tollgate.payment p
  where p.clock_id is null and p.id >= ${stretch.fromId}::uuid and p.id < ${stretch.toId}::uuid
    ${paymentFits(scope)}
  limit ${limit}::integer)
  union all
  (select 1, p.id, p.created_at
  from tollgate.payment p
  where p.clock_id is not null and p.created_at >= ${stretch.from}::timestamptz and p.created_at < ${stretch.to}::timestamptz
    ${paymentFits(scope)}
  limit ${limit}::integer)
  union all
  (select 2, r.id, r.created_at
  from tollgate.record r
  where r.created_at >= ${stretch.from}::timestamptz and r.created_at < ${stretch.to}::timestamptz
    ${recordFits(scope)}
  limit ${limit}::integer)`

/** What lies in a stretch of time, in no order, at most `limit` of each stream (null: all). */
export const foundIn = (scope: Scope, stretch: Stretch, limit: number | null) => sql<FoundRow>`
  with scope as (select ${scope.channels}::uuid[] as channels)
  select f.stream, f.id, f.at
  from (${streams(scope, stretch, limit)}) f`

/** How many there are in a stretch of time, counted no further than `limit` in each stream. */
export const countIn = (scope: Scope, stretch: Stretch, limit: number) => sql<{ count: bigint }>`
  with scope as (select ${scope.channels}::uuid[] as channels)
  select count(*) as count
  from (${streams(scope, stretch, limit)}) f`

/** Payments that refer to one of these. */
export const followUpsOf = (ids: readonly string[], channels: Channels) => sql<{ id: string }>`
  with scope as (select ${channels}::uuid[] as channels)
  select p.id
  from tollgate.payment p
  where p.referenced_id = any(${ids}::uuid[])
    ${channels === null ? nothing : sql`and p.channel_id = any((select channels from scope)::uuid[])`}
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
  with scope as (select ${channels}::uuid[] as channels)
  select ${recordColumns}
  from tollgate.record r
  left join tollgate.schedule s on s.id = r.resource
  join tollgate.registration g on g.id = coalesce(s.registration_id, r.resource)
  where r.id = any(${ids}::uuid[])
    ${channels === null ? nothing : sql`and r.channel_id = any((select channels from scope)::uuid[])`}`

/** Records of the registrations that these payments made, and of the schedules on them. */
export const recordsOf = (
  paymentIds: readonly string[],
  registrationIds: readonly string[],
  channels: Channels,
) => sql<{ id: string }>`
  with scope as (select ${channels}::uuid[] as channels),
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
  ${channels === null ? nothing : sql`where r.channel_id = any((select channels from scope)::uuid[])`}
  limit 5001`
