import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { actorBy, type By } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import { linksUnder } from '../audit-chain/store-chain.ts'
import { systemClock } from '../clock.ts'
import { Database, type DatabaseOptions, sqlState } from '../db/database.ts'
import { Lanes } from '../db/lanes.ts'
import { TwoPeople } from '../four-eyes/two-people.ts'
import { MigrationError } from '../migrate.ts'
import { Keyring, wordOf } from '../vault/keyring.ts'
import type { KeyProvider } from '../vault/keys.ts'
import { bounded } from '../vault/providers.ts'
import {
  aliveMs,
  allDataKeys,
  destroyDataKey,
  type KeyState,
  type UseRow,
  usesWithin,
  withdrawDataKey,
} from '../vault/store.ts'
import { ownerOfTables, rowsByKey } from '../vault/store-sealed.ts'
import { type KeyWork, RotationError } from './followers.ts'
import { type RewrapOptions, type Rewrapped, rewrap } from './rewrap.ts'
import { type RotateOptions, type Rotation, renewMac, retire, rotate } from './rotation.ts'

/** The status of a data key, for operators. */
export type KeyStatus = {
  readonly id: string
  readonly purpose: 'seal' | 'mac' | 'acquirer'
  readonly state: KeyState
  readonly keyEncryptionKeyId: string
  readonly createdAt: Date
  /** When the key became current, and when another key replaced it. */
  readonly promotedAt: Date | null
  readonly supersededAt: Date | null
  readonly retiredAt: Date | null
  readonly destroyedAt: Date | null
  /** Number of rows under the key; absent when not counted. */
  readonly rows?: number
  /** Why the key does not open with the given keys; absent when it opens, or was destroyed. */
  readonly problem?: string
}

export type KeysStatus = {
  readonly provider: string
  /** Why no key can be wrapped now; absent when wrapping works. */
  readonly providerProblem?: string
  readonly keys: readonly KeyStatus[]
  /** The user that owns the tables, and alone can retire a key; absent where this user can. */
  readonly owner?: string
  /** Running processes, the data key that each seals with, and the keys in use that it cannot open. */
  readonly processes: readonly Pick<
    UseRow,
    'name' | 'data_key_id' | 'ready_key_id' | 'shut_key_ids'
  >[]
}

/** A retired key can be destroyed after this time: until then, a cache may contain one of its rows. */
const destroyAfterMs = 60_000

/**
 * Work on the keys of a database, beside the processes that use it. Close it, or bind it with
 * `await using`.
 */
export class KeyAdministration {
  readonly #work: KeyWork
  readonly #two: TwoPeople

  private constructor(work: KeyWork, two: TwoPeople) {
    this.#work = work
    this.#two = two
  }

  /** @throws MigrationError when the tables are not there · the database's own error. */
  static async open(options: {
    readonly database: DatabaseOptions
    readonly keys: KeyProvider
    readonly log?: Log
    /** The actor, for the audit trail. */
    readonly by?: By
    /** Whether a rotation needs two people. */
    readonly fourEyes?: boolean
  }): Promise<KeyAdministration> {
    const database = new Database(options.database)
    const lanes = new Lanes(database, { single: 2, read: 2 })
    const patient = database.pool(1, 'keys', { lock_timeout: '200' })
    const keys = bounded(options.keys)
    const clock = systemClock
    const log = options.log ?? { info() {}, warn() {} }
    const keyring = new Keyring({ lanes, keys, clock, log, keepMs: Number.POSITIVE_INFINITY })
    try {
      await database.run(lanes.pools.read, allDataKeys)
      // The newest columns that work on keys needs.
      await database.run(lanes.pools.read, usesWithin(aliveMs))
    } catch (error) {
      await database.close()
      if (!['42P01', '3F000', '42703'].includes(sqlState(error) ?? '')) throw error
      throw new MigrationError(
        'This database is not up to date: call migrateDatabase() of @tollgate/core or run "tollgate migrate", as the user that owns the tables.',
      )
    }
    return new KeyAdministration(
      { database, lanes, patient, keys, keyring, clock, by: actorBy(options.by) },
      new TwoPeople(lanes, clock, options.fourEyes ?? false),
    )
  }

