import type { KeyObject } from 'node:crypto'
import type { Log } from '@tollgate/plugin-kit'
import { systemClock } from '../clock.ts'
import { derive, encrypt } from '../crypto/cipher.ts'
import { isUnavailable } from '../db/failures.ts'
import type { Lanes } from '../db/lanes.ts'
import { GatewayError } from '../errors.ts'
import { boundTo, opened, type Place } from './binding.ts'
import { Fingerprints, type KnownBy } from './fingerprints.ts'
import { IdempotencyKeys, type RequestDigests } from './idempotency-keys.ts'
import {
  AcquirerKeys,
  type InstallationKey,
  openInstallationKey,
  type PodPlace,
  storedKey,
} from './installation-key.ts'
import { KeyWatch } from './key-watch.ts'
import { type DataKey, Keyring, wordOf } from './keyring.ts'
import { type KeyProvider, MissingKeyError } from './keys.ts'
import { type BoundedKeys, bounded } from './providers.ts'
import { lost, unavailable } from './refusals.ts'
import { ReturnTokens } from './return-tokens.ts'
import { makeMissing, openEarlier } from './start-keys.ts'
import { type DataKeyRow, instrumentById, instrumentsById } from './store.ts'
import type { VaultOptions } from './vault-options.ts'

/** A sealed value and the key it is under. */
export type Sealed = { dataKeyId: string; sealed: Buffer }

/** The result for one of several values: absent after its erasure, or the error. */
export type Unsealed = Record<string, string> | GatewayError | undefined

/** The purpose of the audit trail's chain keys. */
export const chainPurpose = 'audit trail'

/** The interval at which a process looks at the data keys. */
const lookEveryMs = 1_000
const defaultKeepMs = 4 * 3_600_000
const silent: Log = { info() {}, warn() {} }
const onlyPod: PodPlace = { number: 0 }

/**
 * Numbers of class *pan* and secrets of merchant accounts, sealed with AES-256-GCM under a data key
 * that is itself wrapped by a key-encryption key. Bound to the row, the channel and the registration
 * they belong to: moved elsewhere, or pointed at by another registration, they do not open. Sealing and
 * opening use data keys from memory; the key provider is asked at the start, in the background, and for
 * data keys that this process has not met.
 */
export class Vault {
  readonly #lanes: Lanes
  readonly #keys: BoundedKeys
  readonly #keyring: Keyring
  readonly #log: Log
  readonly #watch: KeyWatch
  #mac: DataKey
  readonly #fingerprints: Fingerprints
  readonly #idempotency: IdempotencyKeys
  /** Under digest keys that were replaced while rows under them still live. */
  readonly #earlier: readonly IdempotencyKeys[]
  readonly #acquirer: AcquirerKeys
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined
  /** Tokens of the addresses that shoppers come back to. */
  readonly returnTokens: ReturnTokens

  private constructor(parts: {
    lanes: Lanes
    keys: BoundedKeys
    keyring: Keyring
    log: Log
    watch: KeyWatch
    mac: DataKey
    earlier: readonly DataKey[]
    /** Undefined where the keys of acquirers derive from `mac`. */
    installation: DataKey | undefined
  }) {
    this.#lanes = parts.lanes
    this.#keys = parts.keys
    this.#keyring = parts.keyring
    this.#log = parts.log
    this.#watch = parts.watch
    this.#mac = parts.mac
    this.#fingerprints = new Fingerprints(parts.lanes, parts.keyring, parts.mac)
    this.#idempotency = new IdempotencyKeys(parts.mac)
    this.#earlier = parts.earlier.map((key) => new IdempotencyKeys(key))
    this.#acquirer = new AcquirerKeys(parts.mac, parts.installation)
    this.returnTokens = new ReturnTokens(parts.mac, parts.earlier)
  }

