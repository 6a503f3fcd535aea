/**
 * SQL of notifications on their way. The times that merchants see are the engine's clock's and come
 * as parameters; leases are by the database's own.
 */
import { limits } from '@tollgate/schemas'
import { sql } from '../db/sql.ts'
import { triesInOrder } from './backoff.ts'
import type { Callback, Delivery } from './types.ts'

export type DeliveryRow = {
  id: string
  endpoint_id: string
  kind: Delivery['kind']
  resource: string
  seq: number
  attempts: number
  created_at: Date
  callback: Callback | null
  version: number
  event_id: string | null
  event_resource: string | null
  event_seq: number | null
  channel_id: string | null
  event_type: string | null
  event_at: Date | null
  event_data: Record<string, unknown> | null
}

export type ClaimedRow = DeliveryRow & {
  /** How many events were claimed, in every row; all else is null when nobody here sends them. */
  picked: number
  /** How many earlier ones of the same resource are not through. */
  blockers: number
  /** Set when this claim also took the endpoint's lease. */
  gained: boolean
  /** Nothing else waited for that endpoint. */
  clean: boolean
  failures: number
  failing_since: Date | null
}

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    kind: row.kind,
    resource: row.resource,
    seq: row.seq,
    attempts: row.attempts,
    createdAt: row.created_at,
    event:
      row.event_id === null || row.event_type === null
        ? null
        : {
            id: row.event_id,
            resource: row.event_resource!,
            seq: row.event_seq!,
            channelId: row.channel_id!,
            type: row.event_type,
            at: row.event_at!,
            data: row.event_data!,
          },
    callback: row.callback,
    version: row.version,
  }
}

const leaseMs = limits.webhookLeaseMs

/** What became of a payment: what its own URL is told, too. */
const paymentStates = sql`('payment.pending', 'payment.approved', 'payment.declined', 'payment.expired')`

/**
 * Earlier notifications of the resource of `d` that are not through. By the resource alone (offset 0 keeps the
 * endpoint out of it): statistics taken while nothing waited make all that waits for an endpoint look cheap.
 */
const earlier = sql`(
      select endpoint_id
      from tollgate.delivery
      where resource = d.resource and state = 'pending' and seq < d.seq and attempts <= ${triesInOrder}::integer
      offset 0)`

/**
 * Turns events into deliveries, one for each endpoint on the path of the event's channel that wants
 * them, and takes the leases of those endpoints that nobody sends to. Of each resource the earliest
 * event only, as long as another claim may hold it.
 *
 * @param floor id below which no event is looked for: what is long claimed still stands in the index
 * while an old transaction can see it.
 */
