/** The refusal of a call while the database cannot be used. */
import { mayHaveActed, presentCall } from '../call-trace.ts'
import { GatewayError } from '../errors.ts'

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
    description:
      'The database is not available. Send the request again, with the same Idempotency-Key if it has one.',
    retryAfterSeconds: 1,
    retrySafe: call !== undefined && !mayHaveActed(call),
    cause,
  })
}
