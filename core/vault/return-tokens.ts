/**
 * Tokens in the URLs to which shoppers return. A token is derived from the key of the attempt and not
 * stored, so no crash can lose it.
 */
import { type KeyObject, timingSafeEqual } from 'node:crypto'
import { derive, mac } from '../crypto/cipher.ts'
import type { DataKey } from './keyring.ts'

/** The whole tab of the shopper, or a frame in the page of the merchant. */
export type ReturnPlace = 'tab' | 'frame'

export class ReturnTokens {
  readonly #key: KeyObject
  readonly #earlier: readonly KeyObject[]

  /** @param earlier Replaced digest keys, for shoppers who left before the replacement. */
  constructor(current: DataKey, earlier: readonly DataKey[]) {
    this.#key = derive(current.key, purpose)
    this.#earlier = earlier.map(({ key }) => derive(key, purpose))
  }

  /** 43 characters of `[A-Za-z0-9_-]`: 32 bytes. */
  of(attemptKey: string, place: ReturnPlace = 'tab'): string {
    return mac(this.#key, named(attemptKey, place)).toString('base64url')
  }

  /** The place that this token leads to; undefined for a token of something else. */
  placeOf(attemptKey: string, token: string): ReturnPlace | undefined {
    const given = Buffer.from(token, 'base64url')
    // Another spelling of the same bytes is refused.
    if (given.toString('base64url') !== token) return undefined
    return places.find((place) =>
      [this.#key, ...this.#earlier].some((key) => {
        const right = mac(key, named(attemptKey, place))
        return right.length === given.length && timingSafeEqual(right, given)
      }),
    )
  }
}

const places = ['tab', 'frame'] as const

/** No key of an attempt holds a blank. */
const named = (attemptKey: string, place: ReturnPlace) =>
  place === 'tab' ? attemptKey : `${place} ${attemptKey}`

const purpose = 'shopper return'
