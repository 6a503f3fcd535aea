/** Fingerprints identify a merchant's accounts without their numbers. */
import type { KeyObject } from 'node:crypto'
import { derive, mac } from '../crypto/cipher.ts'
import type { Lanes } from '../db/lanes.ts'
import type { DataKey, Keyring } from './keyring.ts'
import { allDataKeys } from './store.ts'

const purpose = 'fingerprint of a merchant'

/** The number that an account is known by, and the field that it stands in. */
export type KnownBy = { readonly field: string; readonly number: string }

/** The form of cards, and of every account that an earlier version stored. */
const madeOfNumber = (key: KeyObject, merchantId: string, { number }: KnownBy): Buffer =>
  mac(key, `${merchantId}\n${number}`)

/** A card's number in the field of another account makes another fingerprint: it tells nothing about the card. */
const made = (key: KeyObject, merchantId: string, { field, number }: KnownBy): Buffer =>
  field === 'card.number'
    ? madeOfNumber(key, merchantId, { field, number })
    : mac(key, `${merchantId}\n${field}\n${number}`)

const isMade = (key: KeyObject, merchantId: string, by: KnownBy, fingerprint: Buffer): boolean =>
  made(key, merchantId, by).equals(fingerprint) ||
  madeOfNumber(key, merchantId, by).equals(fingerprint)

export class Fingerprints {
  readonly #lanes: Lanes
  readonly #keyring: Keyring
  readonly #key: KeyObject

  constructor(lanes: Lanes, keyring: Keyring, dataKey: DataKey) {
    this.#lanes = lanes
    this.#keyring = keyring
    this.#key = derive(dataKey.key, purpose)
  }

  of(merchantId: string, by: KnownBy): Buffer {
    return made(this.#key, merchantId, by)
  }

  /**
   * Whether this account was stored for this merchant, also by an earlier version or under a digest key of
   * before. Only where the current one says no are those asked for: what is charged every day waits for
   * nothing.
   */
  async isOf(merchantId: string, by: KnownBy, fingerprint: Buffer): Promise<boolean> {
    if (isMade(this.#key, merchantId, by, fingerprint)) return true
    for (const row of await this.#lanes.read(allDataKeys)) {
      if (row.purpose !== 'mac' || row.state === 'current') continue
      const before = await this.#keyring.get(row.id).catch(() => undefined)
      if (before === undefined) continue
      if (isMade(derive(before.key, purpose), merchantId, by, fingerprint)) return true
    }
    return false
  }
}
