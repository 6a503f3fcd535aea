import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Sql } from './sql.ts'

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
/** Ids travel as 32 hex characters everywhere outside Postgres, and int8 as bigint. */
const types = {
  getTypeParser(oid: number, format?: string) {
    if (oid === uuid) return (value: string) => value.replaceAll('-', '')
    if (oid === int8) return (value: string) => BigInt(value)
    return pg.types.getTypeParser(oid as never, format as never)
  },
} as pg.CustomTypesConfig

/** Errors after which a client must not be used again: read-only server, shutdown, crash. */
const leaving = new Set(['25006', '57P01', '57P02', '57P03', '57P05'])

export type Client = pg.PoolClient

/** The engine's own connections: a foreign pool could be exhausted by its owner and deadlock us. */
export class Database {
  readonly schema: string
  readonly #options: DatabaseOptions
  readonly #prepared = new Map<readonly string[], { name: string; text: string }>()
  readonly #pools: pg.Pool[] = []

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
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 0,
      keepAlive: true,
    })
    // An idle connection that breaks is replaced on the next use; without a listener it would end the process.
    pool.on('error', () => {})
    // The pool listens to idle clients only. One that breaks while it is used tells its query too,
    // but its event would end the process.
    pool.on('connect', (client) => client.on('error', () => {}))
    this.#pools.push(pool)
    return pool
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
    return this.schema === 'tollgate' ? text : text.replaceAll(/\btollgate\./g, `${this.schema}.`)
  }

  config(statement: Sql): pg.QueryConfig {
    const { name, text } = this.prepared(statement.strings)
    const values = statement.values as unknown[]
    return this.#options.prepare === false ? { text, values } : { name, text, values }
  }

  /** Runs one statement on a pool; a client whose server is leaving or that lost its plan is dropped. */
  async run<Row>(pool: pg.Pool, statement: Sql<Row>): Promise<Row[]> {
    try {
      return await this.#once(pool, statement)
    } catch (error) {
      // "cached plan must not change result type": a migration ran; a new connection plans anew.
      if (sqlState(error) === '0A000') return await this.#once(pool, statement)
      throw error
    }
  }

  async #once<Row>(pool: pg.Pool, statement: Sql<Row>): Promise<Row[]> {
    const client = await pool.connect()
    let broken: boolean | Error = false
    try {
      const result = await client.query(this.config(statement))
      return result.rows as Row[]
    } catch (error) {
      broken = mustLeave(error)
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** A transaction on a pool. Rolls back and drops the client on any failure. */
  async transaction<T>(pool: pg.Pool, work: (client: Client) => Promise<T>): Promise<T> {
    const client = await pool.connect()
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
      client.release(broken)
    }
  }

  async query<Row>(client: Client, statement: Sql<Row>): Promise<Row[]> {
    const { text } = this.prepared(statement.strings)
    const result = await client.query(text, statement.values as unknown[])
    return result.rows as Row[]
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.splice(0).map((pool) => pool.end()))
  }
}

/** Five-character SQLSTATE of a Postgres error; undefined when the connection itself failed. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Name of the constraint that a Postgres error is about. */
export function violated(error: unknown): string | undefined {
  const constraint = (error as { constraint?: unknown } | null)?.constraint
  return typeof constraint === 'string' ? constraint : undefined
}

/** True when nothing tells whether the statement was committed: the connection broke under it. */
export function outcomeUnknown(error: unknown): boolean {
  const state = sqlState(error)
  return (
    state === undefined || state.startsWith('08') || state.startsWith('57P') || state === '25006'
  )
}

function mustLeave(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined || leaving.has(state) || state.startsWith('08') || state === '0A000'
}
