/** SQL of notifications that are sent once more. */
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'

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
  select d.id, e.at
  from tollgate.delivery d
  join tollgate.event e on e.id = d.event_id
  where d.endpoint_id = ${endpointId}::uuid and d.state = 'dead'
    and (${range.eventId}::uuid is null or d.event_id = ${range.eventId}::uuid)
    and (${range.from}::timestamptz is null or e.at >= ${range.from}::timestamptz)
    and (${range.until}::timestamptz is null or e.at <= ${range.until}::timestamptz)
  order by d.id
  limit ${limit}::integer),
again as (
  update tollgate.delivery d set state = 'pending', reason = null, attempts = 0, ended_at = null, replay = true,
    due_at = ${now}::timestamptz, created_at = ${now}::timestamptz
  from dead
  where d.id = dead.id and d.state = 'dead'
  returning dead.at),
q as (${wake(endpointId, now)}),
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
  select e.id from tollgate.entity e join down on e.parent_id = down.id),
ev as materialized (
  select e.id, e.resource, e.seq, e.channel_id, e.type, e.at, e.data
  from tollgate.event e
  where e.id >= ${ids.first}::uuid and e.id <= ${ids.last}::uuid
    and (${range.from}::timestamptz is null or e.at >= ${range.from}::timestamptz)
    and (${range.until}::timestamptz is null or e.at <= ${range.until}::timestamptz)
    and e.channel_id in (select id from down)
  order by e.id
  limit ${limit}::integer),
told as (
  select id, at, 'PAYMENT' as kind, resource, seq
  from ev
  where type in ('payment.pending', 'payment.approved', 'payment.declined', 'payment.expired')
    and data ->> 'paymentType' is distinct from 'RG'
  union all
  select ev.id, ev.at, 'REGISTRATION', g.id, 0
  from ev
  join tollgate.payment p on p.id = ev.resource
  join tollgate.registration g on g.id = coalesce(p.registration_id, p.id) and g.payment_id = p.id
  where ev.type = 'payment.approved'
  union all
  select id, at, 'REGISTRATION', resource, seq
  from ev
  where type in ('registration.updated', 'registration.removed')
  union all
  select id, at, 'SCHEDULE', resource, seq
  from ev
  where type in ('schedule.created', 'schedule.changed', 'schedule.cancelled', 'schedule.ended',
    'schedule.missed', 'schedule.execution.failed')),
again as (
  insert into tollgate.delivery (id, endpoint_id, event_id, kind, resource, seq, due_at, created_at, replay)
  select tollgate.delivery_id(${replayId}::uuid, w.id, told.id::text || told.kind), w.id, told.id, told.kind,
    told.resource, told.seq, ${now}::timestamptz, ${now}::timestamptz, true
  from told
  join tollgate.webhook_endpoint w on w.id = ${endpointId}::uuid and told.kind = any(w.types)
  where not exists (
    select from tollgate.delivery d
    where d.endpoint_id = w.id and d.resource = told.resource and d.seq = told.seq and d.state = 'pending'
      and d.event_id = told.id)
  on conflict (id) do nothing
  returning id),
q as (${wake(endpointId, now)}),
audited as (${told(audit)})
select (select count(*)::integer from again) as replayed, (select count(*)::integer from ev) as seen,
  (select max(at) from ev) as last`

/** Calls a URL once, later, without an event: what is due before it was cancelled. */
export const addCallback = (row: {
  id: string
  channelId: string
  origin: string
  dueAt: Date
  now: Date
  callback: string
}) => sql`
with w as (
  insert into tollgate.webhook_endpoint (id, entity_id, kind, url, created_at)
  values (md5(${row.channelId}::uuid::text || ${row.origin}::text)::uuid, ${row.channelId}::uuid, 'callback',
    ${row.origin}::text, ${row.now}::timestamptz)
  on conflict (id) do nothing),
d as (
  insert into tollgate.delivery (id, endpoint_id, kind, resource, seq, due_at, created_at, callback)
  values (${row.id}::uuid, md5(${row.channelId}::uuid::text || ${row.origin}::text)::uuid, 'CALLBACK', ${row.id}::uuid,
    0, ${row.dueAt}::timestamptz, ${row.dueAt}::timestamptz, ${row.callback}::jsonb)
  on conflict (id) do nothing)
insert into tollgate.webhook_queue as q (endpoint_id, wake_at)
values (md5(${row.channelId}::uuid::text || ${row.origin}::text)::uuid, ${row.dueAt}::timestamptz)
on conflict (endpoint_id) do update set wake_at = least(q.wake_at, greatest(excluded.wake_at, q.probe_at))`

/** What is not called any more; empty when it was called or is being called. */
export const cancelCallback = (id: string, now: Date) => sql<{ id: string }>`
  update tollgate.delivery set state = 'dead', reason = 'cancelled', ended_at = ${now}::timestamptz
  where id = ${id}::uuid and kind = 'CALLBACK' and state = 'pending' and attempts = 0
  returning id`
