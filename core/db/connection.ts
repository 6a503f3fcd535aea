/** How connections to the database are opened: address, encryption, and the time for it. */
import { parse } from 'pg-connection-string'
import { systemClock } from '../clock.ts'
import { asNeverReached } from './failures.ts'
import type * as pg from './pg-types.ts'

/** Connections of one process, by lane. */
export type PoolSizes = {
  /** First payments, and outcomes. Default 2. */
  readonly group?: number
  /** Captures, refunds and other statements that lock rows. Default 6. */
  readonly single?: number
  /** Reads. Default 4. */
  readonly read?: number
  /** Searches. Default 3. */
  readonly search?: number
  /** Settlement files. Default 2. */
  readonly bulk?: number
  /** Transactions of subscriptions. Default 4. */
  readonly program?: number
  /** The job queue. Default 3. */
  readonly jobs?: number
}

/** Encryption of the connections to the database, instead of `sslmode` in the URL. */
export type DatabaseSsl = {
  /** PEM text of the certificate authority. Default: the authorities that Node trusts. */
  readonly ca?: string
  /** PEM text of a client certificate, and of its private key. */
  readonly cert?: string
  readonly key?: string
  /**
   * `full` checks the server's certificate and its name, `ca` the certificate alone, `none` nothing. Default
   * `full`.
   */
  readonly verify?: 'full' | 'ca' | 'none'
}

export type DatabaseAddress = {
  readonly url: string
  readonly ssl?: DatabaseSsl
}

/** The address in the form of pg. */
export function databaseAddress({ url, ssl }: DatabaseAddress): pg.ClientConfig {
  const address = addressIn(url)
  if (ssl === undefined) return address
  const { ca, cert, key, verify = 'full' } = ssl
  return {
    ...address,
    ssl: {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      rejectUnauthorized: verify !== 'none',
      ...(verify === 'ca' && { checkServerIdentity: () => undefined }),
    },
  }
}

/**
 * A URL as pg reads it, with one exception: pg leaves the escapes of `/ ? # @ : & = + $ , ;` in the name of the
 * database as they are.
 */
function addressIn(url: string): pg.ClientConfig {
  const path = URL.parse(url)?.pathname.slice(1) ?? ''
  const read = unescaped(path, decodeURI)
  const database = unescaped(path, decodeURIComponent)
  if (database === read) return { connectionString: url }
  const given = parse(url)
  // Where the host is a socket, the path may be more than the name.
  if (given.database !== read) return { connectionString: url }
  // pg reads a URL with the same function, and takes what it gives.
  return { ...(given as object), database: database! }
}

function unescaped(path: string, decode: (text: string) => string): string | undefined {
  try {
    return decode(path)
  } catch {
    // A percent sign without an escape, which pg reads in its own way.
    return undefined
  }
}

/** Parameters of a URL that encrypt its connections, which pg prefers to its options. */
export const sslParameters = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert'] as const

/** The process of the server behind a connection, as its start said. A pooler makes a number up. */
export const toldPid = (client: pg.ClientBase): number | null =>
  (client as { readonly processID?: number | null }).processID ?? null

/**
 * Work on a connection of its own. A server that does not answer in time loses the connection, which fails
 * the work.
 */
export async function within<T>(
  client: pg.ClientBase,
  limitMs: number,
  why: string,
  work: () => Promise<T>,
): Promise<T> {
  const { stream } = (client as pg.Client).connection
  const hang = setTimeout(() => stream.destroy(new Error(why)), limitMs)
  try {
    return await work()
  } finally {
    clearTimeout(hang)
  }
}

/** Rolls back. @returns true when that fails, so the connection must not be used again. */
export const isStuck = (client: pg.ClientBase): Promise<boolean> =>
  client.query('rollback').then(
    () => false,
    () => true,
  )

/** The next free client of a pool. @throws an error that is `neverReached` */
export async function freeClient(pool: pg.Pool, untilMs: number): Promise<pg.PoolClient> {
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
