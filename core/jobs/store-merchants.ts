/** SQL for the merchants of due work. */
import { sql } from '../db/sql.ts'

/** The entities of settlement scopes: a channel, or the lowest one above several. */
export const entitiesOfScopes = (ids: readonly string[]) => sql<{ id: string; entity_id: string }>`
  select id, entity_id
  from tollgate.settlement_scope
  where id = any(${ids}::uuid[])`

export const merchantsOfExecutions = (ids: readonly string[]) => sql<{
  id: string
  merchant_id: string
}>`
  select occurrence.id, schedule.merchant_id
  from tollgate.occurrence
  join tollgate.schedule on schedule.id = occurrence.schedule_id
  where occurrence.id = any(${ids}::uuid[])`
