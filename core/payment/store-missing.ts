/** Statements about operations whose reference a failover lost as well. */
import { sql } from '../db/sql.ts'

/** Reference of the entry about a payment whose rows wait for those of another one. */
export const missing = 'missing'

export const isThere = (id: string) => sql<{ id: string }>`
  select id
  from tollgate.payment
  where id = ${id}::uuid`

/**
 * Freezes a balance that is written again for the operations on it that are still missing, so that none of them is
 * carried out a second time.
 */
export const freezeForMissing = (balanceId: string) => sql`
with waiting as (
  select array_agg(attention.id) as entries
  from tollgate.attention
  where resolved_at is null and kind = 'recovered' and reference = ${missing}::text
    and freezes @> array[${balanceId}::uuid])
update tollgate.payment_balance set frozen_by = array(
  select unnest(frozen_by) union select unnest(waiting.entries))
from waiting
where payment_balance.payment_id = ${balanceId}::uuid and waiting.entries is not null`
