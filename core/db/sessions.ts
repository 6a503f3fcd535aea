/** Settings of connections: of the session where a connection has one of its own, of each transaction elsewhere. */
import { limits } from '@tollgate/schemas'
import { type DatabaseAddress, within } from './connection.ts'
import { asNeverReached } from './failures.ts'
import type * as pg from './pg-types.ts'
import { examinePooler, isDirect, type Pooler, refuseUnfit } from './pooler.ts'
import { databaseClient } from './prompt-client.ts'
import { type Settings, settingText } from './session-settings.ts'

const late = 'the database did not take the settings of a connection in time'

export class Sessions {
  readonly #address: DatabaseAddress
  readonly #mayShare: boolean
  #pooler: Promise<Pooler> | undefined
  /** How a transaction begins, for connections without a session of their own. */
  readonly #begins = new WeakMap<pg.ClientBase, string>()

  /** @param prepare False: a pooler in transaction mode may stand before the database. */
  constructor(address: DatabaseAddress, prepare: boolean) {
    this.#address = address
    this.#mayShare = !prepare
  }

  /**
   * Gives a new connection its settings.
   *
   * @param pid The process of the server that answered it.
   * @throws PoolerError
   */
  async settle(client: pg.ClientBase, pid: number, settings: Settings): Promise<void> {
    const isShared = await this.#isShared(client, pid)
    const text = settingText(settings, isShared)
    if (isShared) this.#begins.set(client, `begin isolation level read committed; ${text}`)
    else await within(client, limits.connectMs, late, () => client.query(text))
  }

  async #isShared(client: pg.ClientBase, pid: number): Promise<boolean> {
    if (this.#mayShare) return true
    if (isDirect(client, pid)) return false
    const known = this.#pooler
    this.#pooler = known ?? examinePooler(() => this.#open())
    const examining = this.#pooler
    try {
      const pooler = await examining
      refuseUnfit(pooler)
      return pooler.sharesSessions
    } catch (error) {
      // Asked again at the next connection.
      if (this.#pooler === examining) this.#pooler = undefined
      throw error
    }
  }

  async #open(): Promise<pg.Client> {
    const client = databaseClient(this.#address, { application_name: 'tollgate probe' })
    await client.connect()
    return client
  }

  /** Begins a transaction with the settings of its pool. */
  async begin(client: pg.ClientBase): Promise<void> {
    await client.query(this.#begins.get(client) ?? 'begin')
  }

  /**
   * Runs one statement by itself. Without a session of its own, a transaction brings the settings, and the
   * caller rolls it back after a failure.
   */
  async alone<Row extends pg.QueryResultRow>(
    client: pg.ClientBase,
    statement: pg.QueryConfig,
  ): Promise<Row[]> {
    if (!this.#begins.has(client)) return (await client.query<Row>(statement)).rows
    // Nothing of the statement was sent by then.
    await this.begin(client).catch((error: unknown) => {
      throw asNeverReached(error)
    })
    const { rows } = await client.query<Row>(statement)
    await client.query('commit')
    return rows
  }

  /** Whether a statement by itself runs in a transaction. */
  isShared(client: pg.ClientBase): boolean {
    return this.#begins.has(client)
  }
}
