import type { Log } from '@tollgate/plugin-kit'
import type { Clock } from '../clock.ts'
import { keyOf } from '../crypto/cipher.ts'
import type { Lanes } from '../db/lanes.ts'
import type { Binding } from './binding.ts'
import { KeyProviderError, MissingKeyError } from './keys.ts'
import type { BoundedKeys } from './providers.ts'
import { type DataKeyRow, dataKeyById } from './store.ts'

/** A data key that is open in this process. */
export type DataKey = Binding & {
  /** The bytes that it was opened from. */
  readonly wrapped: Buffer
  /** When the key-encryption key opened it last, on the monotonic clock. */
  readonly openedMs: number
  /** When the next try to open it again is due. */
  dueMs: number
}

const failureMs = 2_000
const retryMs = 30_000

/**
 * Data keys, unwrapped and kept for a bounded time, so that no payment waits for the key provider.
 * The keyring opens them again in the background after a quarter of that time. So a shorter outage of the
 * provider delays no payment, and a withdrawn key opens nothing after that time.
 */
export class Keyring {
  readonly #lanes: Lanes
  readonly #keys: BoundedKeys
  readonly #clock: Clock
  readonly #log: Log
  readonly #keepMs: number
  readonly #open = new Map<string, DataKey>()
  readonly #opening = new Map<string, Promise<DataKey>>()
  readonly #failed = new Map<string, { error: unknown; untilMs: number }>()
  /** Keys that this process was not given, by the last try. */
  readonly #missing = new Set<string>()
  readonly #closed = new Set<string>()

  constructor(parts: { lanes: Lanes; keys: BoundedKeys; clock: Clock; log: Log; keepMs: number }) {
    this.#lanes = parts.lanes
    this.#keys = parts.keys
    this.#clock = parts.clock
    this.#log = parts.log
    this.#keepMs = parts.keepMs
  }

  /** Whether this key may still be used. */
  isFresh(key: DataKey): boolean {
    return this.#clock.elapsedMs() - key.openedMs < this.#keepMs
  }

  /**
   * The data key, from memory or opened now.
   *
   * @throws MissingKeyError when the key is missing or does not open.
   * @throws KeyProviderError when the key cannot be opened now.
   */
  async get(id: string, row?: DataKeyRow): Promise<DataKey> {
    const known = this.#open.get(id)
    if (known !== undefined && this.isFresh(known)) return known
    return this.#anew(id, row)
  }

  /**
   * The same, as the row wraps the key now: a process that cannot open a new wrapping learns it at once, although
   * the key is in memory.
   */
  async follow(row: DataKeyRow): Promise<DataKey> {
    const isSame = this.#open.get(row.id)?.wrapped.equals(row.wrapped) === true
    return isSame && !this.#missing.has(row.id) ? this.get(row.id, row) : this.#anew(row.id, row)
  }

  async #anew(id: string, row: DataKeyRow | undefined): Promise<DataKey> {
    const failed = this.#failed.get(id)
    if (failed !== undefined && this.#clock.elapsedMs() < failed.untilMs) throw failed.error
    const running = this.#opening.get(id)
    if (running !== undefined) return running
    const opening = this.#unwrap(id, row).finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async #unwrap(id: string, given?: DataKeyRow): Promise<DataKey> {
    try {
      const row = given ?? (await this.#lanes.read(dataKeyById(id)))[0]
      if (row === undefined) throw new MissingKeyError(id, `There is no data key ${id}.`)
      if (row.state === 'destroyed') {
        throw new MissingKeyError(id, `The data key ${id} was destroyed by an operator.`)
      }
      // The time before the request, so that a withdrawal during the request is noticed in time.
      const openedMs = this.#clock.elapsedMs()
      const bytes = await this.#keys
        .unwrap(row.key_encryption_key_id, row.wrapped)
        .catch(named(row))
      if (row.state === 'retired') this.#closed.add(id)
      const closed = this.#closed.has(id)
      const dueMs = openedMs + this.#keepMs / 4
      const { format, wrapped } = row
      const key = { id, key: keyOf(bytes), format, closed, wrapped, openedMs, dueMs }
      this.#open.set(id, key)
      this.#failed.delete(id)
      this.#missing.delete(id)
      return key
    } catch (error) {
      // Many payments with a lost key must not cause as many requests to the provider.
      this.#failed.set(id, { error, untilMs: this.#clock.elapsedMs() + failureMs })
      if (error instanceof MissingKeyError) this.#missing.add(id)
      throw error
    }
  }

  /** A rotation has proven that no row is under this key. This is permanent. */
  close(id: string): void {
    this.#closed.add(id)
    const known = this.#open.get(id)
    if (known !== undefined && !known.closed) this.#open.set(id, { ...known, closed: true })
  }

  /** Opens keys again after a while, and forgets keys that did not open for too long. */
  async refresh(): Promise<void> {
    for (const key of [...this.#open.values()]) {
      if (this.#clock.elapsedMs() < key.dueMs) continue
      try {
        await this.#unwrap(key.id)
      } catch (error) {
        const nowMs = this.#clock.elapsedMs()
        const isGone = error instanceof MissingKeyError && error.keyId === key.id
        if (isGone || !this.isFresh(key)) this.#open.delete(key.id)
        if (isGone) continue
        key.dueMs = nowMs + Math.min(retryMs, this.#keepMs / 20)
        const leftMs = Math.max(0, key.openedMs + this.#keepMs - nowMs)
        this.#log.warn(
          { dataKey: key.id, why: wordOf(error), secondsLeft: Math.round(leftMs / 1000) },
          'a data key could not be opened again; it is used from memory until its time is up',
        )
      }
    }
  }
}

/** Adds the data key to a provider's error. */
function named(row: DataKeyRow): (error: unknown) => never {
  return (error) => {
    const which = `Data key ${row.id} is wrapped by key "${row.key_encryption_key_id}".`
    if (error instanceof MissingKeyError) {
      throw new MissingKeyError(error.keyId, `${error.message} ${which}`)
    }
    if (error instanceof KeyProviderError) throw new KeyProviderError(`${error.message} ${which}`)
    throw error
  }
}

/** The message of an error of the engine, which contains no secret. Of other errors, the kind. */
export function wordOf(error: unknown): string {
  if (error instanceof MissingKeyError || error instanceof KeyProviderError) return error.message
  return error instanceof Error ? error.constructor.name : typeof error
}
