import pg from 'pg'
import { isLoopback } from '../http/loopback.ts'

/**
 * Whether a database is reached over a network without encryption. The driver is asked and not the text:
 * what decides may also stand in variables of PostgreSQL's own, such as PGSSLMODE and PGHOST.
 */
export function isPlain(url: string): boolean {
  let client: pg.Client
  try {
    client = new pg.Client({ connectionString: url })
  } catch {
    // A file of the URL cannot be read: there will be no connection, and whoever opens it says why.
    return false
  }
  const { host } = client
  const isOwn = host.startsWith('/') || isLoopback(host)
  return !isOwn && !client.ssl
}
