/**
 * What an event leaves for webhooks, in its own statement and so in its own commit: a row that says
 * that nobody was told yet. Where nobody wants to be told there is none.
 */
import { sql } from '../db/sql.ts'

const somebodyListens = sql`exists (
    select from tollgate.webhook_endpoint where kind = 'webhook' and active)`

/** Inserts that follow `e as (insert into tollgate.event … returning id, resource, seq)`. */
export const outbox = {
  ofEvents: sql`
  insert into tollgate.outbox (resource, seq, event_id)
  select resource, seq, id from e where ${somebodyListens}`,
  /** A registration may have the id of the verification that made it, whose events come before. */
  ofRegistration: sql`
  insert into tollgate.outbox (resource, seq, event_id)
  select resource, seq + 1000, id from e where ${somebodyListens}`,
  /** `notifies`: the payment's request names a URL that wants to be told, too. */
  ofPayment: (notifies: boolean) => sql`
  insert into tollgate.outbox (resource, seq, event_id)
  select resource, seq, id from e where ${notifies}::boolean or ${somebodyListens}`,
}
