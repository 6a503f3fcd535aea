/** Failures that pass although the database is there: a lock that others held, or two transactions that cannot both be first. */
import { sqlState } from '../db/database.ts'
import { GatewayError } from '../errors.ts'

/** A deadlock, a lock timeout, and a failed serialization. */
const contended = new Set(['40P01', '55P03', '40001'])

/** Whether the same request may succeed in a moment. A database that is away is told by the guard of the gateway. */
export const isContended = (error: unknown): boolean => contended.has(sqlState(error) ?? '')

export const busy = () =>
  new GatewayError('999.999.888', {
    status: 503,
    description: 'The database is busy: look what was done, and try again.',
    retryAfterSeconds: 1,
  })
