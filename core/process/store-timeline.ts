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

/**
 * The highest transaction number that a row has. Ids of events and their numbers come in nearly the same order; a
 * record keeps the number of its last version, whatever its id.
 */
export const newestTxid = sql<{ txid: string | null }>`
  select max(txid)::text as txid
  from (
    select max(txid) as txid
    from (select txid from tollgate.event order by id desc limit 10000) as late
    union all
    select newest.txid
    from tollgate.entity
    cross join lateral (
      select txid from tollgate.settlement_record
      where entity_id = entity.id order by txid desc limit 1) as newest
    union all
    select max(txid) from tollgate.report_series
    union all
    select max(txid) from tollgate.report_departure) as used`

/** Empty commits until the transaction counter has passed a number. Outside transactions only. */
export const skipTxids = (last: bigint): string =>
  `do $$ begin while pg_current_xact_id() < '${last}' loop commit; end loop; end $$`
