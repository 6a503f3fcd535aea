/** The wire of Acme Bank: named fields as JSON. No other file of the connector knows it. */
import { type HttpOptions, readJson, type Sensitive } from '@tollgate/plugin-kit'

/** Fields of a request. Card data stays `Sensitive`: `http` reveals it while it writes. */
export type Fields = Readonly<Record<string, string | Sensitive | undefined>>

// DECIDE(wire): how does the acquirer take a request, with which content type?
export const written = (fields: Fields): Pick<HttpOptions, 'json'> => ({ json: fields })

/**
 * The fields of an answer or a message as texts; one inside another is `amount.value`. Undefined: it is not whole, so it
 * proves nothing.
 */
export function read(body: Buffer): Readonly<Record<string, string>> | undefined {
  const fields = new Map<string, string>()
  try {
    const json = readJson(body)
    const isWhole = typeof json === 'object' && json !== null && areRead(json, '', fields)
    return isWhole ? Object.fromEntries(fields) : undefined
  } catch {
    return undefined
  }
}

function areRead(values: object, within: string, fields: Map<string, string>): boolean {
  return Object.entries(values).every(([name, value]: [string, unknown]) => {
    const path = within + name
    if (value === null) return true
    if (typeof value === 'object') return areRead(value, `${path}.`, fields)
    // DECIDE(numbers): are all of them integers? JSON reads 92.00 as 92, and a long number without its last digits.
    const isExact = typeof value !== 'number' || Number.isSafeInteger(value)
    // A name that stands twice would have two meanings.
    if (!isExact || fields.has(path)) return false
    fields.set(path, String(value))
    return true
  })
}