export const claim = (me: string, now: Date, floor: string, limit: number) => sql<ClaimedRow>`
with picked as materialized (
  select o.event_id
  from tollgate.outbox o
  where o.event_id >= ${floor}::uuid
    and not exists (select from tollgate.outbox b where b.resource = o.resource and b.seq < o.seq)
  order by o.event_id
  limit ${limit}::integer
  for update of o skip locked),
gone as (
  delete from tollgate.outbox o
  using picked
  where o.event_id = picked.event_id),
ev as materialized (
  select e.id, e.resource, e.seq, e.channel_id, e.type, e.at, e.data
  from picked
  join tollgate.event e on e.id = picked.event_id),
told as materialized (
  select id, channel_id, at, 'PAYMENT' as kind, resource, seq
  from ev
  where type in ${paymentStates} and data ->> 'paymentType' is distinct from 'RG'
  union all
  select ev.id, ev.channel_id, ev.at, 'REGISTRATION', g.id, 0
  from ev
  join tollgate.payment p on p.id = ev.resource
  join tollgate.registration g on g.id = coalesce(p.registration_id, p.id) and g.payment_id = p.id
  where ev.type = 'payment.approved'
  union all
  select id, channel_id, at, 'REGISTRATION', resource, seq
  from ev
  where type in ('registration.updated', 'registration.removed')
  union all
  select id, channel_id, at, 'SCHEDULE', resource, seq
  from ev
  where type in ('schedule.created', 'schedule.changed', 'schedule.cancelled', 'schedule.ended',
    'schedule.missed', 'schedule.execution.failed')),
own as materialized (
  select ev.id, ev.channel_id, ev.at, ev.resource, ev.seq, u.origin,
    md5(ev.channel_id::text || u.origin)::uuid as endpoint_id,
    jsonb_build_object('url', q.request ->> 'notificationUrl', 'id', replace(ev.resource::text, '-', ''),
      'resourcePath', case when ev.data ->> 'paymentType' = 'RG' then '/v1/registrations/' else '/v1/payments/' end
        || replace(ev.resource::text, '-', '')) as callback
  from ev
  join tollgate.payment_request q on q.id = ev.resource
  cross join lateral (
    select lower(substring(q.request ->> 'notificationUrl' from '^[A-Za-z]+://[^/?#]+')) as origin) u
  where ev.type in ${paymentStates} and u.origin is not null),
ends as (
  insert into tollgate.webhook_endpoint (id, entity_id, kind, url, created_at)
  select distinct endpoint_id, channel_id, 'callback', origin, ${now}::timestamptz
  from own
  order by endpoint_id
  on conflict (id) do nothing),
-- Due at once, also where the clock of the process that claims is ahead of the others'.
fresh as (
  insert into tollgate.delivery (id, endpoint_id, event_id, kind, resource, seq, due_at, created_at, callback)
  select tollgate.delivery_id(told.id, w.id, told.kind), w.id, told.id, told.kind, told.resource, told.seq,
    least(${now}::timestamptz, now()), told.at, null::jsonb
  from told
  -- A channel has three nodes above it.
  join tollgate.entity c on c.id = told.channel_id
  left join tollgate.entity m on m.id = c.parent_id
  left join tollgate.entity v on v.id = m.parent_id
  cross join lateral (
    select id
    from tollgate.webhook_endpoint
    where entity_id = any(array[c.id, c.parent_id, m.parent_id, v.parent_id]) and kind = 'webhook' and active and told.kind = any(types)
    offset 0) w
  union all
  select tollgate.delivery_id(id, endpoint_id, 'CALLBACK'), endpoint_id, id, 'CALLBACK', resource, seq,
    least(${now}::timestamptz, now()), at, callback
  from own
  on conflict (id) do nothing
  returning id, endpoint_id, event_id, kind, resource, seq, attempts, created_at, callback),
held as materialized (
  select q.endpoint_id
  from (select distinct endpoint_id from fresh) f
  cross join lateral (
    select endpoint_id
    from tollgate.webhook_queue
    where endpoint_id = f.endpoint_id and owner = ${me}::uuid and lease_until > now() + interval '5 seconds'
    offset 0) q),
clean as materialized (
  select f.endpoint_id
  from (select distinct endpoint_id from fresh) f
  where not exists (
    select from tollgate.webhook_queue
    where endpoint_id = f.endpoint_id and (owner is not null or wake_at is not null))),
lease as (
  insert into tollgate.webhook_queue as q (endpoint_id, owner, lease_until)
  select distinct endpoint_id, ${me}::uuid, now() + ${leaseMs}::integer * interval '1 millisecond'
  from fresh
  where endpoint_id not in (select endpoint_id from held)
  order by endpoint_id
  on conflict (endpoint_id) do update set
    owner = case when (q.owner is null or q.owner = excluded.owner or q.lease_until < now())
        and coalesce(q.probe_at <= ${now}::timestamptz, true)
      then excluded.owner else q.owner end,
    lease_until = case when (q.owner is null or q.owner = excluded.owner or q.lease_until < now())
        and coalesce(q.probe_at <= ${now}::timestamptz, true)
      then excluded.lease_until else q.lease_until end,
    wake_at = case when (q.owner is null or q.owner = excluded.owner or q.lease_until < now())
        and coalesce(q.probe_at <= ${now}::timestamptz, true)
      then null else least(q.wake_at, greatest(${now}::timestamptz, q.probe_at)) end
  returning q.endpoint_id, q.owner),
-- Looked up by hash: every delivery against every lease would be a square.
mine as materialized (
  select d.*, d.endpoint_id in (select endpoint_id from lease where owner = ${me}::uuid) as gained
  from fresh d
  where d.endpoint_id in (select endpoint_id from lease where owner = ${me}::uuid)
    or d.endpoint_id in (select endpoint_id from held))
select n.picked, d.id, d.endpoint_id, d.kind, d.resource, d.seq, d.attempts, d.created_at, d.callback,
  coalesce(w.version, 1) as version, d.event_id, ev.resource as event_resource, ev.seq as event_seq,
  ev.channel_id, ev.type as event_type, ev.at as event_at, ev.data as event_data,
  d.gained, d.endpoint_id in (select endpoint_id from clean) as clean, coalesce(q.failures, 0) as failures,
  q.failing_since,
  (select count(*)::integer from ${earlier} b where b.endpoint_id = d.endpoint_id) as blockers
from (select count(*)::integer as picked from picked) n
left join (mine d
  join tollgate.event ev on ev.id = d.event_id
  left join tollgate.webhook_queue q on q.endpoint_id = d.endpoint_id
  left join tollgate.webhook_endpoint w on w.id = d.endpoint_id) on true
order by d.seq`

export type DueRow = DeliveryRow & {
  of_endpoint: string
  /** Whether anything else is due, be it behind something that is in memory. */
  more: boolean
  /** When the next one that is not due yet will be. */
  next_due: Date | null
}

