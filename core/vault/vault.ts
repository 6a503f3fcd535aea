import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import type { Lanes } from '../db/lanes.ts'
import { newId } from '../ids.ts'
import { decrypt, encrypt, type KeyProvider } from './keys.ts'
import { addDataKey, allDataKeys, type DataKeyRow, dataKeyById, instrumentById } from './store.ts'

/** Sealed numbers of one instrument and the key they are under. */
export type SealedInstrument = { dataKeyId: string; sealed: Buffer; fingerprint: Buffer }

/**
 * Numbers of class *pan*, sealed with AES-256-GCM under a data key that is itself wrapped by a
 * key-encryption key. Bound to the id of the record they belong to: moved elsewhere, they do not open.
 */
export class Vault {
  readonly #lanes: Lanes
  readonly #keys: KeyProvider
  readonly #dataKeys = new Map<string, KeyObject>()
  readonly #current: { id: string; key: KeyObject }
  readonly #fingerprintKey: KeyObject
  readonly #requestKey: KeyObject
  readonly #acquirerKey: KeyObject

  private constructor(
    lanes: Lanes,
    keys: KeyProvider,
    current: { id: string; key: KeyObject },
    mac: KeyObject,
  ) {
    this.#lanes = lanes
    this.#keys = keys
    this.#current = current
    this.#dataKeys.set(current.id, current.key)
    this.#fingerprintKey = derive(mac, 'instrument fingerprint')
    this.#requestKey = derive(mac, 'request fingerprint')
    this.#acquirerKey = derive(mac, 'acquirer key')
  }

  /**
   * Opens the vault of this database; the first process of a new database makes its data keys.
   *
   * @throws MissingKeyError when the database was made with keys that `keys` does not hold.
   */
  static async start(lanes: Lanes, keys: KeyProvider): Promise<Vault> {
    let rows = await inUse(lanes)
    for (const purpose of ['mac', 'seal'] as const) {
      if (rows.some((row) => row.purpose === purpose)) continue
      const { keyId, wrapped } = await keys.wrap(randomBytes(32))
      await lanes.single(addDataKey(newId(), purpose, keyId, wrapped))
      rows = await inUse(lanes)
    }
    const unwrap = async (purpose: string) => {
      const row = rows.find((candidate) => candidate.purpose === purpose)!
      return {
        id: row.id,
        key: createSecretKey(await keys.unwrap(row.key_encryption_key_id, row.wrapped)),
      }
    }
    const mac = await unwrap('mac')
    return new Vault(lanes, keys, await unwrap('seal'), mac.key)
  }

  /** Seals `secret` (JSON) for the record `id`. `number` feeds the keyed fingerprint. */
  seal(id: string, secret: Readonly<Record<string, string>>, number: string): SealedInstrument {
    const { id: dataKeyId, key } = this.#current
    const sealed = encrypt(key, Buffer.from(JSON.stringify(secret)), Buffer.from(id, 'hex'))
    return { dataKeyId, sealed, fingerprint: mac(this.#fingerprintKey, number) }
  }

  /** The sealed values of the record `id`, or undefined when they were erased. */
  async unseal(id: string): Promise<Record<string, string> | undefined> {
    const [row] = await this.#lanes.read(instrumentById(id))
    return row === undefined ? undefined : this.open(id, row.data_key_id, row.sealed)
  }

  /** Opens what was sealed for the record `id`. */
  async open(id: string, dataKeyId: string, sealed: Buffer): Promise<Record<string, string>> {
    const key = await this.#dataKey(dataKeyId)
    return JSON.parse(decrypt(key, sealed, Buffer.from(id, 'hex')).toString())
  }

  async #dataKey(id: string): Promise<KeyObject> {
    const known = this.#dataKeys.get(id)
    if (known !== undefined) return known
    const [row] = await this.#lanes.read(dataKeyById(id))
    if (row === undefined) throw new Error(`data key ${id} is missing`)
    const key = createSecretKey(await this.#keys.unwrap(row.key_encryption_key_id, row.wrapped))
    this.#dataKeys.set(id, key)
    return key
  }

  /** Keyed digest of a request, to compare repeats under one idempotency key. */
  requestFingerprint(canonical: string): Buffer {
    return mac(this.#requestKey, canonical)
  }

  /**
   * The acquirer's idempotency key of a keyed request, the same again even after its rows were
   * lost: 64 hex digits of HMAC over entity, idempotency key and attempt number.
   */
  acquirerKey(entityId: string, idempotencyKey: string, attemptNo: number): string {
    return mac(this.#acquirerKey, `${entityId}\n${attemptNo}\n${idempotencyKey}`).toString('hex')
  }
}

async function inUse(lanes: Lanes): Promise<DataKeyRow[]> {
  return (await lanes.single(allDataKeys)).filter((row) => row.retired_at === null)
}

function derive(key: KeyObject, purpose: string): KeyObject {
  const derived = hkdfSync('sha256', key, Buffer.alloc(0), `tollgate ${purpose}`, 32)
  return createSecretKey(Buffer.from(derived))
}

function mac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
