/** The names of options that an embedding program gives to a call: a misspelt one would be ignored. */
import { GatewayError } from '../errors.ts'
import { suggest, vocabularyOf } from '../near-name.ts'
import { printableName } from '../request/names.ts'

/** Options of a payment's call. */
export const requestOptions = ['idempotencyKey', 'caller', 'by'] as const

/** The same, in a transaction of the program. */
export const acceptOptions = [...requestOptions, 'client'] as const

/** The same, of a call that may need two people. */
export const agreedOptions = [...requestOptions, 'proposal'] as const

/** @throws GatewayError 200.300.404 naming each option that the call does not take. */
export function refuseUnknownOptions(options: unknown, known: readonly string[]): void {
  const refusal = options === null ? undefined : unknownOptions(options, known)
  if (refusal !== undefined) throw refusal
}

/** The refusal of options that the call does not take, and of what holds none: a text would be read as no options. */
export function unknownOptions(
  options: unknown,
  known: readonly string[],
): GatewayError | undefined {
  if (options === undefined) return undefined
  if (typeof options !== 'object' || options === null) {
    const message = `must be an object, such as { ${known[0]} }`
    return new GatewayError('200.300.404', { parameterErrors: [{ name: 'options', message }] })
  }
  const unknown = Object.keys(options).filter((name) => !known.includes(name))
  if (unknown.length === 0) return undefined
  return new GatewayError('200.300.404', {
    parameterErrors: unknown.map((name) => ({
      name: printableName(name),
      message: why(name, known),
    })),
  })
}

function why(name: string, known: readonly string[]): string {
  if (name === 'client') {
    return 'is an option of accept: this call sends at once, outside of your transaction'
  }
  const meant = suggest(name, vocabularyOf(known))
  return `is no option of this call${meant === undefined ? '' : `; did you mean ${meant}?`}`
}

/**
 * The id that a method takes: a program without types may have none, and would read that nothing was found.
 *
 * @throws GatewayError 200.300.404 naming `id`.
 */
export function requireId(id: unknown): void {
  if (typeof id === 'string' && id !== '') return
  throw new GatewayError('200.300.404', {
    parameterErrors: [{ name: 'id', message: 'is missing' }],
  })
}
