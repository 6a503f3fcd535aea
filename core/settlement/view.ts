/** Settlement files as callers see them. */
import type { ExceptionRow, FileRow, FileState } from './store-file.ts'

export type SettlementFileView = {
  readonly id: string
  readonly name: string
  readonly state: FileState
  readonly source: FileRow['source']
  readonly institute: string
  readonly format: string
  readonly merchantNumber: string
  readonly account?: string
  /** The institute's own reference of the file. */
  readonly reference?: string
  readonly bytes: number
  /** ISO 8601 in UTC. */
  readonly receivedAt: string
  readonly records: number
  readonly batchLines: number
  /** Lines that became no record. */
  readonly exceptionCount: number
  readonly refused?: { readonly line?: number; readonly why: string }
  /** An earlier file with the same bytes, or with the same reference. */
  readonly earlier?: string
  readonly exceptions?: readonly ExceptionRow[]
}

export const fileView = (
  row: FileRow,
  exceptions?: readonly ExceptionRow[],
): SettlementFileView => ({
  id: row.id,
  name: row.name,
  state: row.state,
  source: row.source,
  institute: row.institute,
  format: row.format,
  merchantNumber: row.merchant_number,
  ...(row.account_id !== null && { account: row.account_id }),
  ...(row.reference !== null && { reference: row.reference }),
  bytes: Number(row.bytes),
  receivedAt: row.received_at.toISOString(),
  records: row.records,
  batchLines: row.batch_lines,
  exceptionCount: row.exceptions,
  ...(row.refused_why !== null && {
    refused: { ...(row.refused_line !== null && { line: row.refused_line }), why: row.refused_why },
  }),
  ...(row.earlier_id !== null && { earlier: row.earlier_id }),
  ...(exceptions !== undefined && { exceptions }),
})
