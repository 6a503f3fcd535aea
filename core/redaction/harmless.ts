import { maskEscapedNumbers } from './mask.ts'
import { hidden, isSecretName } from './scrub.ts'

export type Facts = Readonly<Record<string, unknown>>

/** Ids contain no card number, but one in thousands looks like a card number. */
const idText = /^[0-9a-f]{32}$/

/**
 * A value that its table declares open. Facts show it whole, whatever its digits or its name resemble: people
 * have to see what they agree to.
 */
export class Whole {
  readonly #value: unknown

  constructor(value: unknown) {
    this.#value = value
  }

  /** In JSON, and therefore in digests, it is the value itself. */
  toJSON(): unknown {
    return this.#value
  }
}

/** Facts for the audit trail, without card numbers and without values whose names stand for secrets. */
export function harmless(facts: Facts): Facts {
  return cleaned(facts) as Facts
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return idText.test(value) ? value : maskEscapedNumbers(value)
  if (value instanceof Whole) return value.toJSON()
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      maskEscapedNumbers(name),
      isSecretName(name) && typeof inner === 'string' ? hidden : cleaned(inner),
    ]),
  )
}

/** The URL of an endpoint without user, query and fragment, which may contain a password. */
export function withoutSecrets(url: string): string {
  const { protocol, host, pathname, search } = new URL(url)
  return maskEscapedNumbers(`${protocol}//${host}${pathname}${search === '' ? '' : `?${hidden}`}`)
}
