/** Errors in words of the log. */

/** How many causes of an error are named. */
const deepest = 4

type Thrown = {
  readonly name?: unknown
  readonly code?: unknown
  readonly stack?: unknown
  readonly message?: unknown
  readonly cause?: unknown
}

const thrownOf = (error: unknown): Thrown =>
  typeof error === 'object' && error !== null ? error : { name: typeof error }

/** Kind and code of an error: `Error ECONNREFUSED`. */
function kindOf(error: unknown): string {
  const { name, code } = thrownOf(error)
  const kind = typeof name === 'string' ? name.slice(0, 100) : 'error'
  return typeof code === 'string' ? `${kind} ${code.slice(0, 100)}` : kind
}

/** Fields of a log line about an error. */
export type ErrorFields = {
  error: string
  code: string
  /** Where it was thrown. */
  place: string
  /** Kinds and codes of its causes, the nearest first; absent without any. */
  cause?: string
}

/**
 * Kind, code and place of an error, and the kinds of its causes. Not its text, which may hold anything.
 */
export function errorFields(error: unknown): ErrorFields {
  const { name, code, stack, message, cause } = thrownOf(error)
  const text = typeof stack === 'string' ? stack : ''
  const said = typeof message === 'string' ? text.indexOf(message) + message.length : 0
  const place = text
    .slice(Math.max(0, said))
    .split('\n')
    .find((line) => line.startsWith('    at '))
  const causes: string[] = []
  for (let one = cause; one !== undefined && one !== null; one = thrownOf(one).cause) {
    if (causes.length === deepest) break
    causes.push(kindOf(one))
  }
  return {
    error: typeof name === 'string' ? name.slice(0, 100) : typeof error,
    code: typeof code === 'string' ? code.slice(0, 100) : '',
    place: place?.trim() ?? '',
    ...(causes.length > 0 && { cause: causes.join(', ') }),
  }
}

/**
 * The text of an error of a connection, which names addresses and no data. Its first inner error and its
 * causes count: a host name with several addresses fails with one error for each.
 */
export function reasonOf(error: unknown): string {
  const { message, cause } = thrownOf(error)
  const inner = error instanceof AggregateError ? error.errors[0] : undefined
  if (inner !== undefined) return reasonOf(inner)
  const text = typeof message === 'string' && message !== '' ? message : kindOf(error)
  const more = cause === undefined || cause === null ? '' : `: ${reasonOf(cause)}`
  return `${text}${more}`.slice(0, 300)
}
