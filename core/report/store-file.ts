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
