/**
 * Stores keyed digests instead of merchants' Idempotency-Keys, because a key may contain any text,
 * even a card number. A replaced digest key still finds its rows for their lifetime; otherwise a
 * repeat from before would be charged again.
 */
import type { KeyObject } from 'node:crypto'
import { derive, mac } from '../crypto/cipher.ts'
import type { DataKey } from './keyring.ts'

/** A keyed request, as one digest key sees it. */
export type RequestDigests = {
  /** Stands for the Idempotency-Key. */
  readonly key: Buffer
  /** Stands for method, path and parameters. */
  readonly fingerprint: Buffer
}

/** The digests of one data key of purpose `mac`. */
export class IdempotencyKeys {
  readonly #requests: KeyObject
  readonly #keys: KeyObject

  constructor(dataKey: DataKey) {
    this.#requests = derive(dataKey.key, 'request fingerprint')
    this.#keys = derive(dataKey.key, 'idempotency key')
  }

  /** 32 bytes; the same key of another entity is another one. */
  keyOf(entityId: string, idempotencyKey: string): Buffer {
    return mac(this.#keys, `${entityId}\n${idempotencyKey}`)
  }

  /** 32 bytes over the canonical form of a request, by which repeats are compared. */
  fingerprintOf(canonical: string): Buffer {
    return mac(this.#requests, canonical)
  }
}
