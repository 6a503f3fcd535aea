/** The refusal of a call while the database cannot be used. */
import { mayHaveActed, presentCall } from '../call-trace.ts'
import { GatewayError } from '../errors.ts'
import { sqlState } from './failures.ts'

/** What a caller may know: an outage, or a database that works and was kept from it. */
function reasonOf(cause: unknown): string {
  const state = sqlState(cause)
  if (state === '55P03') return 'Another transaction holds a row that this call needs.'
  if (state === '57014') return 'The time limit of a statement in the database was over.'
  return 'The database is not available.'
}

/**
 * The same for every call. `retrySafe` is true only if the call can have changed nothing: no statement of it
 * reached a connection that could write, and no request left this process.
 *
 * @param cause The error of the database.
 */
export function databaseUnavailable(cause?: unknown): GatewayError {
  const call = presentCall()
  return new GatewayError('999.999.888', {
    status: 503,
    description: `${reasonOf(cause)} Send the request again with the same Idempotency-Key. If it had none, look up first whether it was carried out, unless retrySafe is true.`,
    retryAfterSeconds: 1,
    retrySafe: call !== undefined && !mayHaveActed(call),
    cause,
  })
}
