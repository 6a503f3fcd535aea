/** SQL of report destinations for their owners. */
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Destination } from './types.ts'

export type DestinationRow = {
  id: string
  entity_id: string
  url: string
  user_name: string
  login: Destination['login']
  host_keys: string[]
  certificate: string | null
  raw: boolean
  active: boolean
  data_key_id: string
  sealed: Buffer
  version: number
  created_at: Date
  removed_at: Date | null
  failures: number
  failing_since: Date | null
}

const columns = sql`
  destination.id, destination.entity_id, destination.url, destination.user_name, destination.login,
  destination.host_keys, destination.certificate, destination.raw, destination.active, destination.data_key_id,
  destination.sealed, destination.version, destination.created_at, destination.removed_at, destination.failures,
  destination.failing_since`

export const toDestination = (row: DestinationRow): Destination => ({
  id: row.id,
  entityId: row.entity_id,
  url: row.url,
  user: row.user_name,
  login: row.login,
  hostKeys: row.host_keys,
  certificate: row.certificate,
  raw: row.raw,
  active: row.active,
  sealed: { dataKeyId: row.data_key_id, bytes: row.sealed },
  version: row.version,
  createdAt: row.created_at,
  removedAt: row.removed_at,
  failures: row.failures,
  failingSince: row.failing_since,
})

/** One destination, also a removed one. */
export const destinationById = (id: string) => sql<DestinationRow>`
  select ${columns}
  from tollgate.report_destination destination
  where destination.id = ${id}::uuid`

/** Destinations of one entity, or of every entity when null, newest first, below `before`. */
export const destinationsOf = (
  entityId: string | null,
  isWhole: boolean,
  before: string | null,
  limit: number,
) => sql<DestinationRow>`
  select ${columns}
  from tollgate.report_destination destination
  where (${entityId}::uuid is null or destination.entity_id = ${entityId}::uuid)
    and (${isWhole}::boolean or destination.removed_at is null)
    and (${before}::uuid is null or destination.id < ${before}::uuid)
  order by destination.id desc
  limit ${limit}::integer`

/** The audit entry commits with the change in `changed`. */
const told = (entry: AuditEntry): Sql =>
  auditRows(entry, { from: sql`changed`, resource: sql`id`, entityId: sql`entity_id` })

/** The settings of a destination as they are stored. */
export type StoredSettings = Pick<
  Destination,
  'url' | 'user' | 'login' | 'hostKeys' | 'certificate' | 'raw' | 'active'
>

/** Empty when the entity has reached its limit. */
export const addDestination = (
  row: StoredSettings & {
    readonly id: string
    readonly entityId: string
    readonly dataKeyId: string
    readonly sealed: Buffer
    readonly createdAt: Date
    readonly most: number
    readonly audit: AuditEntry
  },
) => sql<{ id: string }>`
with changed as (
  insert into tollgate.report_destination
    (id, entity_id, url, user_name, login, host_keys, certificate, raw, active, data_key_id, sealed, created_at)
  select ${row.id}::uuid, ${row.entityId}::uuid, ${row.url}::text, ${row.user}::text, ${row.login}::text,
    ${row.hostKeys}::text[], ${row.certificate}::text, ${row.raw}::boolean, ${row.active}::boolean,
    ${row.dataKeyId}::uuid, ${row.sealed}::bytea, ${row.createdAt}::timestamptz
  where ${row.most}::integer > (
    select count(*) from tollgate.report_destination
    where entity_id = ${row.entityId}::uuid and removed_at is null)
  on conflict (id) do nothing
  returning id, entity_id),
audited as (${told(row.audit)})
select id from changed`

/**
 * Changes a destination that is unchanged since the read. Forgets its failures, since the change may be the
 * cure: waiting files are due at once. Empty after a concurrent change.
 *
 * @param isElsewhere The files go to another place: a process that delivers one at this time loses its
 * lease, and no file counts as taken from the new place.
 */
export const changeDestination = (
  id: string,
  version: number,
  to: StoredSettings & { readonly dataKeyId: string | null; readonly sealed: Buffer | null },
  isElsewhere: boolean,
  audit: AuditEntry,
) => sql<{ id: string }>`
with changed as (
  update tollgate.report_destination set url = ${to.url}::text, user_name = ${to.user}::text,
    login = ${to.login}::text, host_keys = ${to.hostKeys}::text[], certificate = ${to.certificate}::text,
    raw = ${to.raw}::boolean, active = ${to.active}::boolean,
    data_key_id = coalesce(${to.dataKeyId}::uuid, data_key_id), sealed = coalesce(${to.sealed}::bytea, sealed),
    version = version + 1, failures = 0, failing_since = null, probe_at = null,
    lease = lease + case when ${isElsewhere}::boolean then 1 else 0 end,
    lease_until = case when ${isElsewhere}::boolean then null else lease_until end
  where id = ${id}::uuid and version = ${version}::integer and removed_at is null
  returning id, entity_id),
woken as (
  update tollgate.report_delivery set due_at = least(due_at, now()),
    renaming = renaming and not ${isElsewhere}::boolean
  where destination_id in (select id from changed) and state = 'pending'
    and (due_at > now() or renaming and ${isElsewhere}::boolean)),
audited as (${told(audit)})
select id from changed`

