/**
 * The bytes of a settlement file, sealed in parts of one MiB. A part is bound to its file and its row, so
 * that no part opens in another file or at another position.
 */
import { createHash } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { addPart, partOf } from './store-file.ts'

/** The facts of a stored file. */
export type StoredBytes = {
  readonly sha256: Buffer
  readonly bytes: number
  readonly parts: number
}

/** The file exceeds the size limit. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge'
}

/** The place of a part. The digest of the whole file shows parts that changed places. */
const placeOf = (id: string, fileId: string) =>
  ({ table: 'settlement_part', id, ownerId: fileId }) as const

/**
 * Stores a stream. Memory holds one part at a time.
 *
 * @throws FileTooLarge; the stored parts are deleted by the housekeeping.
 */
export async function storeBytes(
  { lanes, vault }: Pick<Engine, 'lanes' | 'vault'>,
  fileId: string,
  stream: AsyncIterable<Uint8Array>,
): Promise<StoredBytes> {
  const hash = createHash('sha256')
  let bytes = 0
  let parts = 0
  let pending: Uint8Array[] = []
  let size = 0
  const flush = async (chunk: Buffer) => {
    const id = newId()
    const { dataKeyId, sealed } = vault.sealBytes(placeOf(id, fileId), chunk)
    await lanes.upkeep(addPart(id, fileId, parts, dataKeyId, sealed))
    parts += 1
  }
  for await (const chunk of stream) {
    hash.update(chunk)
    bytes += chunk.length
    if (bytes > limits.settlementFileBytes) throw new FileTooLarge('the file is too large')
    pending.push(chunk)
    size += chunk.length
    if (size < limits.settlementPartBytes) continue
    let all = Buffer.concat(pending)
    for (
      ;
      all.length >= limits.settlementPartBytes;
      all = all.subarray(limits.settlementPartBytes)
    ) {
      await flush(all.subarray(0, limits.settlementPartBytes))
    }
    pending = [all]
    size = all.length
  }
  if (size > 0) await flush(Buffer.concat(pending))
  return { sha256: hash.digest(), bytes, parts }
}

/**
 * Reads the bytes of a stored file.
 *
 * @throws Error when a part is missing, because the file is older than 90 days, and when the parts are not
 * the bytes that arrived.
 */
export async function* readBytes(
  { lanes, vault }: Pick<Engine, 'lanes' | 'vault'>,
  fileId: string,
  { parts, sha256 }: Pick<StoredBytes, 'parts' | 'sha256'>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for (let no = 0; no < parts; no += 1) {
    const [part] = await lanes.upkeep(partOf(fileId, no))
    if (part === undefined) throw new Error(`part ${no} of settlement file ${fileId} is gone`)
    const bytes = await vault.openBytes(placeOf(part.id, fileId), part.data_key_id, part.sealed)
    hash.update(bytes)
    yield bytes
  }
  if (!hash.digest().equals(sha256)) {
    throw new Error(`the stored bytes of settlement file ${fileId} are not those that arrived`)
  }
}
