import { createHash } from 'node:crypto'
import type { PoolState } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import pg from 'pg'
import { systemClock } from '../clock.ts'
import { asNeverReached, graver, mustLeave, sqlState } from './failures.ts'
import { Leader } from './leader.ts'
import type { Sql } from './sql.ts'

export { neverReached, outcomeUnknown, sqlState, violated } from './failures.ts'

export type DatabaseOptions = {
  /** `postgres://user:password@host:port/name`. Session pooling or a direct connection. */
  readonly url: string
  /** Schema of the engine's tables; pg-boss gets `<schema>_boss`. Default `tollgate`. */
  readonly schema?: string
  /** Named prepared statements; switch off behind a transaction pooler. Default on. */
  readonly prepare?: boolean
  /** Connections of the lane for follow-ups and other contended rows. Default 6. */
  readonly singleConnections?: number
  /** Connections of the lane for reads. Default 4. */
  readonly readConnections?: number
}

const int8 = 20
const uuid = 2950
const uuids = 2951
/** Ids travel as 32 hex characters everywhere outside Postgres, and int8 as bigint. */
const types = {
  getTypeParser(oid: number, format?: string) {
    if (oid === uuid) return (value: string) => value.replaceAll('-', '')
    if (oid === uuids)
      return (value: string) => value.replaceAll('-', '').match(/[0-9a-f]{32}/g) ?? []
    if (oid === int8) return (value: string) => BigInt(value)
    return pg.types.getTypeParser(oid as never, format as never)
  },
} as pg.CustomTypesConfig

export type Client = pg.PoolClient

/** The time limits of a statement, on the clock of `systemClock.elapsedMs()`. */
export type Patience = {
  /** The end of the wait for a connection. No try begins later. */
  readonly beginUntilMs: number
  readonly endUntilMs: number
  /** The time limit of one try. After it, the connection is given up. */
  readonly tryMs: number
}

/** Tries within the flush budget; one that may last longer than the budget begins within it. */
export function patience(tryMs: number, sinceMs: number = systemClock.elapsedMs()): Patience {
  return {
    beginUntilMs: sinceMs + limits.flushBudgetMs - limits.leastTryMs,
    endUntilMs: sinceMs + Math.max(limits.flushBudgetMs, tryMs),
    tryMs,
  }
}

/** Waiting for a connection that others use has its place in a queue; opening one is given up sooner. */
class PromptClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: limits.connectMs })
  }
}

/** The engine's own connections: a foreign pool could be exhausted by its owner and deadlock us. */
export class Database {
  readonly schema: string
  readonly leader = new Leader()
  readonly #options: DatabaseOptions
  readonly #prepared = new Map<readonly string[], { name: string; text: string }>()
  readonly #pools = new Map<pg.Pool, string>()
  #isClosed = false
  /** When each connection answered last. */
  readonly #answeredMs = new WeakMap<Client, number>()
  /** When the last statement began that got no answer. */
  #doubtedMs = Number.NEGATIVE_INFINITY

  constructor(options: DatabaseOptions) {
    this.schema = options.schema ?? 'tollgate'
    if (!/^[a-z_][a-z0-9_]{0,40}$/.test(this.schema)) {
      throw new Error(
        `database.schema is "${this.schema}": use lower-case letters, digits and _, at most 41 characters`,
      )
    }
    this.#options = options
  }

  get url(): string {
    return this.#options.url
  }

  /** An option of pools: their connections lead to the server that leads. */
  readonly leading = {
    onConnect: (client: pg.ClientBase) => this.leader.admit(client as pg.Client),
  }

  /** A pool of the engine's own. `settings` are Postgres settings of each of its connections. */
  pool(max: number, name: string, settings: Readonly<Record<string, string>> = {}): pg.Pool {
    const options = Object.entries({ jit: 'off', ...settings })
      .map(([key, value]) => `-c ${key}=${value}`)
      .join(' ')
    const pool = new pg.Pool({
      connectionString: this.#options.url,
      max,
      types,
      options,
      application_name: `tollgate ${name}`,
      Client: PromptClient,
      ...this.leading,
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
    return pool
  }

  /**
   * Makes a connection and closes it. Connections that are kept can lead to a former leader for long; a new
   * one shows which server leads.
   */
  async probe(): Promise<void> {
    if (this.#isClosed) return
    const client = new PromptClient({
      connectionString: this.#options.url,
      application_name: 'tollgate probe',
    })
    await client.connect()
    await this.leader.admit(client)
    await client.end()
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
      const result = await client.query(this.config(statement))
      return result.rows as Row[]
    } catch (error) {
      broken = mustLeave(error)
      throw error
    } finally {
      answered()
      client.release(broken)
    }
  }

  /** A transaction on a pool. Rolls back and drops the client on any failure. */
  async transaction<T>(
    pool: pg.Pool,
    work: (client: Client) => Promise<T>,
    within: Patience = patience(limits.longTryMs),
  ): Promise<T> {
    const client = await this.#client(pool, within)
    const answered = this.#watch(client, within)
    let broken = true
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      broken = false
      return result
    } catch (error) {
      await client.query('rollback').then(
        () => {
          broken = mustLeave(error)
        },
        () => {},
      )
      throw error
    } finally {
      answered()
      client.release(broken)
    }
  }

  /**
   * A connection of a pool. After a statement without an answer, other connections that were silent since
   * its start are dropped: they share the broken network path, and each would cost a try.
   */
  async #client(pool: pg.Pool, within: Patience): Promise<Client> {
    for (;;) {
      const client = await free(pool, within.beginUntilMs)
      if ((this.#answeredMs.get(client) ?? 0) >= this.#doubtedMs) return client
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
    // A client of the embedding program parses types in its own way.
    const result = await client.query({ text, values: statement.values as unknown[], types })
    return result.rows as Row[]
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const pools = [...this.#pools.keys()]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

/** The next free client of a pool. @throws an error that is `neverReached` */
async function free(pool: pg.Pool, untilMs: number): Promise<Client> {
  const tooLate = () => asNeverReached(new Error('no connection to the database came free in time'))
  const leftMs = untilMs - systemClock.elapsedMs()
  if (leftMs <= 0) throw tooLate()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(tooLate()), leftMs)
  const asked = pool.connect()
  try {
    return await Promise.race([asked, late.promise])
  } catch (error) {
    // The connection arrives after its caller gave up.
    asked.then((client) => client.release()).catch(() => {})
    throw asNeverReached(error)
  } finally {
    clearTimeout(timer)
  }
}
