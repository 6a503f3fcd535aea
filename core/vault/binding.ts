/** Binds a sealed value to its row by authenticated data, so that it opens in no other row. */
import type { KeyObject } from 'node:crypto'
import { decrypt } from '../crypto/cipher.ts'
import type { Purpose } from './store-sealed.ts'

/** The row of a sealed value, and its owner. */
export type Place = {
  readonly table: Purpose
  /** The id of the row. The instrument of a payment has the id of the payment. */
  readonly id: string
  /** The channel of an instrument or acquirer account, the entity of a webhook endpoint, the id of a person. */
  readonly ownerId: string
  /** The registration that the payment of the instrument created or used. */
  readonly registrationId?: string | null
}

/** The parts of a data key that binding needs. */
export type Binding = {
  readonly id: string
  readonly key: KeyObject
  /** The format in the key's row, which is not protected: only a hint which older bindings to try. */
  readonly format: number
  /** A rotation has proven that no value of an older format is left under the key. */
  readonly closed: boolean
}

/** Format 3, the only one that is sealed in. Ids have 32 characters, so no two places read alike. */
export const boundTo = ({ id: keyId }: Pick<Binding, 'id'>, place: Place): Buffer =>
  Buffer.from(
    `tollgate 3 ${place.table} ${keyId} ${place.id} ${place.ownerId} ${place.registrationId ?? '-'}`,
  )

/**
 * Older bindings: 1 the id of the row, 2 also table and data key. The column alone does not decide:
 * a value opens only in the format of its seal, and keys made for format 3 never sealed an older
 * format, regardless of their rows.
 */
function boundBefore({ id: keyId, format, closed }: Binding, { table, id }: Place): Buffer[] {
  if (format >= 3 || (closed && table === 'instrument')) return []
  const row = Buffer.from(id, 'hex')
  return [format === 1 ? row : Buffer.concat([Buffer.from(`tollgate ${table} ${keyId} `), row])]
}

/** @throws Error when the key, the bytes or the place do not fit. */
export function opened(key: Binding, place: Place, sealed: Buffer): Buffer {
  try {
    return decrypt(key.key, sealed, boundTo(key, place))
  } catch (error) {
    for (const before of boundBefore(key, place)) return decrypt(key.key, sealed, before)
    throw error
  }
}
