/** SQL of report files and their parts. */
import { sql } from '../db/sql.ts'

export type ReportRow = {
  id: string
  entity_id: string
  clock_id: string | null
  no: number
  name: string
  sha256: Buffer
  raw_sha256: Buffer
  bytes: bigint
  raw_bytes_count: bigint
  rows: number
  made_at: Date
}

export const reportById = (id: string) => sql<ReportRow>`
  select id, entity_id, clock_id, no, name, sha256, raw_sha256, bytes, raw_bytes_count, rows, made_at
  from tollgate.report_file
  where id = ${id}::uuid`

/** One part in its form for spreadsheets. */
export const reportPart = (fileId: string, no: number) => sql<{ bytes: Buffer }>`
  select bytes
  from tollgate.report_part
  where file_id = ${fileId}::uuid and no = ${no}::integer`

/** The same without the guard; null: both forms are equal. */
export const rawReportPart = (fileId: string, no: number) => sql<{ bytes: Buffer }>`
  select coalesce(raw, bytes) as bytes
  from tollgate.report_part
  where file_id = ${fileId}::uuid and no = ${no}::integer`

/** Files of some entities, newest first. @param before A file; null: from the newest on. */
export const reportsOf = (
  entityIds: readonly string[],
  before: string | null,
  limit: number,
) => sql<ReportRow>`
  select file.id, file.entity_id, file.clock_id, file.no, file.name, file.sha256, file.raw_sha256, file.bytes,
    file.raw_bytes_count, file.rows, file.made_at
  from unnest(${entityIds}::uuid[]) as entity (id)
  cross join lateral (
    select id, entity_id, clock_id, no, name, sha256, raw_sha256, bytes, raw_bytes_count, rows, made_at
    from tollgate.report_file
    where entity_id = entity.id and (${before}::uuid is null or id < ${before}::uuid)
    order by id desc
    limit ${limit}::integer) as file
  order by file.id desc
  limit ${limit}::integer`
