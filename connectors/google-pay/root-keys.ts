/** The wallet's root keys: JSON documents with a public key per row, its version and its end. */
import { createPublicKey, type KeyObject } from 'node:crypto'

export type Version = 'ECv1' | 'ECv2' | 'ECv2SigningOnly'

/** Root keys of a version that are valid now. A row that cannot be read is no key. */
export function rootKeysOf(
  documents: readonly string[],
  version: Version,
  nowMs: number,
): readonly KeyObject[] {
  return documents.flatMap((text) => rowsIn(text).flatMap((row) => usable(row, version, nowMs)))
}

type Rows = readonly Readonly<Record<string, unknown>>[]

function rowsIn(text: string): Rows {
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown }
    return Array.isArray(keys)
      ? (keys.filter((row) => typeof row === 'object' && row !== null) as Rows)
      : []
  } catch {
    return []
  }
}

function usable(row: Rows[number], version: Version, nowMs: number): readonly KeyObject[] {
  const { keyValue, protocolVersion, keyExpiration } = row
  if (protocolVersion !== version || typeof keyValue !== 'string') return []
  // Keys of ECv1 may have no end; a key of a later version without one is not trusted for ever.
  const endMs = keyExpiration === undefined && version === 'ECv1' ? Infinity : timeOf(keyExpiration)
  if (endMs === undefined || endMs <= nowMs) return []
  const key = publicKey(keyValue)
  return key === undefined ? [] : [key]
}

/** Milliseconds since 1970, from the decimal text in which the wallet gives times. */
export function timeOf(text: unknown): number | undefined {
  return typeof text === 'string' && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined
}

/** A public key on P-256, from base64. */
export function publicKey(base64: string): KeyObject | undefined {
  try {
    const der = Buffer.from(base64, 'base64')
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    const isRight = key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    return isRight && der.toString('base64') === base64 ? key : undefined
  } catch {
    return undefined
  }
}
