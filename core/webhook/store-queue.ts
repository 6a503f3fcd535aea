/** SQL of the endpoints' leases and of their health. */
import { limits } from '@tollgate/schemas'
import { engineActor } from '../audit/actor.ts'
import { auditRows } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import { leaseEnd, mayTake } from './stored-lease.ts'
import type { Verdict } from './types.ts'

const leaseMs = limits.webhookLeaseMs

/** What waits for the dispatcher of webhooks. */
export type Found = { listening: boolean; waiting: boolean; webhooks_due: boolean }

/** The dispatcher's check for work. */
export const look = (now: Date, floor: string) => sql<{
  listening: boolean
  waiting: boolean
  due: boolean
}>`
  select exists (select from tollgate.webhook_endpoint where kind = 'webhook' and active) as listening,
    exists (select from tollgate.outbox where event_id >= ${floor}::uuid) as waiting,
    exists (select from tollgate.webhook_queue
        where wake_at <= ${now}::timestamptz and (owner is null or lease_until < now()))
      or exists (select from tollgate.webhook_queue
        where owner is not null and lease_until < now() and wake_at is null) as due`

/** Endpoints that need a process; each goes to one process for a while. */
export const claimQueues = (now: Date, again: Date, limit: number) => sql<{ endpoint_id: string }>`
  update tollgate.webhook_queue set wake_at = ${again}::timestamptz
  where endpoint_id in (
    select endpoint_id
    from tollgate.webhook_queue
    where (wake_at <= ${now}::timestamptz and (owner is null or lease_until < now()))
      or (owner is not null and lease_until < now() and wake_at is null)
    limit ${limit}::integer
    for update skip locked)
  returning endpoint_id`

export type QueueRow = {
  endpoint_id: string
  failures: number
  failing_since: Date | null
  active: boolean
  disabled_reason: string | null
  removed_at: Date | null
  /** The merchant of the endpoint, or its entity above merchants. */
  merchant: string
}

/** Takes the free lease of an endpoint; empty during its pause. */
export const takeQueue = (endpointId: string, me: string, now: Date) => sql<QueueRow>`
with taken as (
  update tollgate.webhook_queue queue set owner = ${me}::uuid, wake_at = null, lease_until = ${leaseEnd}
  where endpoint_id = ${endpointId}::uuid and ${mayTake(me, now)}
  returning endpoint_id, failures, failing_since)
select taken.endpoint_id, taken.failures, taken.failing_since, coalesce(endpoint.active, false) as active,
  endpoint.disabled_reason, endpoint.removed_at,
  coalesce(case when own.kind = 'channel' then own.parent_id end, own.id, taken.endpoint_id) as merchant
from taken
left join tollgate.webhook_endpoint endpoint on endpoint.id = taken.endpoint_id
left join tollgate.entity own on own.id = endpoint.entity_id`

/** Renews this process's leases, and tells which endpoints another process gave work. */
export const keepQueues = (me: string, now: Date) => sql<{ endpoint_id: string; woken: boolean }>`
with mine as (
  select endpoint_id, coalesce(wake_at <= ${now}::timestamptz, false) as woken
  from tollgate.webhook_queue
  where owner = ${me}::uuid
    and (wake_at <= ${now}::timestamptz or lease_until < now() + ${(leaseMs * 2) / 3}::integer * interval '1 millisecond')
  order by endpoint_id
  for update)
update tollgate.webhook_queue queue set wake_at = case when mine.woken then null else queue.wake_at end,
  lease_until = ${leaseEnd}
from mine
where queue.endpoint_id = mine.endpoint_id
returning queue.endpoint_id, mine.woken`

export type Health = {
  readonly endpointId: string
  readonly failures: number
  readonly failingSince: Date | null
  readonly probeAt: Date | null
}

const healthColumns = (health: Health): Sql => sql`
    failures = ${health.failures}::integer, failing_since = ${health.failingSince}::timestamptz,
    probe_at = ${health.probeAt}::timestamptz`

/** Stores the health of an endpoint. Empty when another process has its lease. */
export const saveHealth = (me: string, health: Health) => sql<{ endpoint_id: string }>`
  update tollgate.webhook_queue set ${healthColumns(health)}
  where endpoint_id = ${health.endpointId}::uuid and owner = ${me}::uuid
  returning endpoint_id`

