/** Bounded counts of what waits in a database. Cheap enough for a look every few seconds. */
import { sql } from '../db/sql.ts'

/** Events and notifications that wait, at most `most` of each. The order is that of an index. */
export const waitingNotifications = (most: number) => sql<{
  now: Date
  unclaimed: number
  first_event: string | null
  waiting: number
  oldest: Date | null
}>`
  select now() as now,
    (select count(*)::integer from (select from tollgate.outbox limit ${most}::integer) as bounded) as unclaimed,
    (select event_id from tollgate.outbox order by event_id limit 1) as first_event,
    waiting.count as waiting, waiting.oldest
  from (
    select count(*)::integer as count, min(created_at) as oldest
    from (
      select created_at
      from tollgate.delivery
      where state = 'pending'
      order by endpoint_id, due_at
      limit ${most}::integer) as bounded) as waiting`

/** Open entries of the operators' list by kind: of the oldest `most`. */
export const openByKind = (most: number) => sql<{
  kind: string
  open: number
  oldest_seconds: number
}>`
  select kind, count(*)::integer as open, extract(epoch from now() - min(at))::double precision as oldest_seconds
  from (
    select kind, at
    from tollgate.attention
    where resolved_at is null
    order by at
    limit ${most}::integer) as bounded
  group by kind
  order by kind`
