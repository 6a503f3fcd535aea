import { createHash } from 'node:crypto'
import type { Log, PoolState } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import postgres from 'pg'
import { intendAction } from '../call-trace.ts'
import { systemClock } from '../clock.ts'
import { databaseAddress, freeClient, isStuck } from './connection.ts'
import type { DatabaseOptions } from './database-options.ts'
import { asNeverReached, asOfDatabase, graver, mustLeave, sqlState } from './failures.ts'
import { Leader } from './leader.ts'
import { OutageLog } from './outage.ts'
import { type Patience, patience } from './patience.ts'
import type * as pg from './pg-types.ts'
import { databaseClient, PromptClient } from './prompt-client.ts'
import { conduct, formats, type Settings } from './session-settings.ts'
import { Sessions } from './sessions.ts'
import type { Sql } from './sql.ts'
import { wireTypes } from './wire-types.ts'

export type { DatabaseOptions } from './database-options.ts'
export { neverReached, outcomeUnknown, sqlState, violated } from './failures.ts'
export { type Patience, patience } from './patience.ts'

const silent: Log = { info() {}, warn() {} }

export type Client = pg.PoolClient

/** The engine's own connections: a foreign pool could be exhausted by its owner and deadlock us. */
export class Database {
  readonly schema: string
  readonly leader = new Leader()
  readonly outage: OutageLog
  readonly #options: DatabaseOptions
  readonly #sessions: Sessions
  /** Pools whose statements change nothing. */
  readonly #reading = new WeakSet<pg.Pool>()
  readonly #prepared = new Map<readonly string[], { name: string; text: string }>()
  readonly #pools = new Map<pg.Pool, string>()
  #isClosed = false
  /** When each connection answered last. */
  readonly #answeredMs = new WeakMap<Client, number>()
  /** When the last statement began that got no answer. */
  #doubtedMs = Number.NEGATIVE_INFINITY

  /** @param log Told of outages. */
  constructor(options: DatabaseOptions, log: Log = silent) {
    this.schema = options.schema ?? 'tollgate'
    if (!/^(?!pg_)[a-z_][a-z0-9_]{0,40}$/.test(this.schema)) {
      throw new Error(
        `database.schema is "${this.schema}": use lower-case letters, digits and _, at most 41 characters, without pg_ at the start`,
      )
    }
    this.#options = options
    this.outage = new OutageLog(log)
    this.#sessions = new Sessions(options, options.prepare !== false)
  }

