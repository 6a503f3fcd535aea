/** SQL that turns events into deliveries and takes the leases of their endpoints. */
import { type Sql, sql } from '../db/sql.ts'
import type { DeliveryRow } from './store-delivery.ts'
import { leaseEnd, mayTake } from './stored-lease.ts'
import {
  earlier,
  notificationsOfEvents,
  paymentEvents,
  verification,
} from './stored-notifications.ts'

export type ClaimedRow = DeliveryRow & {
  /**
   * The number of claimed events, in every row; the other columns are null when this process sends
   * none.
   */
  picked: number
  /** The number of earlier unfinished deliveries of the same resource. */
  blockers: number
  /** Set when this claim also took the endpoint's lease. */
  gained: boolean
  /** The endpoint had no other waiting delivery. */
  clean: boolean
  failures: number
  failing_since: Date | null
  /** The merchant of the endpoint, or its entity above merchants. */
  merchant: string
}

/**
 * Takes events out of the outbox: only the earliest of each resource while another claim may hold
 * it.
 */
const takenEvents = (floor: string, limit: number): Sql => sql`
picked as materialized (
  select outbox.event_id
  from tollgate.outbox
  where outbox.event_id >= ${floor}::uuid
    and not exists (
      select from tollgate.outbox previous where previous.resource = outbox.resource and previous.seq < outbox.seq)
  order by outbox.event_id
  limit ${limit}::integer
  for update of outbox skip locked),
gone as (
  delete from tollgate.outbox
  using picked
  where outbox.event_id = picked.event_id),
events as materialized (
  select event.id, event.resource, event.seq, event.channel_id, event.type, event.at, event.data
  from picked
  join tollgate.event on event.id = picked.event_id)`

/** Callbacks of URLs in payment requests. All URLs of one origin share an endpoint. */
const callbacks = (now: Date): Sql => sql`
called as materialized (
  select events.id, events.channel_id, events.at, events.resource, events.seq, named.origin,
    md5(events.channel_id::text || named.origin)::uuid as endpoint_id,
    jsonb_build_object('url', payment_request.request ->> 'notificationUrl',
      'id', coalesce(payment.checkout_id, replace(events.resource::text, '-', '')),
      'resourcePath', case
        when payment.checkout_id is not null then '/v1/checkouts/' || payment.checkout_id
          || case when payment.effect = 'verification' then '/registration' else '/payment' end
        when events.data ->> 'paymentType' = ${verification}
          then '/v1/registrations/' || replace(events.resource::text, '-', '')
        else '/v1/payments/' || replace(events.resource::text, '-', '') end) as callback
  from events
  join tollgate.payment on payment.id = events.resource
  join tollgate.payment_request on payment_request.id = events.resource
  cross join lateral (
    select lower(substring(payment_request.request ->> 'notificationUrl' from '^[A-Za-z]+://[^/?#]+')) as origin) named
  where events.type in ${paymentEvents} and named.origin is not null),
new_endpoint as (
  insert into tollgate.webhook_endpoint (id, entity_id, kind, url, created_at)
  select distinct endpoint_id, channel_id, 'callback', origin, ${now}::timestamptz
  from called
  order by endpoint_id
  on conflict (id) do nothing)`

/**
 * One delivery per subscribed endpoint on the path of the event's channel, and one per callback.
 * Due at once, even when the claiming process's clock is ahead of the others'.
 */
const newDeliveries = (now: Date): Sql => sql`
fresh as (
  insert into tollgate.delivery (id, endpoint_id, event_id, kind, resource, seq, due_at, created_at, callback)
  select tollgate.delivery_id(notified.id, endpoint.id, notified.kind), endpoint.id, notified.id, notified.kind,
    notified.resource, notified.seq, least(${now}::timestamptz, now()), notified.at, null::jsonb
  from notified
  -- A channel has three entities above it.
  join tollgate.entity channel on channel.id = notified.channel_id
  left join tollgate.entity merchant on merchant.id = channel.parent_id
  left join tollgate.entity division on division.id = merchant.parent_id
  cross join lateral (
    select id
    from tollgate.webhook_endpoint
    where entity_id = any(array[channel.id, channel.parent_id, merchant.parent_id, division.parent_id])
      and kind = 'webhook' and active and notified.kind = any(types)
    offset 0) endpoint
  union all
  select tollgate.delivery_id(id, endpoint_id, 'CALLBACK'), endpoint_id, id, 'CALLBACK', resource, seq,
    least(${now}::timestamptz, now()), at, callback
  from called
  on conflict (id) do nothing
  returning id, endpoint_id, event_id, kind, resource, seq, attempts, created_at, callback)`

