/** Errors of the embedding program, in the log that it reads itself. */
import { maskCardNumbers } from './mask.ts'

const characters = 300

/**
 * The message of an error that code of the program threw, for a log line. Card numbers are masked. Of an error of
 * Postgres, the code says what happened, and the message may hold values of a row.
 */
export function programReason(error: unknown): { reason?: string } {
  const { message, severity } = (error ?? {}) as { message?: unknown; severity?: unknown }
  const text = typeof error === 'string' ? error : message
  if (typeof text !== 'string' || text === '' || severity !== undefined) return {}
  return { reason: maskCardNumbers(text.slice(0, 4 * characters)).slice(0, characters) }
}
