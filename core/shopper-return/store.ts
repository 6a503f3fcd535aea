/** SQL of the way back: the page that the merchant's server named for a checkout. */
import { sql } from '../db/sql.ts'

export const pageOfCheckout = (id: string) => sql<{ entity_id: string; page: string | null }>`
  select entity_id, request ->> 'shopperResultUrl' as page
  from tollgate.checkout
  where id = ${id}::text`
