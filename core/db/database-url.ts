/** The URL of a database: what is wrong with it, and what it says. No message holds a part of it but names of files. */
import { readFileSync } from 'node:fs'
import { parse } from 'pg-connection-string'
import type * as pg from './pg-types.ts'

const escapes =
  'in a user, a password or a name, write @ as %40, / as %2F, ? as %3F, # as %23 and % as %25'

/** A URL without a host, such as that of a socket, which the standard refuses behind a user. */
const parsed = (url: string): URL | null =>
  URL.parse(url.replace(/^([a-z]+:\/\/(?:[^/?#]*@)?)(?=[/?].*[?&]host=)/i, '$1localhost')) ??
  URL.parse(url.replace(/^([a-z]+:\/\/[^/?#]*@)(?=[/?]|$)/i, '$1localhost'))

/** The parts of a URL without a problem. */
export function databaseUrl(url: string): URL {
  return parsed(url)!
}

/** Why a text is no such URL; undefined when it is one. */
export function urlProblem(text: unknown): string | undefined {
  const expected = 'an address such as postgres://user:password@host:5432/name'
  if (typeof text !== 'string' || text === '') return expected
  if (!/^postgres(?:ql)?:\/\//i.test(text)) return `${expected}: ${escapes}`
  const behind = text.slice(text.indexOf('//') + 2).replace(/^[^/?#]*/, '')
  // An unescaped character ends a password early, and its rest would pass for a host or a name.
  if (parsed(text) === null || /[@#]/.test(behind)) return `${expected}: ${escapes}`
  return undefined
}

const files = [
  ['sslrootcert', 'ca'],
  ['sslcert', 'cert'],
  ['sslkey', 'key'],
] as const

/** What pg reads in a URL, with the files that it names. @throws Error that says what to correct */
export function addressIn(url: string): pg.ClientConfig {
  // As for libpq: the authorities of the system, here those that Node trusts.
  const text = url.replace(/([?&])sslrootcert=system(?=&|$)/, '$1sslmode=verify-full')
  const read = parsedBy(text)
  const ssl = read.ssl as Record<string, string> | undefined
  for (const [parameter, member] of files) {
    const pem = ssl?.[member]
    if (pem !== undefined && !pem.includes('-----BEGIN ')) {
      throw new Error(
        `${parameter} in the URL of the database is the name of a file without PEM text`,
      )
    }
  }
  return { ...read, ...nameOf(url, read.database) } as object as pg.ClientConfig
}

function parsedBy(url: string) {
  try {
    return parse(url)
  } catch (thrown) {
    for (const [parameter] of files) {
      const path = databaseUrl(url).searchParams.get(parameter)
      const code = path === null ? undefined : unreadable(path)
      if (code === undefined) continue
      throw new Error(
        `${parameter} in the URL of the database is ${path}, which cannot be read (${code})`,
      )
    }
    const { message } = thrown as Error
    if (message.startsWith('SECURITY WARNING')) throw new Error(message)
    throw new Error(`the URL of the database cannot be read: ${escapes}`)
  }
}

function unreadable(path: string): string | undefined {
  try {
    readFileSync(path)
    return undefined
  } catch (thrown) {
    return (thrown as { code?: string }).code
  }
}

/** pg leaves the escapes of `/ ? # @ : & = + $ , ;` in the name of the database as they are. */
function nameOf(url: string, given: unknown): { database?: string } {
  const path = parsed(url)?.pathname.slice(1) ?? ''
  const database = unescaped(path, decodeURIComponent)
  // Where the host is a socket, the path may be more than the name.
  if (database === undefined || given !== unescaped(path, decodeURI)) return {}
  return { database }
}

function unescaped(path: string, decode: (text: string) => string): string | undefined {
  try {
    return decode(path)
  } catch {
    // A percent sign without an escape, which pg reads in its own way.
    return undefined
  }
}