  /** Address and encryption, for connections beside the pools. */
  get address(): pg.ClientConfig {
    return databaseAddress(this.#options)
  }

  /**
   * A pool of the engine's own. `settings` are Postgres settings of its statements. They are no parameters of
   * the start, which poolers refuse.
   *
   * @param kind.reads Its statements change nothing.
   * @param kind.lent The program's statements on it mean what they mean on its own connections.
   */
  pool(
    max: number,
    name: string,
    settings: Settings = {},
    kind: { reads?: true; lent?: true } = {},
  ): pg.Pool {
    const all = { ...(kind.lent === true ? {} : formats), ...conduct, ...settings }
    const pool = new postgres.Pool({
      ...this.address,
      max,
      types: wireTypes,
      application_name: `tollgate ${name}`,
      Client: PromptClient,
      onConnect: async (client) => {
        const { pid } = await this.leader.admit(client as pg.Client)
        await this.#sessions.settle(client, pid, all)
      },
      connectionTimeoutMillis: limits.flushBudgetMs,
      idleTimeoutMillis: 0,
      keepAlive: true,
      keepAliveInitialDelayMillis: limits.keepAliveMs,
    })
    // An idle connection that breaks is replaced on the next use; without a listener it would end the process.
    pool.on('error', () => {})
    // The pool listens to idle clients only. One that breaks while it is used tells its query too,
    // but its event would end the process.
    pool.on('connect', (client) => {
      client.on('error', () => {})
      this.#answeredMs.set(client, systemClock.elapsedMs())
    })
    this.#pools.set(pool, name)
    if (kind.reads === true) this.#reading.add(pool)
    return pool
  }

  /**
   * Makes a connection and closes it. Connections that are kept can lead to a former leader for long; a new
   * one shows which server leads.
   */
  async probe(): Promise<void> {
    if (this.#isClosed) return
    const client = databaseClient(this.#options, { application_name: 'tollgate probe' })
    try {
      await client.connect()
      await this.leader.admit(client)
      this.outage.answered()
    } catch (error) {
      throw this.#failed(asNeverReached(error))
    }
    await client.end()
  }

  /** Tells the log of outages, unless this database was closed. */
  #failed(thrown: unknown): Error {
    const error = asOfDatabase(thrown)
    if (!this.#isClosed) this.outage.failed(error)
    return error
  }

  /** The connections of each lane. */
  poolStates(): readonly PoolState[] {
    return [...this.#pools].map(([pool, lane]) => ({
      lane,
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }))
  }

  /** Text and name of a statement for this engine's schema. */
  prepared(strings: readonly string[]): { name: string; text: string } {
    const known = this.#prepared.get(strings)
    if (known !== undefined) return known
    const text = this.rewrite(strings.reduce((all, part, index) => `${all}$${index}${part}`))
    const name = createHash('sha256').update(text).digest('hex').slice(0, 32)
    const made = { name, text }
    this.#prepared.set(strings, made)
    return made
  }

  /** Every statement prepared so far, for the test that prepares them all against the schema. */
  statements(): readonly { name: string; text: string }[] {
    return [...this.#prepared.values()]
  }

  rewrite(text: string): string {
    return this.schema === 'tollgate'
      ? text
      : text.replaceAll(/\btollgate(_boss)?\./g, `${this.schema}$1.`)
  }

  config(statement: Sql): pg.QueryConfig {
    const { name, text } = this.prepared(statement.strings)
    const values = statement.values as unknown[]
    return this.#options.prepare === false ? { text, values } : { name, text, values }
  }

  /** Runs one statement on a pool; a client whose server is leaving or that lost its plan is dropped. */
  async run<Row>(
    pool: pg.Pool,
    statement: Sql<Row>,
    within: Patience = patience(limits.longTryMs),
  ): Promise<Row[]> {
    try {
      return await this.#once(pool, statement, within)
    } catch (error) {
      // "cached plan must not change result type": a migration ran; a new connection plans anew.
      if (sqlState(error) !== '0A000') throw error
      try {
        return await this.#once(pool, statement, within)
      } catch (again) {
        throw graver(error, again)
      }
    }
  }

  async #once<Row>(pool: pg.Pool, statement: Sql<Row>, within: Patience): Promise<Row[]> {
    const client = await this.#client(pool, within)
    const answered = this.#watch(client, within)
    let broken: boolean | Error = false
    try {
      const rows = await this.#sessions.alone(client, this.config(statement))
      this.outage.answered()
      return rows as Row[]
    } catch (error) {
      broken = mustLeave(error)
      if (!broken && this.#sessions.isShared(client)) broken = await isStuck(client)
      throw this.#failed(error)
    } finally {
      answered()
      client.release(broken)
    }
  }

  /**
   * A transaction on a pool. Rolls back on any failure.
   *
   * @param drops Whether the client leaves the pool after a failure.
   */
  async transaction<T>(
    pool: pg.Pool,
    work: (client: Client) => Promise<T>,
    within: Patience = patience(limits.longTryMs),
    drops: (error: unknown) => boolean = mustLeave,
  ): Promise<T> {
    const client = await this.#client(pool, within)
    const answered = this.#watch(client, within)
    let broken = true
    try {
      await this.#said(this.#sessions.begin(client))
      const result = await work(client)
      await this.#said(client.query('commit'))
      this.outage.answered()
      broken = false
      return result
    } catch (error) {
      broken = (await isStuck(client)) || drops(error)
      throw error
    } finally {
      answered()
      client.release(broken)
    }
  }

  /** The begin or the end of a transaction. */
  async #said(statement: Promise<unknown>): Promise<void> {
    await statement.catch((error: unknown) => {
      throw this.#failed(error)
    })
  }

  /**
   * A connection of a pool. After a statement without an answer, other connections that were silent since
   * its start are dropped: they share the broken network path, and each would cost a try.
   */
  async #client(pool: pg.Pool, within: Patience): Promise<Client> {
    const ended = this.#reading.has(pool) ? undefined : intendAction()
    for (;;) {
      const client = await freeClient(pool, within.beginUntilMs).catch((error: unknown) => {
        ended?.('never')
        throw this.#failed(error)
      })
      if ((this.#answeredMs.get(client) ?? 0) >= this.#doubtedMs) {
        ended?.('perhaps')
        return client
      }
      client.connection.stream.destroy()
      client.release(true)
    }
  }

  /**
   * Breaks a connection at the end of its try, so that its waiting query fails. Nothing else frees the
   * connection: pg's own limits fail the query and leave the connection busy, or end it politely and wait.
   *
   * @returns A function to call once no query waits for the connection.
   */
  #watch(client: Client, within: Patience): () => void {
    const sinceMs = systemClock.elapsedMs()
    // A process that was held up may begin past its end.
    const limitMs = Math.max(0, Math.min(within.tryMs, within.endUntilMs - sinceMs))
    let afterReading: NodeJS.Immediate | undefined
    const timer = setTimeout(() => {
      // First reads an answer that arrived while this process was busy.
      afterReading = setImmediate(() => {
        this.#doubtedMs = Math.max(this.#doubtedMs, sinceMs)
        const text = `the database did not answer within ${Math.round(limitMs)} ms`
        client.connection.stream.destroy(new Error(text))
      })
    }, limitMs)
    return () => {
      clearTimeout(timer)
      clearImmediate(afterReading)
      this.#answeredMs.set(client, systemClock.elapsedMs())
    }
  }

  async query<Row>(client: Client, statement: Sql<Row>): Promise<Row[]> {
    const { text } = this.prepared(statement.strings)
    try {
      // A client of the embedding program parses types in its own way.
      const result = await client.query({
        text,
        values: statement.values as unknown[],
        types: wireTypes,
      })
      return result.rows as Row[]
    } catch (error) {
      throw asOfDatabase(error)
    }
  }

  /**
   * Statements on one connection of a pool, which begins no transaction for them. Any failure loses the
   * connection.
   */
  async connected<T>(
    pool: pg.Pool,
    within: Patience,
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    const client = await this.#client(pool, within)
    const answered = this.#watch(client, within)
    let broken = true
    try {
      const result = await work(client)
      this.outage.answered()
      broken = false
      return result
    } catch (error) {
      throw this.#failed(error)
    } finally {
      answered()
      client.release(broken)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.outage.close()
    const pools = [...this.#pools.keys()]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.end()))
  }
}