/**
 * What may be sent to each of these endpoints now, longest due first; `known` is in memory already.
 * An endpoint that gets nothing has one row without a delivery.
 */
export const dueDeliveries = (
  endpointIds: readonly string[],
  now: Date,
  known: readonly string[],
  limit: number,
) => sql<DueRow>`
  select o.id as of_endpoint, d.id, o.id as endpoint_id, d.kind, d.resource, d.seq, d.attempts, d.created_at,
    d.callback, d.version, d.event_id, e.resource as event_resource, e.seq as event_seq, e.channel_id,
    e.type as event_type, e.at as event_at, e.data as event_data, coalesce(n.more, false) as more, n.next_due
  from unnest(${endpointIds}::uuid[]) as o(id)
  left join lateral (
    select d.id, d.kind, d.resource, d.seq, d.attempts, d.created_at, d.callback, d.event_id, d.due_at, w.version
    from tollgate.delivery d
    join tollgate.webhook_endpoint w on w.id = d.endpoint_id
    where d.endpoint_id = o.id and d.state = 'pending' and d.due_at <= ${now}::timestamptz
      and d.id <> all(${known}::uuid[])
      and not exists (
        select from ${earlier} b where b.endpoint_id = d.endpoint_id)
    order by d.due_at, d.seq
    limit ${limit}::integer) d on true
  left join lateral (
    select exists (
        select from tollgate.delivery
        where endpoint_id = o.id and state = 'pending' and due_at <= ${now}::timestamptz
          and id <> all(${known}::uuid[])) as more,
      (select min(due_at) from tollgate.delivery
        where endpoint_id = o.id and state = 'pending' and due_at > ${now}::timestamptz) as next_due) n on d.id is null
  left join tollgate.event e on e.id = d.event_id
  order by d.due_at, d.seq`

/** An endpoint that works again gets at once what waited for its own next try. */
export const freeWaiting = (endpointId: string, now: Date) => sql`
  update tollgate.delivery set due_at = ${now}::timestamptz
  where endpoint_id = ${endpointId}::uuid and state = 'pending' and due_at > ${now}::timestamptz and attempts > 0`

export type Buried = {
  /** Only what is older. */
  readonly before: Date | null
  /** Only this one. */
  readonly only: string | null
  /** Nothing once somebody has switched the endpoint on again. */
  readonly whileOff: boolean
}

/** Gives up what an endpoint will not get any more: all, what is older than `before`, or one. */
export const bury = (
  endpointId: string,
  reason: string,
  { before, only, whileOff }: Buried,
  now: Date,
  limit: number,
) => sql<{ id: string }>`
  update tollgate.delivery set state = 'dead', reason = ${reason}::text, ended_at = ${now}::timestamptz
  where id in (
    select id
    from tollgate.delivery
    where endpoint_id = ${endpointId}::uuid and state = 'pending'
      and (${before}::timestamptz is null or created_at < ${before}::timestamptz)
      and (${only}::uuid is null or id = ${only}::uuid)
    limit ${limit}::integer)
    and (not ${whileOff}::boolean or not exists (
      select from tollgate.webhook_endpoint where id = ${endpointId}::uuid and active))
  returning id`

export type OutcomeRow = {
  readonly id: string
  readonly state: 'pending' | 'delivered' | 'dead'
  readonly reason: string | null
  readonly attempts: number
  readonly due_at: Date
  readonly ended_at: Date | null
  readonly attempt_id: string
  readonly at: Date
  readonly duration_ms: number
  readonly status: number | null
  readonly error: string | null
  readonly request: object
  readonly answer: string | null
}

/** How many tries ended, in one statement. One that was given up meanwhile stays so. */
export const writeOutcomes = (rows: readonly OutcomeRow[]) => sql`
with r as materialized (
  select id, state, reason, attempts, due_at, ended_at, attempt_id, at, duration_ms, status, error, request, answer
  from json_to_recordset(${JSON.stringify(rows)}::json)
    as r(id uuid, state text, reason text, attempts integer, due_at timestamptz, ended_at timestamptz,
      attempt_id uuid, at timestamptz, duration_ms integer, status integer, error text, request jsonb, answer text)
  order by id),
d as (
  update tollgate.delivery set state = r.state, reason = r.reason, attempts = r.attempts, due_at = r.due_at,
    ended_at = r.ended_at
  from r
  -- Not "= 'pending'": the planner would read all that waits instead of these few.
  where delivery.id = r.id and delivery.state not in ('delivered', 'dead'))
insert into tollgate.delivery_attempt (id, delivery_id, at, duration_ms, status, error, request, answer)
select attempt_id, id, at, duration_ms, status, error, request, answer
from r
on conflict (id) do nothing`
