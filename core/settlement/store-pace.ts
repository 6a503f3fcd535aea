/** SQL of the look whether payments come in. */
import { sql } from '../db/sql.ts'

/**
 * Any payment of any process with a later id. In the order of ids, because the planner would otherwise read all
 * payments until one is later.
 */
export const newPayments = (after: string) => sql<{ id: string }>`
select id
from tollgate.payment
where id > ${after}::uuid
order by id
limit 1`
