/** SQL of webhook endpoints for their owners, and of the log of deliveries. */
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type ProposalUse, usedProposal } from '../four-eyes/stored-proposal.ts'
import { highestIdAt, lowestId } from '../ids.ts'
import type { Endpoint, Wrapper } from './types.ts'

export type EndpointRow = {
  id: string
  entity_id: string
  kind: 'webhook' | 'callback'
  url: string
  types: string[]
  wrapper: Wrapper
  active: boolean
  data_key_id: string | null
  sealed: Buffer | null
  previous_until: Date | null
  previous_key_until: Date | null
  version: number
  created_at: Date
  disabled_at: Date | null
  disabled_reason: string | null
  removed_at: Date | null
  failures: number | null
  failing_since: Date | null
}

const columns = sql`
  endpoint.id, endpoint.entity_id, endpoint.kind, endpoint.url, endpoint.types, endpoint.wrapper, endpoint.active,
  endpoint.data_key_id, endpoint.sealed, endpoint.previous_until,
  endpoint.previous_key_until, endpoint.version, endpoint.created_at, endpoint.disabled_at,
  endpoint.disabled_reason, endpoint.removed_at,
  queue.failures, queue.failing_since`

export function toEndpoint(row: EndpointRow): Endpoint {
  return {
    id: row.id,
    entityId: row.entity_id,
    kind: row.kind,
    url: row.url,
    types: row.types,
    wrapper: row.wrapper,
    active: row.active,
    sealed:
      row.data_key_id === null || row.sealed === null
        ? null
        : { dataKeyId: row.data_key_id, bytes: row.sealed },
    previousUntil: row.previous_until,
    previousKeyUntil: row.previous_key_until,
    version: row.version,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
    removedAt: row.removed_at,
    failures: row.failures ?? 0,
    failingSince: row.failing_since,
  }
}

/** One endpoint, including removed ones. */
export const endpointById = (id: string) => sql<EndpointRow>`
  select ${columns}
  from tollgate.webhook_endpoint endpoint
  left join tollgate.webhook_queue queue on queue.endpoint_id = endpoint.id
  where endpoint.id = ${id}::uuid and endpoint.kind = 'webhook'`

/** Endpoints to send to, in any state. */
export const endpointsToSend = (ids: readonly string[]) => sql<EndpointRow>`
  select ${columns}
  from tollgate.webhook_endpoint endpoint
  left join tollgate.webhook_queue queue on queue.endpoint_id = endpoint.id
  where endpoint.id = any(${ids}::uuid[])`

/**
 * Endpoints of an entity and all entities below it, newest first, below `before`; of every entity
 * when null.
 *
 * @param isWhole includes removed endpoints
 */
export const endpointsBelow = (
  entityId: string | null,
  isWhole: boolean,
  before: string | null,
  limit: number,
) => sql<EndpointRow>`
  with recursive down as (
    select id from tollgate.entity where id = ${entityId}::uuid
    union all
    select entity.id from tollgate.entity join down on entity.parent_id = down.id)
  select ${columns}
  from tollgate.webhook_endpoint endpoint
  left join tollgate.webhook_queue queue on queue.endpoint_id = endpoint.id
  where endpoint.kind = 'webhook' ${isWhole ? sql`` : sql`and endpoint.removed_at is null`}
    and (${entityId}::uuid is null or endpoint.entity_id in (select id from down))
    and (${before}::uuid is null or endpoint.id < ${before}::uuid)
  order by endpoint.id desc
  limit ${limit}::integer`

/** The audit entry commits with the change in `changed`. */
const told = (entry: AuditEntry): Sql =>
  auditRows(entry, { from: sql`changed`, resource: sql`id`, entityId: sql`entity_id` })

/** Empty when the entity has reached its limit. */
export const addEndpoint = (row: {
  id: string
  entityId: string
  url: string
  types: readonly string[]
  wrapper: Wrapper
  active: boolean
  dataKeyId: string
  sealed: Buffer
  createdAt: Date
  most: number
  audit: AuditEntry
  use: ProposalUse | null
}) => sql<{ id: string }>`
with used as (${usedProposal(row.use)}),
changed as (
  insert into tollgate.webhook_endpoint (id, entity_id, url, types, wrapper, active, data_key_id, sealed, created_at)
  select ${row.id}::uuid, ${row.entityId}::uuid, ${row.url}::text, ${row.types}::text[], ${row.wrapper}::text,
    ${row.active}::boolean, ${row.dataKeyId}::uuid, ${row.sealed}::bytea, ${row.createdAt}::timestamptz
  from used
  where ${row.most}::integer > (
    select count(*) from tollgate.webhook_endpoint
    where entity_id = ${row.entityId}::uuid and kind = 'webhook' and removed_at is null)
  on conflict (id) do nothing
  returning id, entity_id),
audited as (${told(row.audit)})
select id from changed`

/** Makes the serving process read the endpoint again. */
const wake = (id: string, now: Date) => sql`
  insert into tollgate.webhook_queue (endpoint_id, wake_at)
  select ${id}::uuid, ${now}::timestamptz from changed
  on conflict (endpoint_id) do update set wake_at = excluded.wake_at, probe_at = null, failures = 0,
    failing_since = null`

