/** SQL of replays. */
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'
import { notificationsOfEvents } from './stored-notifications.ts'

/** An event of a range, with its time; ordered by commit. */
export type Found = { id: string; at: Date }

/** A time range. Null: no bound. */
export type Range = { readonly from: Date | null; readonly until: Date | null }

/** The endpoint's entity and all entities below it. */
const down = (endpointId: string) => sql`
  down as (
    select entity_id as id from tollgate.webhook_endpoint where id = ${endpointId}::uuid
    union all
    select entity.id from tollgate.entity join down on entity.parent_id = down.id)`

/** The event with this id, when the endpoint covers it. */
export const eventToReplay = (endpointId: string, eventId: string) => sql<Found>`
with recursive ${down(endpointId)}
select event.id, event.at
from tollgate.event
where event.id = ${eventId}::uuid and event.channel_id in (select id from down)`

/**
 * Events of a time range that the endpoint covers. Each channel has an index of its events in the
 * order of transactions. The events of all channels around both ends of the range give the
 * transactions between which the range lies.
 *
 * @param ids ids around that time, with room for differing clocks
 * @param isOver whether all transactions of the range must have ended
 */
export const eventsToReplay = (
  endpointId: string,
  { from, until }: Range,
  ids: { readonly first: string; readonly last: string },
  isOver: boolean,
  limit: number,
) => sql<Found>`
with recursive ${down(endpointId)},
bounds as materialized (
  select (
      select min(txid)
      from (select txid from tollgate.event where id >= ${ids.first}::uuid order by id limit 1000) as early) as first,
    case when ${isOver}::boolean then (
      select max(txid)
      from (select txid from tollgate.event where id <= ${ids.last}::uuid order by id desc limit 1000) as late)
    else '18446744073709551615'::xid8 end as last)
select found.id, found.at
from bounds
cross join down
cross join lateral (
  select event.id, event.txid, event.seq, event.at
  from tollgate.event
  where event.channel_id = down.id and event.txid >= bounds.first and event.txid <= bounds.last
    and event.id >= ${ids.first}::uuid and event.id <= ${ids.last}::uuid
    and (${from}::timestamptz is null or event.at >= ${from}::timestamptz)
    and (${until}::timestamptz is null or event.at <= ${until}::timestamptz)
  order by event.txid, event.seq, event.id
  limit ${limit}::integer) as found
order by found.txid, found.seq, found.id
limit ${limit}::integer`

/** Deliveries of an endpoint that were given up, of one event (and type) or of a time range. */
export const deadToReplay = (
  endpointId: string,
  eventId: string | null,
  kind: string | null,
  { from, until }: Range,
  limit: number,
) => sql<Found>`
select delivery.id, event.at
from tollgate.delivery
join tollgate.event on event.id = delivery.event_id
where delivery.endpoint_id = ${endpointId}::uuid
  -- A range condition, so that the plan uses the index by state, whose order and condition fit.
  and (delivery.state <> '') is true
  and delivery.state >= 'dead' and delivery.state <= 'dead'
  and (${eventId}::uuid is null or delivery.event_id = ${eventId}::uuid)
  and (${kind}::text is null or delivery.kind = ${kind}::text)
  and (${from}::timestamptz is null or event.at >= ${from}::timestamptz)
  and (${until}::timestamptz is null or event.at <= ${until}::timestamptz)
order by delivery.state, delivery.id
limit ${limit}::integer`

/** Wakes the endpoint for a replay, regardless of its pauses. */
const wake = (endpointId: string, now: Date) => sql`
  insert into tollgate.webhook_queue (endpoint_id, wake_at)
  select ${endpointId}::uuid, ${now}::timestamptz
  where exists (select from again)
  on conflict (endpoint_id) do update set wake_at = excluded.wake_at, probe_at = null`

/** The audit entry commits with the replay, even when the replay found nothing. */
const told = (audit: AuditEntry) =>
  auditRows(audit, {
    from: sql`(select) as asked`,
    detail: sql`jsonb_build_object('replayed', (select count(*)::integer from again))`,
  })

