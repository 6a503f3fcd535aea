/** Rows sealed by earlier versions, with fewer bindings. */

import { encrypt, keyOf } from '../../../core/crypto/cipher.ts'
import { localKeys } from '../../../core/index.ts'
import { type TestGateway, testKey } from '../../rig/gateway.ts'

/**
 * Seals a card number for a row in format 1 or 2 under the current key, and marks the key with that
 * format.
 */
export async function sealAsBefore(
  run: TestGateway,
  id: string,
  number: string,
  format: 1 | 2,
): Promise<Buffer> {
  const [row] = await run.sql<{ id: string; key_encryption_key_id: string; wrapped: Buffer }>(
    `select id, key_encryption_key_id, wrapped from tollgate.data_key where purpose = 'seal' and state = 'current'`,
  )
  const { id: keyId, key_encryption_key_id: kek, wrapped } = row!
  const key = keyOf(await localKeys(testKey).unwrap(kek, wrapped, new AbortController().signal))
  const plain = Buffer.from(JSON.stringify({ 'card.number': number }))
  const rowId = Buffer.from(id, 'hex')
  const bound = Buffer.concat([Buffer.from(`tollgate instrument ${keyId} `), rowId])
  const sealed = encrypt(key, plain, format === 1 ? rowId : bound)
  await run.sql('update tollgate.instrument set sealed = $2 where id = $1', [id, sealed])
  await run.sql('update tollgate.data_key set format = $2 where id = $1', [keyId, format])
  return sealed
}
