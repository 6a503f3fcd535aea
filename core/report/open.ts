/** The stored bytes of a report file, as a stream. They never change. */
import { createHash } from 'node:crypto'
import type { Lanes } from '../db/lanes.ts'
import { type ReportRow, rawReportPart, reportById, reportPart } from './store-file.ts'

/**
 * `guarded`: text that a spreadsheet would run as a formula begins with an apostrophe. `raw`: as the
 * institute sent it.
 */
export type ReportForm = 'guarded' | 'raw'

export type ReportFile = {
  readonly id: string
  /** The entity of the series: a merchant, or the entity above merchants whose records match no payment. */
  readonly entityId: string
  /** Null: real time. */
  readonly clockId: string | null
  /** Counts the files of the series from 1 on, without gaps. */
  readonly no: number
  readonly name: string
  /** Of the form that was asked for. */
  readonly sha256: Buffer
  readonly bytes: number
  readonly rows: number
  /** On the clock of the series. */
  readonly madeAt: Date
}

/** A published file; undefined: there is none with this id. */
export async function reportFile(
  { lanes }: { readonly lanes: Lanes },
  id: string,
  form: ReportForm = 'guarded',
): Promise<ReportFile | undefined> {
  const [row] = await lanes.read(reportById(id))
  return row === undefined ? undefined : reportOf(row, form)
}

export function reportOf(row: ReportRow, form: ReportForm): ReportFile {
  const isRaw = form === 'raw'
  return {
    id: row.id,
    entityId: row.entity_id,
    clockId: row.clock_id,
    no: row.no,
    name: row.name,
    sha256: isRaw ? row.raw_sha256 : row.sha256,
    bytes: Number(isRaw ? row.raw_bytes_count : row.bytes),
    rows: row.rows,
    madeAt: row.made_at,
  }
}

/**
 * The bytes of a file, part by part: about a MiB each. No connection is held between two parts.
 *
 * @param file As `reportFile` found it, with the same form.
 * @throws Error after the last part when the bytes are not those that were published.
 */
export async function* reportBytes(
  { lanes }: { readonly lanes: Lanes },
  file: Pick<ReportFile, 'id' | 'sha256' | 'bytes'>,
  form: ReportForm = 'guarded',
): AsyncGenerator<Buffer> {
  const partOf = form === 'raw' ? rawReportPart : reportPart
  const hash = createHash('sha256')
  for (let no = 0, sent = 0; sent < file.bytes; no += 1) {
    const [part] = await lanes.read(partOf(file.id, no))
    if (part === undefined) throw new Error(`part ${no} of report file ${file.id} is missing`)
    hash.update(part.bytes)
    sent += part.bytes.length
    yield part.bytes
  }
  if (!hash.digest().equals(file.sha256)) {
    throw new Error(`the bytes of report file ${file.id} are not those that were published`)
  }
}
