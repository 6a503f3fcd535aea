import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/**
 * A connection that a host holds for as long as it uses the embedded server. The server itself thus
 * knows who is there, also when a process was killed, and losing it tells that the server died.
 */
export interface Presence {
  /** Whether another host, or after a short wait any other session, uses the server. */
  othersAreThere(): Promise<boolean>
  leave(): Promise<void>
}

const sign = 'tollgate host '
const sessionsGoneWithinMs = 1_000

/** Connects to the administrative database; `onLost` is called once if the connection breaks later. */
export async function attend(url: string, onLost: () => void): Promise<Presence> {
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: url,
    stream: () => socket,
    application_name: `${sign}${process.pid}`,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  let leaving = false
  let present = false
  const lost = () => {
    if (!present || leaving) return
    present = false
    onLost()
  }
  client.on('error', lost)
  client.on('end', lost)
  await client.connect()
  present = true
  // Alone it is no reason for the process to live on.
  socket.unref()

  async function count(): Promise<{ hosts: number; sessions: number }> {
    const { rows } = await client.query<{ hosts: number; sessions: number }>({
      text: `select count(*) filter (where starts_with(application_name, $1))::int as hosts,
                    count(*)::int as sessions
               from pg_stat_activity
              where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      values: [sign],
    })
    return rows[0] ?? { hosts: 0, sessions: 0 }
  }

  return {
    async othersAreThere() {
      // From here on somebody waits for answers: they must not be lost in an idle process' exit.
      socket.ref()
      const since = performance.now()
      for (;;) {
        const { hosts, sessions } = await count()
        if (hosts > 0) return true
        if (sessions === 0) return false
        // Our own pools were closed a moment ago; their sessions take milliseconds to end.
        if (performance.now() - since > sessionsGoneWithinMs) return true
        await pause(20)
      }
    },
    async leave() {
      leaving = true
      socket.ref()
      await client.end()
    },
  }
}

/** Makes the gateway's own database unless it is there. Runs under the start lock. */
export async function ensureDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}