  /**
   * Opens the vault of this database; the first process of a new database makes its data keys.
   *
   * @throws MissingKeyError when the database was made with keys that `provider` does not hold ·
   * KeyProviderError when it cannot be asked · Error for a pod of another installation.
   */
  static async start(
    lanes: Lanes,
    provider: KeyProvider,
    options: VaultOptions = {},
  ): Promise<Vault> {
    const { clock = systemClock, log = silent, keepMs = defaultKeepMs, pod = onlyPod } = options
    const keys = bounded(provider)
    const keyring = new Keyring({ lanes, keys, clock, log, keepMs })
    const watch = new KeyWatch({ lanes, keys, keyring, log })
    await watch.begin()
    try {
      const rows = await makeMissing(lanes, keys)
      const openRow = (row: DataKeyRow) => keyring.get(row.id, row)
      const mac = await openRow(rows.get('mac')!)
      const earlier = await openEarlier(lanes, keyring, log)
      watch.current = await openRow(rows.get('seal')!)
      const installation = await openInstallationKey(lanes, keyring, rows, pod)
      const vault = new Vault({ lanes, keys, keyring, log, watch, mac, earlier, installation })
      await vault.check()
      vault.#timer = setInterval(() => void vault.check(), lookEveryMs)
      vault.#timer.unref()
      return vault
    } catch (error) {
      await watch.end()
      throw error
    }
  }

  /** Seals `secret` (JSON) for the place that it stands in. */
  seal(place: Place, secret: Readonly<Record<string, string>>): Sealed {
    return this.sealBytes(place, Buffer.from(JSON.stringify(secret)))
  }

  /** The same for bytes: a part of a file. */
  sealBytes(place: Place, plain: Buffer): Sealed {
    const current = this.#fresh(this.#watch.current)
    return { dataKeyId: current.id, sealed: encrypt(current.key, plain, boundTo(current, place)) }
  }

  /**
   * The same for the same number in the same field, of one merchant. Those of two merchants, and of two
   * kinds of account, have nothing in common.
   */
  fingerprint(merchantId: string, by: KnownBy): Buffer {
    this.#fresh(this.#mac)
    return this.#fingerprints.of(merchantId, by)
  }

  /** Whether a fingerprint is that of this account, for this merchant and for no other. */
  isFingerprint(merchantId: string, by: KnownBy, fingerprint: Buffer): Promise<boolean> {
    return this.#fingerprints.isOf(merchantId, by, fingerprint)
  }

  /** The sealed values of an instrument, or undefined when they were erased. */
  async unseal(place: Place): Promise<Record<string, string> | undefined> {
    const [row] = await this.#lanes.read(instrumentById(place.id))
    return row === undefined ? undefined : this.open(place, row.data_key_id, row.sealed)
  }

  /**
   * The sealed values for each of these places, in their order: two that name one row are two
   * questions, and only the rightful one is answered. One that does not open is its error, so that it
   * keeps none of the others shut.
   */
  async unsealAll(places: readonly Place[]): Promise<Unsealed[]> {
    const ids = [...new Set(places.map(({ id }) => id))]
    const rows = ids.length === 0 ? [] : await this.#lanes.read(instrumentsById(ids))
    const byId = new Map(rows.map((row) => [row.id, row]))
    return Promise.all(
      places.map(async (place): Promise<Unsealed> => {
        const row = byId.get(place.id)
        if (row === undefined) return undefined
        try {
          return await this.open(place, row.data_key_id, row.sealed)
        } catch (error) {
          if (error instanceof GatewayError) return error
          throw error
        }
      }),
    )
  }

  /**
   * Opens what was sealed for a place.
   *
   * @throws GatewayError 600.100.100: with status 503 when the key cannot be asked for now, with 500
   * when it is lost or the value does not belong to this row. The log names the keys.
   */
  async open(place: Place, dataKeyId: string, sealed: Buffer): Promise<Record<string, string>> {
    return JSON.parse((await this.openBytes(place, dataKeyId, sealed)).toString())
  }

