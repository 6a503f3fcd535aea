/**
 * The event of a change, and its outbox row for webhooks, in the same commit. Without subscribers
 * there is no outbox row.
 */
import { type Sql, sql } from '../db/sql.ts'

export type NewEvent = {
  readonly id: string
  readonly type: string
  /** JSON text. */
  readonly data: string
}

const somebodyListens = sql`exists (
    select from tollgate.webhook_endpoint where kind = 'webhook' and active)`

/** Inserts that follow `new_event as (insert into tollgate.event … returning id, resource, seq)`. */
export const outbox = {
  ofEvents: sql`
  insert into tollgate.outbox (resource, seq, event_id)
  select resource, seq, id from new_event where ${somebodyListens}`,
  /** A registration may have the id of the verification that made it, whose events come before. */
  ofRegistration: sql`
  insert into tollgate.outbox (resource, seq, event_id)
  select resource, seq + 1000, id from new_event where ${somebodyListens}`,
  /** `notifies`: the payment's request names a notification URL. */
  ofPayment: (notifies: boolean) => sql`
  insert into tollgate.outbox (resource, seq, event_id)
  select resource, seq, id from new_event where ${notifies}::boolean or ${somebodyListens}`,
}

/**
 * Parts of a statement: `new_event` for the row of `moved`, which has id, seq and channel_id, and its outbox.
 *
 * @param event Null where `moved` has no row.
 */
const told = (event: NewEvent | null, moved: Sql, outboxRows: Sql, more: Sql = sql``): Sql => sql`
new_event as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${event?.id ?? null}::uuid, id, seq, channel_id, ${event?.type ?? null}::text,
    ${event?.data ?? null}::jsonb${more}
  from ${moved}
  returning id, resource, seq),
new_outbox as (${outboxRows})`

export const newEvent = {
  ofPayment: (event: NewEvent | null, moved: Sql, notifies: boolean): Sql =>
    told(event, moved, outbox.ofPayment(notifies)),
  ofRegistration: (event: NewEvent, moved: Sql): Sql => told(event, moved, outbox.ofRegistration),
  /** `moved` also has the state of the schedule after the change, `as_then`. */
  ofSchedule: (event: NewEvent, moved: Sql): Sql =>
    told(event, moved, outbox.ofEvents, sql` || as_then`),
}
