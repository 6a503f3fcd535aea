/**
 * What stands between the engine and its database. A connection is a session of its own where nothing stands,
 * or a pooler in session mode. Behind a pooler in transaction mode, each transaction may get another session:
 * settings and locks of a session then reach strangers, and named statements are missing.
 */
import { limits } from '@tollgate/schemas'
import { newId } from '../ids.ts'
import { toldPid, within } from './connection.ts'
import { sqlState } from './failures.ts'
import type * as pg from './pg-types.ts'

export type Pooler = {
  /** Whether transactions of one connection may run in several sessions. */
  readonly sharesSessions: boolean
  /** Whether a named statement is there in each of them. */
  readonly keepsStatements: boolean
}

/** The pooler cannot do what the options ask for. */
export class PoolerError extends Error {
  override readonly name = 'PoolerError'
}

/** Whether the connection leads to the server itself, whose process it names at its start. */
export const isDirect = (client: pg.ClientBase, pid: number): boolean => toldPid(client) === pid

const rounds = 3

/**
 * Tries a pooler with two connections. The second holds a transaction, so the first gets another session where
 * sessions are shared.
 *
 * @param open Opens a connection for this alone.
 */
export async function examinePooler(open: () => Promise<pg.Client>): Promise<Pooler> {
  const clients: pg.Client[] = []
  try {
    for (let no = 0; no < 2; no += 1) clients.push(await open())
    const [first, second] = clients as [pg.Client, pg.Client]
    const late = 'the database or its pooler did not answer in time'
    return await within(first, limits.longTryMs, late, () =>
      within(second, limits.longTryMs, late, () => examine(first, second)),
    )
  } finally {
    await Promise.allSettled(clients.map((client) => client.end()))
  }
}

async function examine(first: pg.Client, second: pg.Client): Promise<Pooler> {
  // A name that no other process has: what stays at a server behind the pooler disturbs nobody.
  const name = `tollgate_${newId()}`
  const named = async (client: pg.Client): Promise<number> =>
    (await client.query<{ pid: number }>({ name, text: 'select pg_backend_pid() as pid' })).rows[0]!
      .pid
  try {
    for (let round = 0; round < rounds; round += 1) {
      const before = await named(first)
      await second.query('begin')
      if ((await named(second)) === before) return { sharesSessions: true, keepsStatements: true }
      if ((await named(first)) !== before) return { sharesSessions: true, keepsStatements: true }
      await second.query('rollback')
    }
    return { sharesSessions: false, keepsStatements: true }
  } catch (error) {
    // The statement of the other connection is there, or the own one is not.
    if (!['42P05', '26000'].includes(sqlState(error) ?? '')) throw error
    return { sharesSessions: true, keepsStatements: false }
  }
}

/** @throws PoolerError when named statements are wanted and would be missing. */
export function refuseUnfit({ keepsStatements }: Pooler): void {
  if (keepsStatements) return
  throw new PoolerError(
    'a connection pooler in transaction mode stands before the database and keeps no named prepared statements: set prepare to false (TOLLGATE_PREPARE=false), or connect directly or in session mode',
  )
}
