/** Parts of the statements about the leases under which one process sends to an endpoint. */
import { limits } from '@tollgate/schemas'
import { type Sql, sql } from '../db/sql.ts'

/** When a lease ends that is taken or kept now. */
export const leaseEnd = sql`now() + ${limits.webhookLeaseMs}::integer * interval '1 millisecond'`

/** Whether a process may send from `queue`: nobody else holds its lease, and it is time to try. */
export const mayTake = (me: string, now: Date): Sql => sql`
    (queue.owner is null or queue.owner = ${me}::uuid or queue.lease_until < now())
    and coalesce(queue.probe_at <= ${now}::timestamptz, true)`
