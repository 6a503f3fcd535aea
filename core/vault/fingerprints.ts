/** By what a merchant's accounts are known again without their numbers. */
import type { KeyObject } from 'node:crypto'
import { derive, mac } from '../crypto/cipher.ts'
import type { Lanes } from '../db/lanes.ts'
import type { DataKey, Keyring } from './keyring.ts'
import { allDataKeys } from './store.ts'

const purpose = 'fingerprint of a merchant'

const made = (key: KeyObject, merchantId: string, number: string): Buffer =>
  mac(key, `${merchantId}\n${number}`)

export class Fingerprints {
  readonly #lanes: Lanes
  readonly #keyring: Keyring
  readonly #key: KeyObject

  constructor(lanes: Lanes, keyring: Keyring, dataKey: DataKey) {
    this.#lanes = lanes
    this.#keyring = keyring
    this.#key = derive(dataKey.key, purpose)
  }

  of(merchantId: string, number: string): Buffer {
    return made(this.#key, merchantId, number)
  }

  /**
   * Whether this number was stored for this merchant, also under a digest key of before. Only where the
   * current one says no are those asked for: what is charged every day waits for nothing.
   */
  async isOf(merchantId: string, number: string, fingerprint: Buffer): Promise<boolean> {
    if (this.of(merchantId, number).equals(fingerprint)) return true
    for (const row of await this.#lanes.read(allDataKeys)) {
      if (row.purpose !== 'mac' || row.state === 'current') continue
      const before = await this.#keyring.get(row.id).catch(() => undefined)
      if (before === undefined) continue
      if (made(derive(before.key, purpose), merchantId, number).equals(fingerprint)) return true
    }
    return false
  }
}
