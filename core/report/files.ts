/** Report files of a caller's entities. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Caller } from '../caller/caller.ts'
import { wireTimestamp } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'
import { cursorOf, limitOf } from '../page/by-id.ts'
import { refuse, textOf } from '../request/values.ts'
import { type ReportFile, reportFile, reportOf } from './open.ts'
import { readerOf } from './readers.ts'
import { reportsOf } from './store-file.ts'

export type ReportFileView = {
  readonly id: string
  readonly name: string
  /** Merchant of the records; above merchants, the entity of unmatched records. */
  readonly entity: string
  readonly testClock?: string
  /** Counts the files of the entity, and of the test clock, from 1 on. */
  readonly no: number
  readonly rows: number
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
  /** `yyyy-MM-dd HH:mm:ss+0000` on the clock of the file. */
  readonly madeAt: string
}

export type ReportFilePage = {
  readonly files: readonly ReportFileView[]
  readonly nextCursor?: string
}

export const fileView = (file: ReportFile): ReportFileView => ({
  id: file.id,
  name: file.name,
  entity: file.entityId,
  ...(file.clockId !== null && { testClock: file.clockId }),
  no: file.no,
  rows: file.rows,
  bytes: file.bytes,
  sha256: file.sha256.toString('hex'),
  madeAt: wireTimestamp(file.madeAt),
})

/** Newest first. @throws GatewayError 400 naming the field, also for a channel, which has no files. */
export async function listFiles(
  engine: Engine,
  caller: Caller,
  fields: RequestFields,
): Promise<ReportFilePage> {
  const { own, isChannel } = await readerOf(engine, caller, textOf(fields, 'entityId'))
  if (isChannel) throw channelHasNoFiles()
  const limit = limitOf(fields)
  const rows = await engine.lanes.read(reportsOf(own, cursorOf(fields), limit + 1))
  const files = rows.slice(0, limit).map((row) => fileView(reportOf(row, 'guarded')))
  return { files, ...(rows.length > limit && { nextCursor: files.at(-1)!.id }) }
}

/** An empty list would say that nothing was settled. */
const channelHasNoFiles = () =>
  refuse(
    '200.300.404',
    'entityId',
    'is that of a channel, but files are made for merchants: use a token of the merchant, and its id',
  )

/** @throws GatewayError 404 when the caller sees none with this id. */
export async function findFile(
  engine: Engine,
  caller: Caller,
  id: string,
  fields: RequestFields,
): Promise<ReportFile> {
  const { own } = await readerOf(engine, caller, textOf(fields, 'entityId'))
  const file = isId(id) ? await reportFile(engine, id) : undefined
  if (file !== undefined && own.includes(file.entityId)) return file
  throw new GatewayError('700.400.580', { status: 404 })
}
