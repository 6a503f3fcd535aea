import { hostname } from 'node:os'
import type { Log } from '@tollgate/plugin-kit'
import type { Lanes } from '../db/lanes.ts'
import { newId } from '../ids.ts'
import { type DataKey, type Keyring, wordOf } from './keyring.ts'
import { MissingKeyError } from './keys.ts'
import type { BoundedKeys } from './providers.ts'
import { type DataKeyRow, endUse, type FollowedRow, showUse, type Use } from './store.ts'

const processName = `${hostname().slice(0, 60)} ${process.pid}`

/** A data key in use whose key-encryption key this process was not given. */
type ShutKey = Pick<DataKeyRow, 'id' | 'purpose' | 'state'> & {
  readonly keyEncryptionKeyId: string
}

/**
 * Follows the data keys of the database: takes the current one, opens new wrappings and probes, and says in the
 * database which keys this process uses and which ones it cannot open.
 */
export class KeyWatch {
  readonly #lanes: Lanes
  readonly #keys: BoundedKeys
  readonly #keyring: Keyring
  readonly #log: Log
  readonly #processId = newId()
  #current: DataKey | undefined
  #use: Use = { current: null, ready: null, probes: [], shut: [] }
  #shut: readonly ShutKey[] = []
  /** Probes that this process lacks the key for, by the last look. */
  #shutProbes: readonly string[] = []

  constructor(parts: { lanes: Lanes; keys: BoundedKeys; keyring: Keyring; log: Log }) {
    this.#lanes = parts.lanes
    this.#keys = parts.keys
    this.#keyring = parts.keyring
    this.#log = parts.log
  }

  /** Before it asks which key is current: a rotation from here on waits for this process. */
  async begin(): Promise<void> {
    await this.#show()
  }

  /** The key that this process seals with. */
  get current(): DataKey {
    return this.#current!
  }

  set current(key: DataKey) {
    this.#current = key
    this.#use = { ...this.#use, current: key.id }
  }

  /**
   * Why payments fail in this process as soon as the keys in its memory are too old; undefined while all current keys
   * open. The rows of a lost older key fail alone.
   */
  whyShut(): string | undefined {
    const key = this.#shut.find(({ state }) => state === 'current')
    return (
      key &&
      `This process cannot open data key ${key.id} (${key.purpose}): it lacks key "${key.keyEncryptionKeyId}".`
    )
  }

  async look(): Promise<void> {
    // Again when something changed: a rotation waits to see it.
    for (let before: string | undefined; before !== JSON.stringify(this.#use); ) {
      before = JSON.stringify(this.#use)
      await this.#follow(await this.#show())
    }
  }

  async end(): Promise<void> {
    await this.#lanes.single(endUse(this.#processId)).catch(() => {})
  }

  #show(): Promise<FollowedRow[]> {
    return this.#lanes.single(showUse(this.#processId, processName, this.#use))
  }

  async #follow(rows: readonly FollowedRow[]): Promise<void> {
    const shut: ShutKey[] = []
    const probes: string[] = []
    const shutProbes: string[] = []
    for (const { purpose, ...row } of rows) {
      if (row.state === 'retired') {
        this.#keyring.close(row.id)
        continue
      }
      try {
        if (purpose === 'probe') {
          if (!this.#use.probes.includes(row.id)) await this.#openProbe(row)
          probes.push(row.id)
          continue
        }
        const key = await this.#keyring.follow({ purpose, ...row })
        if (purpose !== 'seal') continue
        if (row.state === 'current') this.current = key
        else if (row.state === 'announced') this.#use = { ...this.#use, ready: row.id }
      } catch (error) {
        // A key that cannot be asked for now keeps no other one from being followed.
        const { id, state, key_encryption_key_id: keyEncryptionKeyId } = row
        const isMissing = error instanceof MissingKeyError
        if (isMissing && purpose === 'probe') {
          shutProbes.push(id)
          this.#tellProbe(id, keyEncryptionKeyId)
          continue
        }
        if (isMissing && purpose !== 'probe') shut.push({ id, purpose, state, keyEncryptionKeyId })
        if (isMissing && this.#use.shut.includes(id)) continue
        this.#log.warn(
          { dataKey: id, purpose, state, keyEncryptionKey: keyEncryptionKeyId, why: wordOf(error) },
          'a data key does not open',
        )
      }
    }
    this.#shut = shut
    this.#shutProbes = shutProbes
    this.#use = { ...this.#use, probes, shut: shut.map(({ id }) => id) }
  }

  /** Once for each command: nothing of the database is under that key yet. */
  #tellProbe(id: string, keyEncryptionKey: string): void {
    if (this.#shutProbes.includes(id)) return
    this.#log.warn(
      {
        keyEncryptionKey,
        why: `"tollgate keys rewrap" waits for this process, which cannot open what key "${keyEncryptionKey}" wraps.`,
      },
      'a new key-encryption key does not open here',
    )
  }

  async #openProbe(row: Pick<DataKeyRow, 'key_encryption_key_id' | 'wrapped'>): Promise<void> {
    const bytes = await this.#keys.unwrap(row.key_encryption_key_id, row.wrapped)
    bytes.fill(0)
  }
}
