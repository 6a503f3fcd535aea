/** The wire of Acme Bank: named fields as elements of XML. No other file of the connector knows it. */
import type { HttpOptions, Sensitive } from '@tollgate/plugin-kit'
import { readXml, writeXml } from '@tollgate/plugin-kit/xml'

/** Fields of a request. Card data stays `Sensitive`: `http` reveals it while it writes. */
export type Fields = Readonly<Record<string, string | Sensitive | undefined>>

// DECIDE(wire): how does the acquirer take a request, with which content type?
export const written = (fields: Fields): Pick<HttpOptions, 'body' | 'headers'> => ({
  headers: { 'content-type': 'text/xml; charset=utf-8' },
  body: writeXml({ Request: fields }),
})

/** The fields of an answer or a message. Undefined: it is not whole, so it proves nothing. */
export function read(body: Buffer): Readonly<Record<string, string>> | undefined {
  try {
    const { children } = readXml(body)
    return Object.fromEntries(children.map(({ name, text }) => [name, text]))
  } catch {
    return undefined
  }
}
