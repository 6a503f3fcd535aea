/** SQL of the look whether payments come in. */
import { sql } from '../db/sql.ts'

/**
 * Any payment of any process between two ids of moments. In the order of ids, because the planner would otherwise
 * read all payments until one is later. Payments of a clock that is ahead stay in the future for long: they tell
 * nothing about this moment.
 */
export const newPayments = (after: string, until: string) => sql<{ id: string }>`
select id
from tollgate.payment
where id > ${after}::uuid and id < ${until}::uuid
order by id
limit 1`
