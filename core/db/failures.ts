/**
 * Classifies errors of the database: the statement was carried out, refused, or its fate is
 * unknown.
 */

import pg from 'pg'

/** Errors after which a client must not be used again: read-only server, idle transaction, shutdown, crash. */
const leaving = new Set(['25006', '25P03', '57P01', '57P02', '57P03', '57P05'])

/** Five-character SQLSTATE of a Postgres error; undefined when the connection itself failed, with EPIPE for instance. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^(?!E)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Name of the constraint that a Postgres error is about. */
export function violated(error: unknown): string | undefined {
  const constraint = (error as { constraint?: unknown } | null)?.constraint
  return typeof constraint === 'string' ? constraint : undefined
}

/** Errors of connections and statements, as opposed to those of the work between statements. */
const ofDatabase = new WeakSet<Error>()

/** Mistakes of a program, which the driver throws for a value that it cannot send. */
const isMistake = (error: Error): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError

/** Marks an error: a connection or a statement failed. */
export function asOfDatabase(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error('no connection', { cause: thrown })
  if (!isMistake(error)) ofDatabase.add(error)
  return error
}

/** Errors of statements that never got a connection. */
const unreached = new WeakSet<Error>()

/** Marks an error: no connection got the statement. */
export function asNeverReached(thrown: unknown): Error {
  const error = asOfDatabase(thrown)
  unreached.add(error)
  return error
}

/**
 * True when no connection got the statement in any try, so it was not carried out and never will be.
 */
export function neverReached(error: unknown): boolean {
  return error instanceof Error && unreached.has(error)
}

/**
 * True when the outcome of a statement is unknown or the database is unavailable: the connection broke
 * during the statement, no connection was available, or Postgres ended the statement after its time limit.
 */
export function outcomeUnknown(error: unknown): boolean {
  const state = sqlState(error)
  return (
    state === undefined ||
    neverReached(error) ||
    state.startsWith('08') ||
    state.startsWith('57P') ||
    state === '57014' ||
    state === '25006' ||
    state === '25P03'
  )
}

/** Classes and codes of errors by which a server says that it cannot work now, whatever the statement. */
const unable = ['08', '40', '53', '55P03', '57', '58', 'XX', '25006', '25P03', '25P04']

/**
 * True when the database cannot be used now: it is away, only reads, has no room, or is overloaded. A
 * statement that it refuses for its content is no such error.
 */
export function isUnavailable(error: unknown): boolean {
  const isOurs =
    error instanceof pg.DatabaseError || (error instanceof Error && ofDatabase.has(error))
  if (!isOurs) return false
  const state = sqlState(error)
  return outcomeUnknown(error) || unable.some((code) => state!.startsWith(code))
}

/** True when the server, or the way to it, is away. A single statement that took too long is no proof of it. */
export function isOutage(error: unknown): boolean {
  const state = sqlState(error)
  return isUnavailable(error) && !/^(?:40|55|57014)/.test(state ?? '')
}

/**
 * The more serious of two failures of one statement. A failure after which the statement may have
 * run outranks all others; a statement that reached a connection once never counts as unsent.
 */
export function graver(before: unknown, now: unknown): unknown {
  if (neverReached(before)) return now
  if (outcomeUnknown(before)) return before
  return neverReached(now)
    ? asOfDatabase(new Error('no connection could be had for another try', { cause: before }))
    : now
}

/** True when the connection must not be used again. */
export function mustLeave(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined || leaving.has(state) || state.startsWith('08') || state === '0A000'
}
