/** Positions of the embedding program's subscriptions in the event feed. */
import { sql } from '../db/sql.ts'

export type Place = {
  /** The events after this cursor wait. */
  cursor: string
  /** The last event behind the cursor that the handler took, in positions of an earlier version. */
  handled: string | null
}

/** A subscription begins once, whatever later starts of the program ask for. */
export const beginSubscription = (name: string, cursor: string) => sql`
  insert into tollgate.subscription (name, cursor)
  values (${name}::text, ${cursor}::text)
  on conflict (name) do nothing`

export const placeOfSubscription = (name: string) => sql<Place>`
  select cursor, handled
  from tollgate.subscription
  where name = ${name}::text`

/**
 * Holds a subscription until the end of the transaction; `held` is false while another process does. An
 * advisory lock, because a lock of the row would give the transaction a number, and readers of the feed
 * wait for all lower numbers.
 */
export const holdSubscription = (name: string, schema: string) => sql<Place & { held: boolean }>`
  select pg_try_advisory_xact_lock(hashtextextended(${`${schema} subscription ${name}`}::text, 0)) as held,
    cursor, handled
  from tollgate.subscription
  where name = ${name}::text`

/** No row: another process moved it in between. */
export const moveSubscription = (name: string, from: Place, to: Place) => sql<{ name: string }>`
  update tollgate.subscription set cursor = ${to.cursor}::text, handled = ${to.handled}::text, moved_at = now()
  where name = ${name}::text and cursor = ${from.cursor}::text
    and handled is not distinct from ${from.handled}::text
  returning name`

/** After a long time without events, so that the next start does not search it again. */
export const keepUp = (name: string, from: Place, cursor: string) => sql`
  update tollgate.subscription set cursor = ${cursor}::text, handled = null, moved_at = now()
  where name = ${name}::text and cursor = ${from.cursor}::text
    and handled is not distinct from ${from.handled}::text
    and moved_at < now() - interval '1 hour'`
