/** SQL of notifications that are sent once more. */
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'
import { notificationsOfEvents } from './stored-notifications.ts'

export type Replayed = {
  replayed: number
  /** How many events were looked at, and when the last of them was. */
  seen: number
  last: Date | null
}

/** What an endpoint gets again, wherever it stands in its pauses. */
const wake = (endpointId: string, now: Date) => sql`
  insert into tollgate.webhook_queue (endpoint_id, wake_at)
  select ${endpointId}::uuid, ${now}::timestamptz
  where exists (select from again)
  on conflict (endpoint_id) do update set wake_at = excluded.wake_at, probe_at = null`

/** Told in the same commit, also of a replay that found nothing: somebody asked for it. */
const told = (audit: AuditEntry) =>
  auditRows(audit, {
    from: sql`(select) as asked`,
    detail: sql`jsonb_build_object('replayed', (select count(*)::integer from again))`,
  })

/** What was given up goes on its way again, with a ladder of its own. */
export const replayDead = (
  endpointId: string,
  range: { eventId: string | null; from: Date | null; until: Date | null },
  now: Date,
  limit: number,
  audit: AuditEntry,
) => sql<Replayed>`
with dead as (
  select delivery.id, event.at
  from tollgate.delivery
  join tollgate.event on event.id = delivery.event_id
  where delivery.endpoint_id = ${endpointId}::uuid and delivery.state = 'dead'
    and (${range.eventId}::uuid is null or delivery.event_id = ${range.eventId}::uuid)
    and (${range.from}::timestamptz is null or event.at >= ${range.from}::timestamptz)
    and (${range.until}::timestamptz is null or event.at <= ${range.until}::timestamptz)
  order by delivery.id
  limit ${limit}::integer),
again as (
  update tollgate.delivery set state = 'pending', reason = null, attempts = 0, ended_at = null, replay = true,
    due_at = ${now}::timestamptz, created_at = ${now}::timestamptz
  from dead
  where delivery.id = dead.id and delivery.state = 'dead'
  returning dead.at),
woken as (${wake(endpointId, now)}),
audited as (${told(audit)})
select (select count(*)::integer from again) as replayed, (select count(*)::integer from dead) as seen,
  (select max(at) from dead) as last`

/**
 * All events of one id, or of a range of time, that the endpoint covers, delivered before or not;
 * what is on its way already is left alone.
 *
 * @param replayId id of this replay: with it each of its deliveries gets one of its own.
 * @param ids ids between which events of that time lie.
 */
export const replayEvents = (
  endpointId: string,
  replayId: string,
  range: { eventId: string | null; from: Date | null; until: Date | null },
  ids: { first: string; last: string },
  now: Date,
  limit: number,
  audit: AuditEntry,
) => sql<Replayed>`
with recursive down as (
  select entity_id as id from tollgate.webhook_endpoint where id = ${endpointId}::uuid
  union all
  select entity.id from tollgate.entity join down on entity.parent_id = down.id),
events as materialized (
  select event.id, event.resource, event.seq, event.channel_id, event.type, event.at, event.data
  from tollgate.event
  where event.id >= ${ids.first}::uuid and event.id <= ${ids.last}::uuid
    and (${range.from}::timestamptz is null or event.at >= ${range.from}::timestamptz)
    and (${range.until}::timestamptz is null or event.at <= ${range.until}::timestamptz)
    and event.channel_id in (select id from down)
  order by event.id
  limit ${limit}::integer),
notified as (${notificationsOfEvents}),
again as (
  insert into tollgate.delivery (id, endpoint_id, event_id, kind, resource, seq, due_at, created_at, replay)
  select tollgate.delivery_id(${replayId}::uuid, endpoint.id, notified.id::text || notified.kind), endpoint.id,
    notified.id, notified.kind, notified.resource, notified.seq, ${now}::timestamptz, ${now}::timestamptz, true
  from notified
  join tollgate.webhook_endpoint endpoint
    on endpoint.id = ${endpointId}::uuid and notified.kind = any(endpoint.types)
  where not exists (
    select from tollgate.delivery
    where delivery.endpoint_id = endpoint.id and delivery.resource = notified.resource
      and delivery.seq = notified.seq and delivery.state = 'pending' and delivery.event_id = notified.id)
  on conflict (id) do nothing
  returning id),
woken as (${wake(endpointId, now)}),
audited as (${told(audit)})
select (select count(*)::integer from again) as replayed, (select count(*)::integer from events) as seen,
  (select max(at) from events) as last`

/** Calls a URL once, later, without an event: what is due before it was cancelled. */
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

/** What is not called any more; empty when it was called or is being called. */
export const cancelCallback = (id: string, now: Date) => sql<{ id: string }>`
  update tollgate.delivery set state = 'dead', reason = 'cancelled', ended_at = ${now}::timestamptz
  where id = ${id}::uuid and kind = 'CALLBACK' and state = 'pending' and attempts = 0
  returning id`
