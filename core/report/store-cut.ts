/** SQL of the making of report files: position, sources, parts, publication. */
import { type Sql, sql } from '../db/sql.ts'
import { type RecordRow, recordColumns, recordsOfPage } from './stored-record.ts'

/** Files of one entity and one test clock; null: of real time. */
export type Series = { readonly entityId: string; readonly clockId: string | null }

/** A record version, in the order of transaction and record. */
export type Position = { readonly txid: string; readonly recordId: string }

const isSeries = ({ entityId, clockId }: Series) => sql`entity_id = ${entityId}::uuid
    and clock_id is not distinct from ${clockId}::uuid`

export const addSeries = ({ entityId, clockId }: Series) => sql`
  insert into tollgate.report_series (entity_id, clock_id, txid, record_id)
  values (${entityId}::uuid, ${clockId}::uuid, '0', '00000000-0000-0000-0000-000000000000')
  on conflict do nothing`

/** @returns the position, and the oldest running transaction: versions before it are final. */
export const seriesNow = (series: Series) => sql<{
  txid: string
  record_id: string
  no: number
  horizon: string
  at: Date
}>`
  select txid::text as txid, record_id, no, pg_snapshot_xmin(pg_current_snapshot())::text as horizon,
    coalesce((select clock.at from tollgate.test_clock as clock where clock.id = ${series.clockId}::uuid), now()) as at
  from tollgate.report_series
  where ${isSeries(series)}`

/**
 * Condition: a record left `source` after a file of the series had it, and no other source of the series has
 * it now.
 */
const hasLeft = (published: Position) => sql`departure.scope_id = source.scope_id
        and departure.entity_id = source.entity_id
        and (departure.was_txid, departure.record_id) <= (${published.txid}::xid8, ${published.recordId}::uuid)
        and not exists (
          select
          from tollgate.settlement_record as record
          join tollgate.report_source as present on present.scope_id = record.scope_id
            and present.entity_id = record.entity_id
          where record.id = departure.record_id and present.series_entity_id = source.series_entity_id)`

/**
 * Scopes and entities with versions after the position. Null horizon: also those that are not final.
 *
 * `offset 0` keeps PostgreSQL from hashing all records of the table, which it prefers on a wrong guess of the
 * number of sources.
 */
export const sourcesWithNews = (series: Series, after: Position, horizon: string | null) => sql<{
  scope_id: string
  entity_id: string
}>`
  select source.scope_id, source.entity_id
  from tollgate.report_source as source
  where source.series_entity_id = ${series.entityId}::uuid
    and source.clock_id is not distinct from ${series.clockId}::uuid
    and (exists (
      select
      from tollgate.settlement_record as record
      where record.scope_id = source.scope_id and record.entity_id = source.entity_id
        and (record.txid, record.id) > (${after.txid}::xid8, ${after.recordId}::uuid)
        and (${horizon}::xid8 is null or record.txid < ${horizon}::xid8)
      -- Otherwise the planner may read all records until one is newer.
      order by record.txid, record.id
      offset 0)
      or exists (
      select
      from tollgate.report_departure as departure
      where ${hasLeft(after)}
        and (departure.txid, departure.record_id) > (${after.txid}::xid8, ${after.recordId}::uuid)
        and (${horizon}::xid8 is null or departure.txid < ${horizon}::xid8)
      offset 0))
  order by source.scope_id, source.entity_id`

export type Version = RecordRow & {
  readonly txid: string
  /** The record left the source: a row takes it out. */
  readonly has_left: boolean
}

/**
 * Versions of one source after a position, in their order, and the records that left it.
 *
 * @param published The position of the series.
 */
export const versionsOf = (
  { scopeId, entityId }: { readonly scopeId: string; readonly entityId: string },
  published: Position,
  after: Position,
  horizon: string,
  limit: number,
) => sql<Version>`
  with page as materialized (
    (select id, txid, false as has_left
    from tollgate.settlement_record
    where scope_id = ${scopeId}::uuid and entity_id = ${entityId}::uuid
      and (txid, id) > (${after.txid}::xid8, ${after.recordId}::uuid) and txid < ${horizon}::xid8
    order by txid, id
    limit ${limit}::integer)
    union all
    (select departure.record_id, departure.txid, true
    from tollgate.report_source as source
    join tollgate.report_departure as departure on ${hasLeft(published)}
    where source.scope_id = ${scopeId}::uuid and source.entity_id = ${entityId}::uuid
      and (departure.txid, departure.record_id) > (${after.txid}::xid8, ${after.recordId}::uuid)
      and departure.txid < ${horizon}::xid8
    order by departure.txid, departure.record_id
    limit ${limit}::integer)
    order by txid, id
    limit ${limit}::integer)
  select ${recordColumns}, page.txid::text as txid, page.has_left
  from ${recordsOfPage}
  order by page.txid, page.id`

