/** The wire of Acme Bank: named fields as a form. No other file of the connector knows it. */
import { type HttpOptions, readText, type Sensitive } from '@tollgate/plugin-kit'

/** Fields of a request. Card data stays `Sensitive`: `http` reveals it while it writes. */
export type Fields = Readonly<Record<string, string | Sensitive | undefined>>

// DECIDE(wire): how does the acquirer take a request, with which content type?
export const written = (fields: Fields): Pick<HttpOptions, 'form'> => ({
  form: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
})

/** The last field of an answer: a form has no end of its own, and half an amount is an amount. */
const end = 'end'

/** The fields of an answer or a message. Undefined: it is not whole, so it proves nothing. */
export function read(body: Buffer): Readonly<Record<string, string>> | undefined {
  const pairs = [...new URLSearchParams(readText(body))]
  const fields = Object.fromEntries(pairs)
  const isWhole = pairs.at(-1)?.[0] === end && pairs.at(-1)?.[1] === 'ok'
  return isWhole && Object.keys(fields).length === pairs.length ? fields : undefined
}
