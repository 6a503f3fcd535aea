/** Errors of the embedding program, in the log that it reads itself. */
import { maskCardNumbers } from './mask.ts'

const characters = 300
/** How many causes are looked at, as many as the log names. */
const deepest = 4
/** With a digit, because codes of the operating system such as EPIPE have five letters. */
const sqlState = /^(?=.*[0-9])[0-9A-Z]{5}$/

/**
 * The message of an error that code of the program threw, for a log line. Card numbers are masked. Of an error of
 * Postgres, also below that of a query builder, the code says what happened, and messages may hold values of a row.
 */
export function programReason(error: unknown): { reason?: string } {
  const { message } = (error ?? {}) as { message?: unknown }
  const text = typeof error === 'string' ? error : message
  if (typeof text !== 'string' || text === '' || isOfStatement(error)) return {}
  return { reason: maskCardNumbers(text.slice(0, 4 * characters)).slice(0, characters) }
}

/** Whether a statement failed, as far as an error and its causes tell; with too many causes it counts as that. */
function isOfStatement(error: unknown): boolean {
  let one = error
  for (let depth = 0; depth <= deepest; depth += 1) {
    if (typeof one !== 'object' || one === null) return false
    const { severity, code, query, sql, cause } = one as Readonly<Record<string, unknown>>
    // Query builders put the statement beside a message with its values, whatever the cause.
    if ([severity, query, sql].some((fact) => fact !== undefined)) return true
    if (typeof code === 'string' && sqlState.test(code)) return true
    one = cause
  }
  return one !== undefined && one !== null
}
