import { sql } from '../db/sql.ts'

/** The newest timeline whose leader was made ready, and the cluster that it belongs to. */
export const newestTimeline = sql<{ timeline: number; system: string | null }>`
  select timeline, system
  from tollgate.server_timeline
  order by timeline desc
  limit 1`

/** Timelines of another cluster say nothing about this one. */
export const addTimeline = (timeline: number, system: string | null) => sql`
  with others as (
    delete from tollgate.server_timeline
    where system <> ${system}::text and timeline <> ${timeline}::integer)
  insert into tollgate.server_timeline (timeline, system)
  values (${timeline}::integer, ${system}::text)
  on conflict (timeline) do update set system = excluded.system, since = now()
  where server_timeline.system <> excluded.system`

/** The highest transaction number of the last events: ids and numbers come in nearly the same order. */
export const newestTxid = sql<{ txid: string | null }>`
  select max(txid)::text as txid
  from (select txid from tollgate.event order by id desc limit 10000) as late`

/** Empty commits until the transaction counter has passed a number. Outside transactions only. */
export const skipTxids = (last: bigint): string =>
  `do $$ begin while pg_current_xact_id() < '${last}' loop commit; end loop; end $$`
