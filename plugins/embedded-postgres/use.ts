import { Socket } from 'node:net'
import pg from 'pg'
import { systemCode } from './error.ts'
import { OtherHostError, sessionName, takeHostLock } from './only-host.ts'

/** Every process that uses the server shares this advisory lock, so the server knows them, also after kill -9. */
const usersLock = 20_411

export interface Use {
  /**
   * Whether no other process uses the server. If none does, none can begin until the server is
   * gone.
   */
  end(): Promise<boolean>
}

/**
 * Makes this process one of the server's users; `onLost` is called once if the connection breaks.
 * Null when the server takes no users now.
 *
 * @param hostIn The directory of the database when this process is its one host.
 * @throws OtherHostError when the server already has a host.
 */
export async function beginUse(
  url: string,
  database: string,
  hostIn: string | null,
  onLost: () => void,
): Promise<Use | null> {
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: url,
    stream: () => socket,
    application_name: sessionName(),
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => undefined)
  const ask = async (lock: string) => {
    const { rows } = await client.query(`select ${lock}(${usersLock}) as answer`)
    return rows[0]?.answer === true
  }
  try {
    await client.connect()
    // First, so that a refused host never was a user whom a leaving one leaves the server to.
    if (hostIn !== null) await takeHostLock(client, hostIn)
    if (!(await ask('pg_try_advisory_lock_shared'))) {
      await client.end()
      return null
    }
    await ensureDatabase(client, database)
  } catch (thrown) {
    await client.end().catch(() => undefined)
    if (thrown instanceof OtherHostError) throw thrown
    // Starting, recovering and shutting down end by themselves, as do connections cut meanwhile.
    if (thrown instanceof pg.DatabaseError && !thrown.code?.startsWith('57P')) throw thrown
    return null
  }
  client.once('end', onLost)
  // Alone it is no reason for the process to live on.
  socket.unref()
  return {
    async end() {
      client.off('end', onLost)
      // Callers wait for answers from here on, so the socket keeps the process alive.
      socket.ref()
      try {
        await ask('pg_advisory_unlock_shared')
        // The last one keeps the connection, and with it newcomers out, until the server ends it.
        if (await ask('pg_try_advisory_lock')) return true
        await client.end()
      } catch {
        // The server is gone.
      }
      return false
    },
  }
}

async function ensureDatabase(client: pg.Client, name: string): Promise<void> {
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`)
  } catch (thrown) {
    // There already, or made by another process at this moment.
    if (!['42P04', '23505'].includes(systemCode(thrown) ?? '')) throw thrown
  }
}
