import type { Json, Log } from '@tollgate/plugin-kit'
import { errorFields } from '../error-words.ts'
import { isUnavailable } from './failures.ts'

/**
 * Tells the log that work in the background failed and will be done again. An outage of the database has lines of
 * its own, instead of one for each piece of work that waits for it.
 */
export function tellFailure(
  log: Log,
  error: unknown,
  message: string,
  about: Readonly<Record<string, Json>> = {},
): void {
  const { cause } = (error ?? {}) as { cause?: unknown }
  if (isUnavailable(error) || isUnavailable(cause)) return
  log.warn({ ...about, ...errorFields(error) }, message)
}
