import { databaseClient } from '@tollgate/core/early'
import type pg from 'pg'
import { isLoopback } from '../http/loopback.ts'

/**
 * Whether a database connection over a network is unencrypted. The driver decides and not the URL,
 * since PostgreSQL's own variables, such as PGSSLMODE and PGHOST, count as well.
 */
export function isPlain(url: string): boolean {
  let client: pg.Client
  try {
    client = databaseClient({ url })
  } catch {
    // A file of the URL cannot be read; opening the connection reports the reason.
    return false
  }
  const { host } = client
  const isOwn = host.startsWith('/') || isLoopback(host)
  return !isOwn && !client.ssl
}

/** The server of a URL for people: a parameter `host`, such as the folder of a socket, replaces the name. */
export const serverOf = ({ hostname, searchParams }: URL): string =>
  searchParams.get('host') || decodeURIComponent(hostname) || 'this machine'

/** The database of a URL for people: `/shop`, without escapes. */
export function databaseOf({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}
