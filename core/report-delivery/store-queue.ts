/** SQL of the work on destinations: due files, leases, results. Leases and due times go by Postgres' clock. */
import { sql } from '../db/sql.ts'
import type { Delivery } from './types.ts'

/** Whether a file waits for a destination without a process. */
export const reportsDue = sql`
  select from tollgate.report_delivery delivery
  join tollgate.report_destination destination on destination.id = delivery.destination_id
  where delivery.state = 'pending' and delivery.due_at <= now() and destination.active
    and (destination.probe_at is null or destination.probe_at <= now())
    and (destination.lease_until is null or destination.lease_until < now())`

/** Destinations with due files and without a process. The merchants take turns, so that nobody fills the list. */
export const dueDestinations = (limit: number) => sql<{ id: string; merchant_id: string }>`
  with due as (
    select distinct destination.id,
      case entity.kind when 'channel' then entity.parent_id else entity.id end as merchant_id
    from tollgate.report_delivery delivery
    join tollgate.report_destination destination on destination.id = delivery.destination_id
    join tollgate.entity on entity.id = destination.entity_id
    where delivery.state = 'pending' and delivery.due_at <= now() and destination.active
      and (destination.probe_at is null or destination.probe_at <= now())
      and (destination.lease_until is null or destination.lease_until < now()))
  select id, merchant_id
  from due
  order by row_number() over (partition by merchant_id order by id), id
  limit ${limit}::integer`

const until = (ms: number) => sql`now() + ${ms}::bigint * interval '1 millisecond'`

/** Takes the free lease of a destination; empty during its pause. */
export const takeLease = (id: string, forMs: number) => sql<{ lease: number }>`
  update tollgate.report_destination set lease = lease + 1, lease_until = ${until(forMs)}
  where id = ${id}::uuid and active and (lease_until is null or lease_until < now())
    and (probe_at is null or probe_at <= now())
  returning lease`

/** Empty when the lease was lost. A lease that has ended meanwhile stays ended. */
export const renewLease = (id: string, lease: number, forMs: number) => sql<{ id: string }>`
  update tollgate.report_destination set lease_until = ${until(forMs)}
  where id = ${id}::uuid and lease = ${lease}::integer and lease_until is not null
  returning id`

export const endLease = (id: string, lease: number) => sql`
  update tollgate.report_destination set lease_until = null
  where id = ${id}::uuid and lease = ${lease}::integer`

export type DueRow = { id: string; file_id: string; attempts: number; renaming: boolean }

export const toWaiting = (row: DueRow): Delivery => ({
  id: row.id,
  fileId: row.file_id,
  attempts: row.attempts,
  isRenaming: row.renaming,
})

/** The oldest due file of a destination. */
export const nextDelivery = (destinationId: string) => sql<DueRow>`
  select delivery.id, delivery.file_id, delivery.attempts, delivery.renaming
  from tollgate.report_delivery delivery
  where delivery.destination_id = ${destinationId}::uuid and delivery.state = 'pending' and delivery.due_at <= now()
  order by delivery.file_id, delivery.id
  limit 1`

/** Notes that the final name is requested next. Empty when another process has the destination. */
export const noteRenaming = (deliveryId: string, destinationId: string, lease: number) => sql<{
  id: string
}>`
with held as (
  select id
  from tollgate.report_destination
  where id = ${destinationId}::uuid and lease = ${lease}::integer and lease_until > now()
  for update)
update tollgate.report_delivery set renaming = true
from held
where report_delivery.id = ${deliveryId}::uuid and report_delivery.state = 'pending'
returning report_delivery.id`

export type Result = {
  readonly deliveryId: string
  readonly destinationId: string
  readonly lease: number
  readonly attemptId: string
  readonly at: Date
  readonly durationMs: number
  readonly result: string
  readonly message: string | null
  readonly delivered: boolean
  /** The answer to the request for the final name may be lost. */
  readonly isRenaming: boolean
  /** The other files of the destination wait as well. */
  readonly isOfServer: boolean
  readonly pauseMs: number
}

/**
 * Writes the end of an attempt. A delivered file is a fact, also after the lease was lost; a failure counts
 * under the lease only.
 */
export const writeResult = (row: Result) => sql<{ id: string }>`
with held as (
  select id
  from tollgate.report_destination
  where id = ${row.destinationId}::uuid and lease = ${row.lease}::integer
  for update),
ended as (
  update tollgate.report_delivery set attempts = attempts + 1,
    state = case when ${row.delivered}::boolean then 'delivered' else 'pending' end,
    renaming = ${row.isRenaming}::boolean,
    due_at = case when ${row.delivered}::boolean then due_at else ${until(row.pauseMs)} end,
    ended_at = case when ${row.delivered}::boolean then now() end
  where id = ${row.deliveryId}::uuid and state = 'pending' and (${row.delivered}::boolean or exists (select from held))
  returning id),
health as (
  update tollgate.report_destination set
    failures = case when ${row.delivered}::boolean then 0 else failures + 1 end,
    failing_since = case when ${row.delivered}::boolean then null else coalesce(failing_since, now()) end,
    probe_at = case when ${row.isOfServer}::boolean then ${until(row.pauseMs)} end
  from held
  where report_destination.id = held.id),
logged as (
  insert into tollgate.report_delivery_attempt (id, delivery_id, at, duration_ms, result, message)
  select ${row.attemptId}::uuid, ended.id, ${row.at}::timestamptz, ${row.durationMs}::integer, ${row.result}::text,
    ${row.message}::text
  from ended
  on conflict (id) do nothing)
select id from ended`

/** Gives up files that wait for too long. */
export const giveUpOld = (destinationId: string, lease: number, days: number) => sql<{
  id: string
}>`
  update tollgate.report_delivery set state = 'dead', reason = 'not taken in time', ended_at = now()
  where destination_id = ${destinationId}::uuid and state = 'pending'
    and created_at < now() - ${days}::integer * interval '1 day'
    and exists (
      select from tollgate.report_destination where id = ${destinationId}::uuid and lease = ${lease}::integer)
  returning id`

/** Deletes ended deliveries with their attempts. */
export const purgeReportDeliveries = (days: number, limit: number) => sql<{ id: string }>`
with gone as (
  delete from tollgate.report_delivery
  where id in (
    select id
    from tollgate.report_delivery
    where state <> 'pending' and ended_at < now() - ${days}::integer * interval '1 day'
    limit ${limit}::integer)
  returning id),
attempts as (
  delete from tollgate.report_delivery_attempt
  where delivery_id in (select id from gone))
select id from gone`

/** Destinations that were removed long ago and whose log has expired. */
export const purgeDestinations = (days: number, limit: number) => sql<{ id: string }>`
  delete from tollgate.report_destination
  where id in (
    select id
    from tollgate.report_destination
    where removed_at < now() - ${days}::integer * interval '1 day'
      and not exists (select from tollgate.report_delivery where destination_id = report_destination.id)
    limit ${limit}::integer)
  returning id`
