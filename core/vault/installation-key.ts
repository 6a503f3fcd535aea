/**
 * The key that acquirers' keys derive from. A merchant who moves to another pod keeps the keys of the acquirers, so
 * all pods of an installation have the same one. A single database derives it from its own key of digests,
 * and stores it only when there is a second pod: its bytes stay the same.
 */
import type { KeyObject } from 'node:crypto'
import { derive, mac } from '../crypto/cipher.ts'
import type { Lanes } from '../db/lanes.ts'
import { newId } from '../ids.ts'
import type { DataKey, Keyring } from './keyring.ts'
import type { BoundedKeys } from './providers.ts'
import { type CurrentKeys, currentKeys } from './start-keys.ts'
import { addDataKey, type DataKeyRow } from './store.ts'

/** The key of an installation as its databases store it: wrapped by the key provider of all pods. */
export type InstallationKey = {
  readonly id: string
  readonly keyEncryptionKeyId: string
  readonly wrapped: Buffer
}

/** The place of a database in an installation of several. */
export type PodPlace = {
  /** 0 to 49, permanently. A database without pods is pod 0. */
  readonly number: number
  /** The key of the installation, from another pod. A pod other than 0 needs it at its first start. */
  readonly installationKey?: InstallationKey
}

const purpose = 'acquirer'

/** Where the database stores no key: derived from the key of digests. */
const derivedKey = (digests: DataKey): KeyObject => derive(digests.key, 'acquirer key')

/** Makes the idempotency keys of acquirers. */
export class AcquirerKeys {
  readonly #key: KeyObject
  /** The data key behind them. */
  under: DataKey

  /** @param stored Undefined where the key is derived. */
  constructor(digests: DataKey, stored: DataKey | undefined) {
    this.under = stored ?? digests
    this.#key = stored?.key ?? derivedKey(digests)
  }

  /** 64 hex digits. */
  of(entityId: string, idempotencyKey: string, attemptNo: number): string {
    return mac(this.#key, `${entityId}\n${attemptNo}\n${idempotencyKey}`).toString('hex')
  }

  /** Opens the data key again in time. */
  async renew(keyring: Keyring): Promise<void> {
    this.under = await keyring.get(this.under.id)
  }
}

/**
 * The stored key; undefined where it is derived, in pod 0.
 *
 * @throws Error when the pod has no key yet and none is given, or belongs to another installation.
 */
export async function openInstallationKey(
  lanes: Lanes,
  keyring: Keyring,
  current: CurrentKeys,
  { number, installationKey: given }: PodPlace,
): Promise<DataKey | undefined> {
  const row = current.get(purpose) ?? (await take(lanes, number, given))
  if (given !== undefined && row?.id !== given.id) {
    throw new Error(
      `This database of pod ${number} belongs to another installation: its key for acquirers is another one.`,
    )
  }
  return row === undefined ? undefined : keyring.get(row.id, row)
}

/** A new pod keeps the key of the other pods. */
async function take(
  lanes: Lanes,
  number: number,
  given: InstallationKey | undefined,
): Promise<DataKeyRow | undefined> {
  // Pod 0 has made the key, or nobody has.
  if (number === 0) return undefined
  if (given === undefined) {
    throw new Error(
      `Pod ${number} is new, and needs the key of its installation: start it together with another pod of the installation, pod 0 the first time.`,
    )
  }
  await lanes.single(addDataKey(given.id, purpose, given.keyEncryptionKeyId, given.wrapped))
  return (await currentKeys(lanes)).get(purpose)
}

/** The stored key for another pod. Pod 0 stores its derived one now, unless it has done so before. */
export async function storedKey(
  lanes: Lanes,
  keys: BoundedKeys,
  digests: DataKey,
): Promise<InstallationKey> {
  const found = (await currentKeys(lanes)).get(purpose) ?? (await store(lanes, keys, digests))
  const { id, key_encryption_key_id: keyEncryptionKeyId, wrapped } = found
  return { id, keyEncryptionKeyId, wrapped }
}

async function store(lanes: Lanes, keys: BoundedKeys, digests: DataKey): Promise<DataKeyRow> {
  const bytes = derivedKey(digests).export()
  const { keyId, wrapped } = await keys.wrap(bytes)
  bytes.fill(0)
  await lanes.single(addDataKey(newId(), purpose, keyId, wrapped))
  return (await currentKeys(lanes)).get(purpose)!
}
