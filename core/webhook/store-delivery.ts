/**
 * SQL of waiting deliveries. Times that merchants see come from the engine's clock, as parameters.
 */
import { sql } from '../db/sql.ts'
import { earlier } from './stored-notifications.ts'
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

export type DueRow = DeliveryRow & {
  of_endpoint: string
  /** Whether further deliveries are due, including those behind one in memory. */
  more: boolean
  /** The next time that a delivery will be due. */
  next_due: Date | null
}

/**
 * Deliveries that may be sent to each endpoint now, longest due first; `known` ones are in memory
 * already. An endpoint without any has one row without a delivery.
 */
export const dueDeliveries = (
  endpointIds: readonly string[],
  now: Date,
  known: readonly string[],
  limit: number,
) => sql<DueRow>`
  select endpoint.id as of_endpoint, due.id, endpoint.id as endpoint_id, due.kind, due.resource, due.seq,
    due.attempts, due.created_at, due.callback, due.version, due.event_id, event.resource as event_resource,
    event.seq as event_seq, event.channel_id, event.type as event_type, event.at as event_at,
    event.data as event_data, coalesce(rest.more, false) as more, rest.next_due
  from unnest(${endpointIds}::uuid[]) as endpoint(id)
  left join lateral (
    select waiting.id, waiting.kind, waiting.resource, waiting.seq, waiting.attempts, waiting.created_at,
      waiting.callback, waiting.event_id, waiting.due_at, webhook_endpoint.version
    from tollgate.delivery waiting
    join tollgate.webhook_endpoint on webhook_endpoint.id = waiting.endpoint_id
    where waiting.endpoint_id = endpoint.id and waiting.state = 'pending' and waiting.due_at <= ${now}::timestamptz
      and waiting.id <> all(${known}::uuid[])
      and not exists (
        select from ${earlier} earlier where earlier.endpoint_id = waiting.endpoint_id)
    order by waiting.due_at, waiting.seq
    limit ${limit}::integer) due on true
  left join lateral (
    select exists (
        select from tollgate.delivery
        where endpoint_id = endpoint.id and state = 'pending' and due_at <= ${now}::timestamptz
          and id <> all(${known}::uuid[])) as more,
      (select min(due_at) from tollgate.delivery
        where endpoint_id = endpoint.id and state = 'pending' and due_at > ${now}::timestamptz) as next_due
    ) rest on due.id is null
  left join tollgate.event on event.id = due.event_id
  order by due.due_at, due.seq`

export type Buried = {
  /** Only older deliveries. */
  readonly before: Date | null
  /** Only this delivery. */
  readonly only: string | null
  /** Does nothing after an owner enabled the endpoint again. */
  readonly whileOff: boolean
}

/** Gives up deliveries of an endpoint: all, those older than `before`, or one. */
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

/** Writes the results of attempts in one statement. A delivery that was given up stays so. */
export const writeOutcomes = (rows: readonly OutcomeRow[]) => sql`
with given as materialized (
  select id, state, reason, attempts, due_at, ended_at, attempt_id, at, duration_ms, status, error, request, answer
  from json_to_recordset(${JSON.stringify(rows)}::json)
    as given(id uuid, state text, reason text, attempts integer, due_at timestamptz, ended_at timestamptz,
      attempt_id uuid, at timestamptz, duration_ms integer, status integer, error text, request jsonb, answer text)
  order by id),
ended as (
  update tollgate.delivery set state = given.state, reason = given.reason, attempts = given.attempts,
    due_at = given.due_at, ended_at = given.ended_at
  from given
  -- Not "= 'pending'": the planner would read all waiting deliveries instead of these few.
  where delivery.id = given.id and delivery.state not in ('delivered', 'dead'))
insert into tollgate.delivery_attempt (id, delivery_id, at, duration_ms, status, error, request, answer)
select attempt_id, id, at, duration_ms, status, error, request, answer
from given
on conflict (id) do nothing`