/**
 * Changes an endpoint that is unchanged since the read. Resets its failures, since the change may
 * be the cure. Empty after a concurrent change.
 */
export const changeEndpoint = (
  id: string,
  version: number,
  to: {
    readonly url: string
    readonly types: readonly string[]
    readonly wrapper: Wrapper
    readonly active: boolean
    /** Null: the secrets stay. */
    readonly secrets: {
      dataKeyId: string
      sealed: Buffer
      previousUntil: Date | null
      previousKeyUntil: Date | null
    } | null
    readonly use: ProposalUse | null
  },
  now: Date,
  audit: AuditEntry,
) => sql<{ id: string }>`
with was as (
  select id from tollgate.webhook_endpoint
  where id = ${id}::uuid and version = ${version}::integer and removed_at is null
  for update),
used as (${usedProposal(to.use, sql`was`)}),
changed as (
  update tollgate.webhook_endpoint set url = ${to.url}::text, types = ${to.types}::text[],
    wrapper = ${to.wrapper}::text, active = ${to.active}::boolean,
    data_key_id = coalesce(${to.secrets?.dataKeyId ?? null}::uuid, data_key_id),
    sealed = coalesce(${to.secrets?.sealed ?? null}::bytea, sealed),
    previous_until = coalesce(${to.secrets?.previousUntil ?? null}::timestamptz, previous_until),
    previous_key_until = coalesce(${to.secrets?.previousKeyUntil ?? null}::timestamptz, previous_key_until),
    disabled_at = case when ${to.active}::boolean then null else disabled_at end,
    disabled_reason = case when ${to.active}::boolean then null else disabled_reason end,
    version = version + 1
  from was cross join used
  where webhook_endpoint.id = was.id
  returning webhook_endpoint.id, entity_id),
audited as (${told(audit)}),
woken as (${wake(id, now)})
select id from changed`

/** Makes waiting deliveries due at once, so that the dispatcher finds and gives up all of them. */
export const removeEndpoint = (id: string, now: Date, audit: AuditEntry) => sql<{ id: string }>`
with changed as (
  update tollgate.webhook_endpoint set active = false, removed_at = ${now}::timestamptz, version = version + 1
  where id = ${id}::uuid and removed_at is null
  returning id, entity_id),
audited as (${told(audit)}),
waiting as (
  update tollgate.delivery set due_at = ${now}::timestamptz
  where endpoint_id in (select id from changed) and state = 'pending' and due_at > ${now}::timestamptz),
woken as (${wake(id, now)})
select id from changed`

export type DeliveryRow = {
  id: string
  event_id: string | null
  kind: string
  resource: string
  state: string
  reason: string | null
  replay: boolean
  created_at: Date
  due_at: Date
  attempts: number
  tries: {
    at: string
    durationMs: number
    status: number | null
    error: string | null
    answer: string | null
  }[]
}

/**
 * Deliveries of an endpoint, newest first, below `before`. A state is a range condition with the
 * index's own condition, so that the plan uses the index by state and skips other states.
 */
export const deliveriesOf = (
  endpointId: string,
  state: string | null,
  before: string | null,
  limit: number,
) => sql<DeliveryRow>`
  select delivery.id, delivery.event_id, delivery.kind, delivery.resource, delivery.state, delivery.reason,
    delivery.replay, delivery.created_at, delivery.due_at, delivery.attempts,
    coalesce((
      select json_agg(json_build_object('at', tried.at, 'durationMs', tried.duration_ms, 'status', tried.status,
        'error', tried.error, 'answer', tried.answer) order by tried.id)
      from tollgate.delivery_attempt tried
      where tried.delivery_id = delivery.id), '[]') as tries
  from tollgate.delivery
  where delivery.endpoint_id = ${endpointId}::uuid and ${
    state === null
      ? sql`(${before}::uuid is null or delivery.id < ${before}::uuid)
  order by delivery.id desc`
      : sql`(delivery.state <> '') is true
    and (delivery.state, delivery.id) >= (${state}::text, ${lowestId}::uuid)
    and (delivery.state, delivery.id) < (${state}::text, ${before ?? highestIdAt(Number.POSITIVE_INFINITY)}::uuid)
  order by delivery.state desc, delivery.id desc`
  }
  limit ${limit}::integer`

/** Endpoints that were removed long ago and whose log has expired. */
export const purgeEndpoints = (days: number, limit: number) => sql<{ id: string }>`
with gone as (
  delete from tollgate.webhook_endpoint
  where id in (
    select id
    from tollgate.webhook_endpoint
    where kind = 'webhook' and removed_at < now() - ${days}::integer * interval '1 day'
      and not exists (select from tollgate.delivery where delivery.endpoint_id = webhook_endpoint.id)
    limit ${limit}::integer)
  returning id),
unqueued as (
  delete from tollgate.webhook_queue
  using gone
  where webhook_queue.endpoint_id = gone.id)
select id from gone`

/** Months of deliveries and attempts past their retention. */
export const dropDeliveries = (days: number) => sql<{ dropped: number }>`
  select tollgate.drop_deliveries(now() - ${days}::integer * interval '1 day') as dropped`
