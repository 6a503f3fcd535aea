import { maskEscapedNumbers } from './mask.ts'
import { hidden, isSecretName } from './scrub.ts'

export type Facts = Readonly<Record<string, unknown>>

/** Ids are of our making, and one in thousands would pass for a card number. */
const idText = /^[0-9a-f]{32}$/

/** Facts as they may stand in the audit trail: no card number, and nothing that has a secret's name. */
export function harmless(facts: Facts): Facts {
  return cleaned(facts) as Facts
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return idText.test(value) ? value : maskEscapedNumbers(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      maskEscapedNumbers(name),
      isSecretName(name) && typeof inner === 'string' ? hidden : cleaned(inner),
    ]),
  )
}

/** A URL by which somebody is called, without what may be a password: user, query and fragment. */
export function withoutSecrets(url: string): string {
  const { protocol, host, pathname, search } = new URL(url)
  return maskEscapedNumbers(`${protocol}//${host}${pathname}${search === '' ? '' : `?${hidden}`}`)
}
