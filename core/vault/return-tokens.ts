/**
 * Tokens in the URLs to which shoppers return. A token is derived from the key of the attempt and not
 * stored, so no crash can lose it.
 */
import { type KeyObject, timingSafeEqual } from 'node:crypto'
import { derive, mac } from '../crypto/cipher.ts'
import type { DataKey } from './keyring.ts'

export class ReturnTokens {
  readonly #key: KeyObject
  readonly #earlier: readonly KeyObject[]

  /** @param earlier Replaced digest keys, for shoppers who left before the replacement. */
  constructor(current: DataKey, earlier: readonly DataKey[]) {
    this.#key = derive(current.key, purpose)
    this.#earlier = earlier.map(({ key }) => derive(key, purpose))
  }

  /** 43 characters of `[A-Za-z0-9_-]`: 32 bytes. */
  of(attemptKey: string): string {
    return mac(this.#key, attemptKey).toString('base64url')
  }

  isOf(attemptKey: string, token: string): boolean {
    const given = Buffer.from(token, 'base64url')
    // Another spelling of the same bytes is refused.
    if (given.toString('base64url') !== token) return false
    return [this.#key, ...this.#earlier].some((key) => {
      const right = mac(key, attemptKey)
      return right.length === given.length && timingSafeEqual(right, given)
    })
  }
}

const purpose = 'shopper return'