/**
 * Stores that an endpoint recovered, and makes the deliveries due that waited for their own next
 * attempt. One commit, since a recovered endpoint has nobody who would free them later.
 */
export const saveRecovery = (me: string, health: Health, now: Date) => sql<{
  endpoint_id: string
}>`
with held as (
  update tollgate.webhook_queue set ${healthColumns(health)}
  where endpoint_id = ${health.endpointId}::uuid and owner = ${me}::uuid
  returning endpoint_id),
freed as (
  update tollgate.delivery set due_at = ${now}::timestamptz
  where exists (select from held) and endpoint_id = ${health.endpointId}::uuid and state = 'pending'
    and due_at > ${now}::timestamptz and attempts > 0)
select endpoint_id from held`

/**
 * The engine disables an endpoint, once, with an audit entry, while the verdict holds: the endpoint
 * is as it was tried, and no other process has taken its lease and tried it since. Locks in the
 * order of the owner's changes: the endpoint first.
 */
export const disableEndpoint = (
  me: string,
  health: Health,
  { version, reason }: Verdict,
  now: Date,
  auditId: string,
) => sql<{ entity_id: string }>`
with tried as materialized (
  select id
  from tollgate.webhook_endpoint
  where id = ${health.endpointId}::uuid and active and version = ${version}::integer
  for no key update),
held as (
  update tollgate.webhook_queue set ${healthColumns(health)}
  where endpoint_id in (select id from tried) and owner = ${me}::uuid
  returning endpoint_id),
changed as (
  update tollgate.webhook_endpoint set active = false, disabled_at = ${now}::timestamptz,
    disabled_reason = ${reason}::text, version = version + 1
  where id in (select endpoint_id from held)
  returning id, entity_id),
audited as (${auditRows(
  { id: auditId, actor: engineActor, action: 'webhook.disabled', detail: { reason } },
  { from: sql`changed`, resource: sql`id`, entityId: sql`entity_id` },
)})
select entity_id from changed`

/** After a delivered test of an endpoint that is down: the notification that is due next is due now, as a probe. */
export const probeNow = (endpointId: string, now: Date) => sql<{ endpoint_id: string }>`
with first as materialized (
  select id from tollgate.delivery
  where endpoint_id = ${endpointId}::uuid and state = 'pending'
  order by due_at limit 1),
due as (
  update tollgate.delivery set due_at = least(due_at, ${now}::timestamptz)
  where id in (select id from first) and state = 'pending')
update tollgate.webhook_queue set probe_at = null, wake_at = least(wake_at, ${now}::timestamptz)
where endpoint_id = ${endpointId}::uuid and failures >= ${limits.webhookFailures}::integer
returning endpoint_id`

export type ReleaseRow = {
  readonly endpoint_id: string
  /** A request woke the endpoint: its pause is over. */
  readonly woken: boolean
  /** The next time that the endpoint needs a process; null: it has received everything. */
  readonly wake_at: Date | null
}

/** Ends leases. A wake-up meanwhile is kept. The next process goes by the health that is stored. */
export const releaseQueues = (me: string, rows: readonly ReleaseRow[]) => sql`
with mine as materialized (
  select released.endpoint_id, case when not released.woken then held.probe_at end as probe_at, released.wake_at
  from (
    select endpoint_id, woken, wake_at
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as given(endpoint_id uuid, woken boolean, wake_at timestamptz)
    -- In the lock order of claims.
    order by endpoint_id) released
  cross join lateral (
    select probe_at
    from tollgate.webhook_queue
    where endpoint_id = released.endpoint_id and owner = ${me}::uuid
    for update) held)
update tollgate.webhook_queue queue set owner = null, lease_until = null, probe_at = mine.probe_at,
  wake_at = least(case when queue.wake_at is not null then greatest(queue.wake_at, mine.probe_at) end, mine.wake_at)
from mine
where queue.endpoint_id = mine.endpoint_id`

/** Wakes endpoints with work and without a process or a timer; normally there are none. */
export const wakeForgotten = (now: Date) => sql<{ endpoint_id: string }>`
  update tollgate.webhook_queue queue set wake_at = ${now}::timestamptz
  where queue.owner is null and queue.wake_at is null and exists (
    select from tollgate.delivery
    where delivery.endpoint_id = queue.endpoint_id and delivery.state = 'pending' and delivery.due_at <= ${now}::timestamptz)
  returning queue.endpoint_id`
