/** SQL of the way back: a return that nobody concludes yet, and the page that the merchant's server named for a checkout. */
import { sql } from '../db/sql.ts'

export const pageOfCheckout = (id: string) => sql<{ entity_id: string; page: string | null }>`
  select entity_id, request ->> 'shopperResultUrl' as page
  from tollgate.checkout
  where id = ${id}::text`

/**
 * A shopper came back from an authentication, and the authenticator is asked later: a job looks after the pause.
 * Empty while somebody holds the lease, whose answer may be older than this return.
 */
export const markReturned = (key: string, timerId: string, afterMs: number) => sql<{ ref: string }>`
with returned as (
  update tollgate.attempt set returned_at = now()
  where key = ${key}::text and stage = 'authentication' and state in ('sending', 'pending', 'unknown')
    and (lease_until is null or lease_until < now())
  returning key)
insert into tollgate.timer (id, due_at, kind, ref)
select ${timerId}::uuid, now() + ${afterMs}::integer * interval '1 millisecond', 'look', key
from returned
on conflict (kind, ref) do update set due_at = least(timer.due_at, excluded.due_at)
returning ref`