/** Gives up the waiting files as well. A process that delivers one at this time loses its lease. */
export const removeDestination = (id: string, now: Date, audit: AuditEntry) => sql<{ id: string }>`
with changed as (
  update tollgate.report_destination set active = false, removed_at = ${now}::timestamptz, version = version + 1,
    lease = lease + 1, lease_until = null
  where id = ${id}::uuid and removed_at is null
  returning id, entity_id),
given_up as (
  update tollgate.report_delivery set state = 'dead', reason = 'the destination was removed', ended_at = now()
  where destination_id in (select id from changed) and state = 'pending'),
audited as (${told(audit)})
select id from changed`

export type DeliveryRow = {
  id: string
  file_id: string
  name: string
  bytes: bigint
  state: string
  reason: string | null
  replay: boolean
  created_at: Date
  due_at: Date
  tries: { at: string; durationMs: number; result: string; message: string | null }[]
}

/** Deliveries to a destination, newest first, below `before`. */
export const deliveriesTo = (
  destinationId: string,
  state: string | null,
  before: string | null,
  limit: number,
) => sql<DeliveryRow>`
  select delivery.id, delivery.file_id, file.name,
    case when destination.raw then file.raw_bytes_count else file.bytes end as bytes, delivery.state,
    delivery.reason, delivery.replay, delivery.created_at, greatest(delivery.due_at, destination.probe_at) as due_at,
    coalesce((
      select json_agg(json_build_object('at', tried.at, 'durationMs', tried.duration_ms, 'result', tried.result,
        'message', tried.message) order by tried.id)
      from tollgate.report_delivery_attempt tried
      where tried.delivery_id = delivery.id), '[]') as tries
  from tollgate.report_delivery delivery
  join tollgate.report_destination destination on destination.id = delivery.destination_id
  join tollgate.report_file file on file.id = delivery.file_id
  where delivery.destination_id = ${destinationId}::uuid
    and (${state}::text is null or delivery.state = ${state}::text)
    and (${before}::uuid is null or delivery.id < ${before}::uuid)
  order by delivery.id desc
  limit ${limit}::integer`

/**
 * Delivers files of the destination's entity again: one, or those from a number on; optionally only those
 * that were given up. Files that wait already stay as they are.
 */
export const replayFiles = (
  destinationId: string,
  replayId: string,
  which: {
    readonly fileId: string | null
    readonly fromNo: number | null
    readonly isDead: boolean
  },
  limit: number,
  audit: AuditEntry,
) => sql<{
  replayed: number
  /** The number of the first file beyond the limit. */
  next_no: number | null
}>`
with wanted as (
  select file.id, file.no, row_number() over (order by file.no, file.id) as place
  from tollgate.report_destination destination
  join tollgate.report_file file on file.entity_id = destination.entity_id
  where destination.id = ${destinationId}::uuid and destination.removed_at is null
    and (${which.fileId}::uuid is null or file.id = ${which.fileId}::uuid)
    and (${which.fromNo}::integer is null or file.no >= ${which.fromNo}::integer)
    and (not ${which.isDead}::boolean or exists (
      select from tollgate.report_delivery delivery
      where delivery.destination_id = destination.id and delivery.file_id = file.id and delivery.state = 'dead'))
  order by file.no, file.id
  limit ${limit}::integer + 1),
found as (
  select id from wanted where place <= ${limit}::integer),
again as (
  insert into tollgate.report_delivery (id, destination_id, file_id, due_at, created_at, replay)
  select tollgate.delivery_id(${replayId}::uuid, ${destinationId}::uuid, found.id::text), ${destinationId}::uuid,
    found.id, now(), now(), true
  from found
  on conflict do nothing
  returning id),
changed as (
  select id, entity_id
  from tollgate.report_destination
  where id = ${destinationId}::uuid),
audited as (${told(audit)})
select (select count(*)::integer from again) as replayed,
  (select no from wanted where place > ${limit}::integer) as next_no`
