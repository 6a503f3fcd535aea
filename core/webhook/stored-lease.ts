/** Parts of the statements about endpoints' leases. */
import { limits } from '@tollgate/schemas'
import { type Sql, sql } from '../db/sql.ts'

/** The end of a lease that is taken or renewed now. */
export const leaseEnd = sql`now() + ${limits.webhookLeaseMs}::integer * interval '1 millisecond'`

/** Whether a process may take `queue`: no other process holds its lease, and its pause is over. */
export const mayTake = (me: string, now: Date): Sql => sql`
    (queue.owner is null or queue.owner = ${me}::uuid or queue.lease_until < now())
    and coalesce(queue.probe_at <= ${now}::timestamptz, true)`