/** A file that is being written. */
export const addDraft = (fileId: string) => sql`
  insert into tollgate.report_draft (file_id)
  values (${fileId}::uuid)
  on conflict do nothing`

export const addPart = (
  fileId: string,
  no: number,
  bytes: Buffer,
  /** Null: the same. */
  raw: Buffer | null,
) => sql`
  insert into tollgate.report_part (file_id, no, bytes, raw)
  values (${fileId}::uuid, ${no}::integer, ${bytes}::bytea, ${raw}::bytea)
  on conflict do nothing`

/**
 * Publishes a draft as the next file of its series, and moves the position. No row: another process
 * published a file since, or the draft is gone.
 */
export const publish = (
  series: Series,
  was: Position & { readonly no: number },
  now: Position,
  file: {
    readonly id: string
    readonly name: string
    readonly sha256: Buffer
    readonly rawSha256: Buffer
    readonly bytes: number
    readonly rawBytes: number
    readonly rows: number
    readonly madeAt: Date
  },
) => sql<{ id: string }>`
  with moved as (
    update tollgate.report_series
    set txid = ${now.txid}::xid8, record_id = ${now.recordId}::uuid, no = no + 1
    where ${isSeries(series)} and txid = ${was.txid}::xid8 and record_id = ${was.recordId}::uuid
      and no = ${was.no}::integer
      and exists (select from tollgate.report_draft where file_id = ${file.id}::uuid)
    returning no),
  ended as (
    delete from tollgate.report_draft where file_id = ${file.id}::uuid and exists (select from moved))
  insert into tollgate.report_file (id, entity_id, clock_id, no, name, sha256, raw_sha256, bytes, raw_bytes_count,
    rows, made_at)
  select ${file.id}::uuid, ${series.entityId}::uuid, ${series.clockId}::uuid, moved.no, ${file.name}::text,
    ${file.sha256}::bytea, ${file.rawSha256}::bytea, ${file.bytes}::bigint, ${file.rawBytes}::bigint,
    ${file.rows}::integer, ${file.madeAt}::timestamptz
  from moved
  returning id`

const partsOf = (fileIds: Sql) => sql`
  parts as (
    delete from tollgate.report_part where file_id in (${fileIds}))`

/** Deletes a draft that was not published. */
export const dropDraft = (fileId: string) => sql`
  with dropped as (
    delete from tollgate.report_draft where file_id = ${fileId}::uuid returning file_id),
  ${partsOf(sql`select file_id from dropped`)}
  select file_id from dropped`

/** Deletes drafts of processes that died. */
export const purgeDrafts = (days: number, limit: number) => sql<{ file_id: string }>`
  with dropped as (
    delete from tollgate.report_draft
    where file_id in (
      select file_id
      from tollgate.report_draft
      where made_at < now() - ${days}::integer * interval '1 day'
      limit ${limit}::integer)
    returning file_id),
  ${partsOf(sql`select file_id from dropped`)}
  select file_id from dropped`

/** Series with records, of the entities at or below one; null: all. */
export const seriesBelow = (entityId: string | null) => sql<{
  entity_id: string
  clock_id: string | null
}>`
  with recursive below as (
    select id
    from tollgate.entity
    where id = ${entityId}::uuid or ${entityId}::uuid is null and parent_id is null
    union all
    select entity.id
    from tollgate.entity
    join below on entity.parent_id = below.id)
  select distinct source.series_entity_id as entity_id, source.clock_id
  from below
  join tollgate.report_source as source on source.series_entity_id = below.id
  order by entity_id, clock_id`

/** From now on, a version that is stored makes a further file due. */
export const beginCut = (ref: string) => sql`
  update tollgate.timer set step = 1
  where kind = 'report-cut' and ref = ${ref}::text and step = 0`

/** Ends a timer without news since the beginning of the cut. */
export const endCut = (ref: string) => sql<{ id: string }>`
  delete from tollgate.timer
  where kind = 'report-cut' and ref = ${ref}::text and step > 0
  returning id`

/** Looks again soon, in real time: versions wait for the end of an older transaction. */
export const cutAgain = (ref: string, afterMs: number) => sql`
  update tollgate.timer set step = 0, clock_id = null, due_at = now() + ${afterMs}::bigint * interval '1 millisecond'
  where kind = 'report-cut' and ref = ${ref}::text`
