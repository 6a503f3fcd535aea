/** The report files of one entity as a folder that servers of plugins show. Read-only, without subfolders. */
import type { OpenFile, ServedFile, ServedFolder } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { type Clock, systemClock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import { type FileRow, fileByName, filesOf, partBytes, partSizes } from './store.ts'

const toFile = ({ name, bytes, made_at }: FileRow): ServedFile => ({
  name,
  bytes: Number(bytes),
  madeAt: made_at,
})

/** The folder of one login. */
export class ReportFolder implements ServedFolder {
  readonly #lanes: Lanes
  readonly #entityId: string
  readonly #last: LastPart
  readonly #clock: Pick<Clock, 'elapsedMs'>
  #listing: Promise<readonly ServedFile[]> | undefined
  /** Weak, so that an idle login keeps no memory. */
  #listed: { readonly sinceMs: number; readonly files: WeakRef<readonly ServedFile[]> } | undefined

  constructor(lanes: Lanes, entityId: string, clock: Pick<Clock, 'elapsedMs'> = systemClock) {
    this.#lanes = lanes
    this.#entityId = entityId
    this.#clock = clock
    this.#last = new LastPart(lanes)
  }

  /** One read serves the lists of some seconds: thousands of rows take long. */
  async list(): Promise<readonly ServedFile[]> {
    const { sinceMs = 0, files } = this.#listed ?? {}
    const known = files?.deref()
    if (known !== undefined && this.#clock.elapsedMs() - sinceMs < limits.servedListMs) return known
    this.#listing ??= this.#readList().finally(() => {
      this.#listing = undefined
    })
    return this.#listing
  }

  async #readList(): Promise<readonly ServedFile[]> {
    const sinceMs = this.#clock.elapsedMs()
    const rows = await this.#lanes.read(filesOf(this.#entityId, limits.servedFiles))
    const files = rows.reverse().map(toFile)
    this.#listed = { sinceMs, files: new WeakRef(files) }
    return files
  }

  async stat(name: string): Promise<ServedFile | undefined> {
    const row = await this.#find(name)
    return row && toFile(row)
  }

  async open(name: string): Promise<OpenFile | undefined> {
    const row = await this.#find(name)
    if (row === undefined) return undefined
    const reader = new PartReader(this.#last, row.id, await this.#lanes.read(partSizes(row.id)))
    return { ...toFile(row), read: (offset, length) => reader.read(offset, length) }
  }

  async #find(name: string): Promise<FileRow | undefined> {
    if (!/^[A-Za-z0-9._-]{1,200}$/.test(name)) return undefined
    const [row] = await this.#lanes.read(fileByName(this.#entityId, name))
    return row
  }
}

/** Reads anywhere in a file. */
class PartReader {
  readonly #last: LastPart
  readonly #fileId: string
  readonly #parts: readonly { readonly no: number; readonly from: number; readonly size: number }[]

  constructor(last: LastPart, fileId: string, sizes: readonly { no: number; size: number }[]) {
    this.#last = last
    this.#fileId = fileId
    let from = 0
    this.#parts = sizes.map(({ no, size }) => {
      const part = { no, from, size }
      from += size
      return part
    })
  }

  /** At most the rest of one part. */
  async read(offset: number, length: number): Promise<Uint8Array> {
    const part = this.#parts.find(({ from, size }) => offset >= from && offset < from + size)
    if (part === undefined || offset < 0) return new Uint8Array()
    const bytes = await this.#last.bytesOf(this.#fileId, part.no)
    return bytes.subarray(offset - part.from, offset - part.from + length)
  }
}

/** The part that was read last. Clients read onwards, so that it answers most reads; a login keeps one, however many files it opens. */
class LastPart {
  readonly #lanes: Lanes
  #last:
    | { readonly fileId: string; readonly no: number; readonly bytes: Promise<Buffer> }
    | undefined

  constructor(lanes: Lanes) {
    this.#lanes = lanes
  }

  /** Several reads under way at once share one query. */
  bytesOf(fileId: string, no: number): Promise<Buffer> {
    if (this.#last?.fileId === fileId && this.#last.no === no) return this.#last.bytes
    const bytes = this.#lanes.read(partBytes(fileId, no)).then(([part]) => {
      if (part === undefined) throw new Error(`part ${no} of report file ${fileId} is gone`)
      return part.bytes
    })
    // A failed read is tried again by the next.
    bytes.catch(() => {
      if (this.#last?.bytes === bytes) this.#last = undefined
    })
    this.#last = { fileId, no, bytes }
    return bytes
  }
}
