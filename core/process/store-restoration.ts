/** The time after a failover in which processes restore what they remember. */
import { limits } from '@tollgate/schemas'
import { sql } from '../db/sql.ts'

/** True for a while after a failover. The first leader of a database replaces none. */
export const isRestoring = sql<{ is: boolean }>`
  select count(*) > 1 and max(since) > now() - ${limits.restorationMs}::integer * interval '1 millisecond' as is
  from tollgate.server_timeline`
