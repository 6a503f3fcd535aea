/** Failures of the database that pass: a lock that others held, a connection that broke or never came free. */
import { neverReached, outcomeUnknown, sqlState } from '../db/database.ts'
import { GatewayError } from '../errors.ts'

/** A deadlock, a lock timeout, and two transactions that cannot both be first. */
const contended = new Set(['40P01', '55P03', '40001'])

/** What a broken connection says, of this engine and of `pg`; the errors of both have no code. */
const broken =
  /^(?:the database did not answer|Connection terminated|Client has encountered a connection error)/
const brokenCodes = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'])

/** Whether the same request may succeed in a moment. Every other failure is a fault of the engine. */
export function isPassing(error: unknown): boolean {
  if (neverReached(error)) return true
  const state = sqlState(error)
  if (state !== undefined) return contended.has(state) || outcomeUnknown(error)
  if (!(error instanceof Error)) return false
  return broken.test(error.message) || brokenCodes.has((error as NodeJS.ErrnoException).code ?? '')
}

export const busy = () =>
  new GatewayError('999.999.888', {
    status: 503,
    description: 'The database is busy or not available: look what was done, and try again.',
    retryAfterSeconds: 1,
  })