/** Leases of the endpoints in `fresh` that are free or that this process holds. */
const leases = (me: string, now: Date): Sql => sql`
held as materialized (
  select queue.endpoint_id
  from (select distinct endpoint_id from fresh) touched
  cross join lateral (
    select endpoint_id
    from tollgate.webhook_queue
    where endpoint_id = touched.endpoint_id and owner = ${me}::uuid and lease_until > now() + interval '5 seconds'
    offset 0) queue),
clean as materialized (
  select touched.endpoint_id
  from (select distinct endpoint_id from fresh) touched
  where not exists (
    select from tollgate.webhook_queue
    where endpoint_id = touched.endpoint_id and (owner is not null or wake_at is not null))),
lease as (
  insert into tollgate.webhook_queue as queue (endpoint_id, owner, lease_until)
  select distinct endpoint_id, ${me}::uuid, ${leaseEnd}
  from fresh
  where endpoint_id not in (select endpoint_id from held)
  order by endpoint_id
  on conflict (endpoint_id) do update set
    owner = case when ${mayTake(me, now)} then excluded.owner else queue.owner end,
    lease_until = case when ${mayTake(me, now)} then excluded.lease_until else queue.lease_until end,
    wake_at = case when ${mayTake(me, now)} then null
      else least(queue.wake_at, greatest(${now}::timestamptz, queue.probe_at)) end
  returning queue.endpoint_id, queue.owner)`

/** This process's deliveries. A hash look-up avoids comparing every delivery with every lease. */
const ownDeliveries = (me: string): Sql => sql`
mine as materialized (
  select fresh.id, fresh.endpoint_id, fresh.event_id, fresh.kind, fresh.resource, fresh.seq, fresh.attempts,
    fresh.created_at, fresh.callback,
    fresh.endpoint_id in (select endpoint_id from lease where owner = ${me}::uuid) as gained
  from fresh
  where fresh.endpoint_id in (select endpoint_id from lease where owner = ${me}::uuid)
    or fresh.endpoint_id in (select endpoint_id from held))`

/**
 * Turns events into deliveries and takes the free leases of their endpoints.
 *
 * @param floor the lowest id to search: claimed entries stay in the index while an old transaction
 * can see them.
 */
export const claim = (me: string, now: Date, floor: string, limit: number) => sql<ClaimedRow>`
with ${takenEvents(floor, limit)},
notified as materialized (${notificationsOfEvents}),
${callbacks(now)},
${newDeliveries(now)},
${leases(me, now)},
${ownDeliveries(me)}
select counted.picked, waiting.id, waiting.endpoint_id, waiting.kind, waiting.resource, waiting.seq,
  waiting.attempts, waiting.created_at, waiting.callback, coalesce(endpoint.version, 1) as version,
  waiting.event_id, event.resource as event_resource, event.seq as event_seq, event.channel_id,
  event.type as event_type, event.at as event_at, event.data as event_data, waiting.gained,
  waiting.endpoint_id in (select endpoint_id from clean) as clean, coalesce(queue.failures, 0) as failures,
  queue.failing_since, coalesce(case when own.kind = 'channel' then own.parent_id end, own.id, waiting.endpoint_id)
    as merchant,
  (select count(*)::integer from ${earlier} earlier where earlier.endpoint_id = waiting.endpoint_id) as blockers
from (select count(*)::integer as picked from picked) counted
left join (mine waiting
  join tollgate.event on event.id = waiting.event_id
  left join tollgate.webhook_queue queue on queue.endpoint_id = waiting.endpoint_id
  left join tollgate.webhook_endpoint endpoint on endpoint.id = waiting.endpoint_id
  -- The endpoint of a new callback is not visible yet; it belongs to the channel of the event.
  left join tollgate.entity own on own.id = coalesce(endpoint.entity_id, event.channel_id)) on true
order by waiting.seq`
