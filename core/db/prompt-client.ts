import { userInfo } from 'node:os'
import { limits } from '@tollgate/schemas'
import postgres from 'pg'
import { type DatabaseAddress, databaseAddress, toldPid } from './connection.ts'
import { addressIn } from './database-url.ts'
import type * as pg from './pg-types.ts'
import { conduct, formats, type Settings, settingText } from './session-settings.ts'
import { plainTypes } from './wire-types.ts'

/** What pg assumes by itself where neither the URL nor a variable of PostgreSQL says it. */
const assumed = {
  host: 'localhost',
  port: 5432,
  user: systemUser(),
  database: undefined,
  password: null,
  ssl: false,
  sslnegotiation: undefined,
  options: undefined,
  replication: undefined,
  client_encoding: '',
  application_name: undefined,
  fallback_application_name: undefined,
  binary: false,
  statement_timeout: false,
  lock_timeout: false,
  idle_in_transaction_session_timeout: false,
  query_timeout: false,
}

function systemUser(): string | undefined {
  try {
    return userInfo().username
  } catch {
    // A user that the system does not list.
    return undefined
  }
}

/** A connection of its own, for a command or a check. The query that fails tells of a server that disappears. */
export function databaseClient(address: DatabaseAddress, more: pg.ClientConfig = {}): pg.Client {
  const client = new PromptClient({ ...databaseAddress(address), ...more })
  client.on('error', () => {})
  return client
}

/** Gives it the settings of the engine. A pooler could hand them on to strangers, so it gets none. */
export async function settle(client: pg.Client, more: Settings): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  if (toldPid(client) !== rows[0]!.pid) return
  await client.query(settingText({ ...formats, ...conduct, ...more }, false))
}

const defaults = postgres.defaults as Record<string, unknown>

/**
 * A connection that depends on no `pg.defaults` and `pg.types`, which the embedding program may change for its own
 * ones. Waiting for a connection that others use has its place in a queue; opening one is given up sooner.
 */
export class PromptClient extends postgres.Client {
  /** A URL with which no connection can be tried. Thrown here, it would end the process: a pool makes its clients later. */
  readonly #failure: Error | undefined

  constructor(config?: pg.ClientConfig) {
    const url = config?.connectionString
    const { address, failure } = url === undefined ? { address: {} } : tryRead(url)
    // A pool hides the password of its options from copies.
    const password = config?.password === undefined ? {} : { password: config.password }
    const changed = Object.keys(assumed).map((name) => [name, defaults[name]] as const)
    // pg reads them here and nowhere else, and nobody else runs meanwhile.
    Object.assign(defaults, assumed)
    try {
      super({
        types: plainTypes,
        ...config,
        ...password,
        ...address,
        connectionString: undefined,
        connectionTimeoutMillis: limits.connectMs,
      })
    } finally {
      Object.assign(defaults, Object.fromEntries(changed))
    }
    this.#failure = failure
  }

  override connect(): Promise<this>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    const failure = this.#failure
    if (failure === undefined) {
      if (callback === undefined) return super.connect() as Promise<this>
      super.connect(callback)
    } else if (callback === undefined) return Promise.reject(failure)
    else process.nextTick(callback, failure)
    return undefined
  }
}

type Read = { readonly address: pg.ClientConfig; readonly failure?: Error }

function tryRead(url: string): Read {
  try {
    return { address: addressIn(url) }
  } catch (thrown) {
    return { address: {}, failure: thrown as Error }
  }
}
