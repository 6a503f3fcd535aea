/** The wire of Acme Bank: named fields as JSON. No other file of the connector knows it. */
import { type HttpOptions, readJson, type Sensitive } from '@tollgate/plugin-kit'

/** Fields of a request. Card data stays `Sensitive`: `http` reveals it while it writes. */
export type Fields = Readonly<Record<string, string | Sensitive | undefined>>

// DECIDE(wire): how does the acquirer take a request, with which content type?
export const written = (fields: Fields): Pick<HttpOptions, 'json'> => ({ json: fields })

/** The fields of an answer or a message. Undefined: it is not whole, so it proves nothing. */
export function read(body: Buffer): Readonly<Record<string, string>> | undefined {
  let json: unknown
  try {
    json = readJson(body)
  } catch {
    return undefined
  }
  if (typeof json !== 'object' || json === null) return undefined
  const isFlat = Object.values(json).every((value) => typeof value === 'string')
  return isFlat ? { ...json } : undefined
}
