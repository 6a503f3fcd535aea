/** Published report files, as the engine stores them. */
import { createHash } from 'node:crypto'
import { newId } from '../../core/index.ts'
import type { TestGateway } from './gateway.ts'

export type Published = { readonly id: string; readonly name: string; readonly bytes: Buffer }

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest()
let count = 0

/**
 * Publishes a file of an entity in one commit, with parts of up to 64 KiB.
 *
 * @param raw the form without the guard against formulas, if it differs; at most as long
 */
export async function publishReport(
  { sql }: Pick<TestGateway, 'sql'>,
  entityId: string,
  bytes: Buffer,
  { name, raw = bytes }: { readonly name?: string; readonly raw?: Buffer } = {},
): Promise<Published> {
  const id = newId()
  count += 1
  const no = count
  const file = { id, name: name ?? `report-${String(no).padStart(5, '0')}.csv`, bytes }
  const size = 65_536
  const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, part) => part)
  for (const part of parts) {
    const of = (all: Buffer) => all.subarray(part * size, (part + 1) * size)
    await sql(
      'insert into tollgate.report_part (file_id, no, bytes, raw) values ($1::uuid, $2, $3, $4)',
      [id, part, of(bytes), raw === bytes ? null : of(raw)],
    )
  }
  await sql(
    `insert into tollgate.report_file
       (id, entity_id, no, name, sha256, raw_sha256, bytes, raw_bytes_count, rows, made_at)
     values ($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8, 1, now())`,
    [id, entityId, no, file.name, sha256(bytes), sha256(raw), bytes.length, raw.length],
  )
  return file
}
