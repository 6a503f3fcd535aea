/** Errors of the embedding program, in the log that it reads itself. */
import { maskedStart } from './mask.ts'

const characters = 300
/** How many causes below each other are looked at, as many as the log names. */
const deepest = 4
/** How many errors beside each other are looked at. */
const widest = 100
/** With a digit, because codes of the operating system such as EPIPE have five letters. */
const sqlState = /^(?=.*[0-9])[0-9A-Z]{5}$/
/** Where libraries keep the error that they wrap: JavaScript itself, and query builders and pools. */
const wrapped = [
  'cause',
  'error',
  'suppressed',
  'original',
  'originalError',
  'parent',
  'driverError',
]

type Members = Readonly<Record<string, unknown>>

/**
 * The message of an error that code of the program threw, for a log line. Card numbers are masked. Of an error of
 * Postgres, also below that of a query builder, the code says what happened, and messages may hold values of a row.
 */
export function programReason(error: unknown): { reason?: string } {
  try {
    const { message } = (error ?? {}) as { message?: unknown }
    const text = typeof error === 'string' ? error : message
    if (typeof text !== 'string' || text === '' || isOfStatement(error)) return {}
    return { reason: maskedStart(text, characters) }
  } catch {
    // A member that cannot be read: the line about the error comes without a reason.
    return {}
  }
}

/**
 * Whether a statement failed, as far as an error and those that it wraps tell; with too many of them it counts as
 * that.
 */
function isOfStatement(error: unknown): boolean {
  let level = [error].filter(isObject)
  for (let depth = 0; depth <= deepest; depth += 1) {
    if (level.length > widest || level.some(tellsOfStatement)) return true
    level = [...new Set(level.flatMap(below))]
    if (level.length === 0) return false
  }
  return true
}

function tellsOfStatement({ severity, code, query, sql }: Members): boolean {
  // Query builders put the statement beside a message with its values, whatever the cause.
  if ([severity, query, sql].some((fact) => fact !== undefined)) return true
  return typeof code === 'string' && sqlState.test(code)
}

function below(error: Members): Members[] {
  const { errors } = error
  const several = Array.isArray(errors) ? errors.slice(0, widest + 1) : []
  return [...wrapped.map((name) => error[name]), ...several].filter(isObject)
}

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null
