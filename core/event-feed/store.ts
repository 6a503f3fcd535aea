/** Reads of events in the order in which they can be followed without missing one. */
import { sql } from '../db/sql.ts'

export type EventRow = {
  id: string
  txid: string
  resource: string
  seq: number
  channel_id: string
  type: string
  at: Date
  data: Readonly<Record<string, unknown>>
}

/** A row of a page; `id` is null when the page has none, and the rest tells how far was looked. */
export type PageRow = {
  [Name in keyof EventRow]: EventRow[Name] | null
} & {
  /** Everything before this transaction is decided: what is older can be read once and for all. */
  horizon: string
  /** How many events were looked at, of all types. */
  seen: number
  last_txid: string | null
  last_seq: number | null
  last_id: string | null
  last_at: Date | null
}

/** Channels to read from; null: all there are. */
const channelsOf = (channels: readonly string[] | null) => sql`
  select unnest(${channels}::uuid[]) as id
  union all
  select id from tollgate.entity where ${channels}::uuid[] is null and kind = 'channel'`

/**
 * Events after a position, oldest first. A transaction that still runs may have an earlier number
 * than one that committed, so nothing is read from the oldest running one on.
 *
 * @param after with `isWithin` the event there is read once more
 * @param floor no event after the position has a lower id: older months need not be looked at
 * @param window how many are looked at, of all types; the page holds those of `types` among them
 */
export const pageOfEvents = (
  channels: readonly string[] | null,
  after: {
    readonly txid: string
    readonly seq: number
    readonly id: string
    readonly isWithin: boolean
  },
  floor: string,
  types: readonly string[],
  since: Date | null,
  window: number,
  limit: number,
) => sql<PageRow>`
with channel as (${channelsOf(channels)}),
decided as materialized (select pg_snapshot_xmin(pg_current_snapshot()) as horizon),
looked_at as materialized (
  select event.id, event.txid, event.resource, event.seq, event.channel_id, event.type, event.at, event.data
  from decided
  cross join channel
  cross join lateral (
    select id, txid, resource, seq, channel_id, type, at, data
    from tollgate.event
    where channel_id = channel.id
      and (txid, seq, id) >= (${after.txid}::xid8, ${after.seq}::integer, ${after.id}::uuid)
      and (${after.isWithin}::boolean or id <> ${after.id}::uuid)
      and txid < decided.horizon and id >= ${floor}::uuid
    order by txid, seq, id
    limit ${window}::integer) event
  order by event.txid, event.seq, event.id
  limit ${window}::integer),
page as (
  select id, txid, resource, seq, channel_id, type, at, data
  from looked_at
  where type = any(${types}::text[]) and (${since}::timestamptz is null or at >= ${since}::timestamptz)
  order by txid, seq, id
  limit ${limit}::integer)
select decided.horizon::text as horizon, counted.seen, newest.txid::text as last_txid, newest.seq as last_seq,
  newest.id as last_id, newest.at as last_at, page.id, page.txid::text as txid, page.resource, page.seq,
  page.channel_id, page.type, page.at, page.data
from decided
cross join (select count(*)::integer as seen from looked_at) counted
left join (
  select txid, seq, id, at from looked_at order by txid desc, seq desc, id desc limit 1) newest on true
left join page on true
order by page.txid, page.seq, page.id`

/** Where to begin for what happens after `floor` was made; the oldest of many rows, as ids and transactions come in slightly different orders. */
export const beginningAfter = (floor: string) => sql<{ txid: string; horizon: string }>`
  select least(coalesce(min(txid), horizon), horizon)::text as txid, horizon::text as horizon
  from (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) decided
  left join (
    select txid from tollgate.event where id >= ${floor}::uuid order by id limit 1000) event on true
  group by horizon`

/**
 * Those of `channels` that have an event after the place beside them. The order and the limit keep a plan for
 * unknown values from a scan of all recent events, which takes a second over half a million of them.
 */
export const channelsWithNews = (
  channels: readonly string[],
  after: readonly { readonly txid: string; readonly seq: number; readonly id: string }[],
  floor: string,
) => sql<{ id: string }>`
  select place.channel_id as id
  from (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) decided
  cross join unnest(${channels}::uuid[], ${after.map(({ txid }) => txid)}::xid8[], ${after.map(({ seq }) => seq)}::integer[],
    ${after.map(({ id }) => id)}::uuid[]) as place(channel_id, txid, seq, event_id)
  cross join lateral (
    select id
    from tollgate.event
    where event.channel_id = place.channel_id
      and (event.txid, event.seq, event.id) > (place.txid, place.seq, place.event_id)
      and event.txid < decided.horizon and event.id >= ${floor}::uuid
    order by event.txid, event.seq, event.id
    limit 1) news`

export const everyChannel = sql<{ id: string }>`
  select id from tollgate.entity where kind = 'channel'`

/** One event, when it belongs to one of `channels` (null: any). */
export const eventById = (id: string, channels: readonly string[] | null) => sql<EventRow>`
  select id, txid::text as txid, resource, seq, channel_id, type, at, data
  from tollgate.event
  where id = ${id}::uuid and (${channels}::uuid[] is null or channel_id = any(${channels}::uuid[]))`
