import { sql } from '../db/sql.ts'

/** The newest timeline whose leader was made ready. */
export const newestTimeline = sql<{ timeline: number | null }>`
  select max(timeline) as timeline
  from tollgate.server_timeline`

export const addTimeline = (timeline: number, system: string | null) => sql`
  insert into tollgate.server_timeline (timeline, system)
  values (${timeline}::integer, ${system}::text)
  on conflict (timeline) do nothing`

/** Empty commits until the transaction counter has passed a number. Outside transactions only. */
export const skipTxids = (last: bigint): string =>
  `do $$ begin while pg_current_xact_id() < '${last}' loop commit; end loop; end $$`