  /** @param count False omits the row counts, which read every sealed row. */
  async status(count = true): Promise<KeysStatus> {
    const { lanes, keys } = this.#work
    const rows = new Map<string, number>()
    for (const { id, rows: more } of count ? await lanes.upkeep(rowsByKey) : []) {
      rows.set(id, (rows.get(id) ?? 0) + Number(more))
    }
    const all: KeyStatus[] = []
    for (const row of await lanes.single(allDataKeys)) {
      const problem =
        row.state === 'destroyed'
          ? undefined
          : await keys.unwrap(row.key_encryption_key_id, row.wrapped).then(
              (bytes) => void bytes.fill(0),
              (error: unknown) => wordOf(error),
            )
      all.push({
        id: row.id,
        purpose: row.purpose,
        state: row.state,
        keyEncryptionKeyId: row.key_encryption_key_id,
        createdAt: row.created_at,
        promotedAt: row.promoted_at,
        supersededAt: row.superseded_at,
        retiredAt: row.retired_at,
        destroyedAt: row.destroyed_at,
        ...(count && row.purpose === 'seal' && { rows: rows.get(row.id) ?? 0 }),
        ...(problem !== undefined && { problem }),
      })
    }
    const [tables] = await lanes.read(ownerOfTables)
    const providerProblem = await keys.check().then(() => undefined, wordOf)
    return {
      provider: keys.name,
      ...(providerProblem !== undefined && { providerProblem }),
      keys: all,
      ...(tables?.is_owner === false && { owner: tables.owner }),
      processes: await lanes.read(usesWithin(aliveMs)),
    }
  }

  /**
   * Seals all rows under a new data key while payments continue; see `rotate`.
   *
   * @param proposal The proposal that a second person confirmed, if two people are needed; also to finish
   * an interrupted rotation.
   * @throws as `rotate`; ConfirmationNeededError
   */
  async rotate(options: RotateOptions = {}, proposal?: string): Promise<Rotation> {
    const { fresh = false, lost = false } = options
    const deed = { kind: 'keys.rotate', entityId: null, facts: { fresh, lost } } as const
    await this.#two.take(deed, this.#work.by, proposal)
    const done = await rotate(this.#work, options)
    const { keyId, moved } = done
    if (moved > 0) {
      const entry = { actor: this.#work.by, action: 'rows-resealed', detail: { rows: moved } }
      await this.#work.lanes.single(addAudit({ ...entry, resource: keyId }))
    }
    return done
  }

  /**
   * Wraps every data key with the current key-encryption key, and changes no sealed row. Safe to run
   * twice and in several processes at once; the next call finishes an interrupted one.
   *
   * @throws RotationError naming the processes that cannot open the new key · KeyProviderError
   */
  rewrap(options: RewrapOptions = {}): Promise<Rewrapped> {
    return rewrap(this.#work, options)
  }

  /**
   * Replaces the key of fingerprints and other digests. Equal numbers before and after the change have
   * different fingerprints. The old key still recognises earlier idempotency keys until they expire. If
   * the old key is lost, their repeats are carried out again.
   *
   * @returns its id. @throws RotationError while processes run.
   */
  renewMac(): Promise<string> {
    return renewMac(this.#work)
  }

  /**
   * Retires an old key without rows, withdraws an announced key, or destroys a retired one: its wrapped
   * bytes are overwritten, and its values, for example in old copies of tables, never open again.
   *
   * @throws RotationError naming why the key has to stay.
   */
  async retire(id: string, { destroy = false } = {}): Promise<KeyState> {
    const { lanes, by } = this.#work
    const state = async () => (await lanes.single(allDataKeys)).find((row) => row.id === id)?.state
    const before = await state()
    if (before === undefined) throw new RotationError(`There is no data key ${id}.`)
    if (before === 'current') {
      throw new RotationError(`Data key ${id} is in use: run "tollgate keys rotate" first.`)
    }
    if (before === 'announced') await lanes.single(withdrawDataKey(id, by))
    const why = before === 'previous' ? await retire(this.#work, id) : undefined
    if (why !== undefined) throw new RotationError(`Data key ${id} stays: ${why}.`)
    const [hanging] = destroy ? await lanes.single(linksUnder(id)) : []
    if (hanging !== undefined && hanging.links > 0) {
      throw new RotationError(
        `Data key ${id} stays: ${hanging.links} links of the audit trail can be checked with nothing else.`,
      )
    }
    if (destroy) {
      await lanes.single(destroyDataKey(id, by, destroyAfterMs, limits.idempotencyDays))
    }
    const after = (await state())!
    if (destroy && after !== 'destroyed') {
      throw new RotationError(
        `Data key ${id} was retired less than ${destroyAfterMs / 1000} seconds ago (a mac key: ${limits.idempotencyDays + 1} days). Caches may hold rows that were under it, and repeats be found by it: destroy it later.`,
      )
    }
    return after
  }

  async close(): Promise<void> {
    await this.#work.database.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