/** Restarts deliveries that were given up, with a new ladder. */
export const replayDead = (
  endpointId: string,
  deliveries: readonly string[],
  now: Date,
  audit: AuditEntry,
) => sql<{ replayed: number }>`
with again as (
  update tollgate.delivery set state = 'pending', reason = null, attempts = 0, ended_at = null, replay = true,
    due_at = ${now}::timestamptz, created_at = ${now}::timestamptz
  where delivery.id = any(${deliveries}::uuid[]) and delivery.endpoint_id = ${endpointId}::uuid
    and delivery.state = 'dead'
  returning delivery.id),
woken as (${wake(endpointId, now)}),
audited as (${told(audit)})
select (select count(*)::integer from again) as replayed`

/**
 * Replays the found events, whether delivered before or not; deliveries under way stay as they are.
 *
 * @param kind Only notifications of this type; null: all.
 * @param replayId id of this replay, from which the id of each new delivery derives.
 */
export const replayEvents = (
  endpointId: string,
  replayId: string,
  found: readonly string[],
  kind: string | null,
  now: Date,
  audit: AuditEntry,
) => sql<{ replayed: number }>`
with events as materialized (
  select event.id, event.resource, event.seq, event.channel_id, event.type, event.at, event.data
  from tollgate.event
  where event.id = any(${found}::uuid[])),
notified as (${notificationsOfEvents}),
again as (
  insert into tollgate.delivery (id, endpoint_id, event_id, kind, resource, seq, due_at, created_at, replay)
  select tollgate.delivery_id(${replayId}::uuid, endpoint.id, notified.id::text || notified.kind), endpoint.id,
    notified.id, notified.kind, notified.resource, notified.seq, ${now}::timestamptz, ${now}::timestamptz, true
  from notified
  join tollgate.webhook_endpoint endpoint
    on endpoint.id = ${endpointId}::uuid and notified.kind = any(endpoint.types)
      and (${kind}::text is null or notified.kind = ${kind}::text)
  -- By the resource alone (offset 0), without the index of waiting deliveries: statistics from an
  -- idle time make all waiting deliveries look cheap to read.
  where endpoint.id not in (
    select endpoint_id
    from tollgate.delivery
    where resource = notified.resource and seq = notified.seq and event_id = notified.id
      and (state = 'pending') is true
    offset 0)
  on conflict (id) do nothing
  returning id),
woken as (${wake(endpointId, now)}),
audited as (${told(audit)})
select (select count(*)::integer from again) as replayed`

/**
 * Adds a later call of a URL without an event. The call happens unless cancelled before it is due.
 */
export const addCallback = (row: {
  id: string
  channelId: string
  origin: string
  dueAt: Date
  now: Date
  callback: string
}) => sql`
with new_endpoint as (
  insert into tollgate.webhook_endpoint (id, entity_id, kind, url, created_at)
  values (md5(${row.channelId}::uuid::text || ${row.origin}::text)::uuid, ${row.channelId}::uuid, 'callback',
    ${row.origin}::text, ${row.now}::timestamptz)
  on conflict (id) do nothing),
new_delivery as (
  insert into tollgate.delivery (id, endpoint_id, kind, resource, seq, due_at, created_at, callback)
  values (${row.id}::uuid, md5(${row.channelId}::uuid::text || ${row.origin}::text)::uuid, 'CALLBACK', ${row.id}::uuid,
    0, ${row.dueAt}::timestamptz, ${row.dueAt}::timestamptz, ${row.callback}::jsonb)
  on conflict (id) do nothing)
insert into tollgate.webhook_queue as queue (endpoint_id, wake_at)
values (md5(${row.channelId}::uuid::text || ${row.origin}::text)::uuid, ${row.dueAt}::timestamptz)
on conflict (endpoint_id) do update set wake_at = least(queue.wake_at, greatest(excluded.wake_at, queue.probe_at))`