  /** The same for bytes. */
  async openBytes(place: Place, dataKeyId: string, sealed: Buffer): Promise<Buffer> {
    const { table, id } = place
    let key: DataKey
    try {
      key = await this.#keyring.get(dataKeyId)
    } catch (error) {
      if (isUnavailable(error)) throw error
      this.#log.warn(
        { row: id, dataKey: dataKeyId, why: wordOf(error) },
        'a sealed value stays shut',
      )
      throw error instanceof MissingKeyError ? lost() : unavailable()
    }
    try {
      return opened(key, place, sealed)
    } catch {
      this.#log.warn(
        {
          row: id,
          table,
          dataKey: dataKeyId,
          owner: place.ownerId,
          registration: place.registrationId ?? null,
        },
        'a sealed value does not open: it was changed, or it belongs to another row, channel or registration',
      )
      throw lost()
    }
  }

  /** Keyed digest of a request, to compare repeats under one idempotency key. */
  requestFingerprint(canonical: string): Buffer {
    this.#fresh(this.#mac)
    return this.#idempotency.fingerprintOf(canonical)
  }

  /**
   * A keyed request in the form in which it is stored. Further ones, if any, are how it may have been stored
   * before the digest key was replaced.
   */
  requestDigests(
    entityId: string,
    idempotencyKey: string,
    canonical: string,
  ): readonly [RequestDigests, ...RequestDigests[]] {
    this.#fresh(this.#mac)
    const under = (keys: IdempotencyKeys) => ({
      key: keys.keyOf(entityId, idempotencyKey),
      fingerprint: keys.fingerprintOf(canonical),
    })
    return [under(this.#idempotency), ...this.#earlier.map(under)]
  }

  /** The stored digest of an Idempotency-Key. */
  idempotencyKey(entityId: string, idempotencyKey: string): Buffer {
    this.#fresh(this.#mac)
    return this.#idempotency.keyOf(entityId, idempotencyKey)
  }

  /**
   * The acquirer's idempotency key of a keyed request, the same again even after its rows were
   * lost: 64 hex digits of HMAC over entity, idempotency key and attempt number.
   */
  acquirerKey(entityId: string, idempotencyKey: string, attemptNo: number): string {
    this.#fresh(this.#acquirer.under)
    return this.#acquirer.of(entityId, idempotencyKey, attemptNo)
  }

  /** The key behind the keys of acquirers, for another pod of this installation. */
  installationKey(): Promise<InstallationKey> {
    return storedKey(this.#lanes, this.#keys, this.#fresh(this.#mac))
  }

  /**
   * The key that links of the audit trail are made with, derived from the data key of digests: the
   * current one, or the one that links of before were made with.
   *
   * @throws MissingKeyError · KeyProviderError
   */
  async chainKey(dataKeyId: string = this.#mac.id): Promise<{ id: string; key: KeyObject }> {
    const { id, key } = await this.#keyring.get(dataKeyId)
    return { id, key: derive(key, chainPurpose) }
  }

  /** @throws GatewayError when the key provider was away for longer than keys are kept. */
  #fresh(key: DataKey): DataKey {
    if (this.#keyring.isFresh(key)) return key
    throw unavailable()
  }

  /** Which current key this process cannot open any more: it works from memory until the key's time is up. */
  whyShut(): string | undefined {
    return this.#watch.whyShut()
  }

  /** Follows the data keys of the database, and reopens cached keys in time. The next check repeats a failure. */
  check(): Promise<void> {
    this.#checking ??= this.#check()
      .catch((error: unknown) => {
        if (isUnavailable(error)) return
        this.#log.warn({ why: wordOf(error) }, 'the keys of the vault could not be checked')
      })
      .finally(() => {
        this.#checking = undefined
      })
    return this.#checking
  }

  async #check(): Promise<void> {
    await this.#watch.look()
    await this.#keyring.refresh()
    this.#watch.current = await this.#keyring.get(this.#watch.current.id)
    this.#mac = await this.#keyring.get(this.#mac.id)
    await this.#acquirer.renew(this.#keyring)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#checking
    await this.#watch.end()
  }
}
