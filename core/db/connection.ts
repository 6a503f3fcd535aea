/** How connections to the database are opened: address, encryption, and the time for it. */
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
  const address = { connectionString: url }
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
  let asked: Promise<pg.PoolClient> | undefined
  try {
    asked = pool.connect()
    return await Promise.race([asked, late.promise])
  } catch (error) {
    // The connection arrives after its caller gave up.
    asked?.then((client) => client.release()).catch(() => {})
    throw asNeverReached(error)
  } finally {
    clearTimeout(timer)
  }
}
