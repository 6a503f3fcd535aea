import { HttpError, type HttpOptions } from '../http.ts'
import { Sensitive } from '../sensitive.ts'

/** A written request, and its values marked as sensitive. */
export type Written = {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly secrets: readonly string[]
}

/** Headers that frame the message or choose the host, which the engine sets. */
const ownHeaders = /^(connection|content-length|expect|host|te|trailer|transfer-encoding|upgrade)$/i

/**
 * Writes a connector's request, with the engine's refusals.
 *
 * @throws HttpError `not-sent` naming the part that cannot be written, or `refused-address`.
 */
export function writeRequest(method: string, address: string, options: HttpOptions): Written {
  const secrets: string[] = []
  const text = (value: unknown, field: string): string => {
    const plain = Sensitive.is(value) ? value.reveal() : value
    if (!['string', 'number', 'boolean', 'bigint'].includes(typeof plain)) {
      throw unwritable(`${field} must be text or a number`)
    }
    if (Sensitive.is(value)) secrets.push(String(plain))
    return String(plain)
  }
  if (!URL.canParse(address)) {
    throw new HttpError('refused-address', 'The URL must be a complete one.', false)
  }
  const url = new URL(address)
  for (const [name, value] of Object.entries(options.query ?? {})) {
    url.searchParams.append(name, text(value, `query.${name}`))
  }
  const { type, body } = bodyOf(method, options, text)
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
  const signed = options.sign?.({
    method,
    target: new Sensitive(`${url.pathname}${url.search}`),
    body: new Sensitive(body),
  })
  for (const [name, value] of Object.entries({ ...options.headers, ...signed })) {
    if (ownHeaders.test(name)) {
      throw unwritable(`headers.${name} is set by the engine; leave it out`)
    }
    headers[name.toLowerCase()] = text(value, `headers.${name}`)
  }
  return { method, url, headers, body, secrets }
}

type Text = (value: unknown, field: string) => string

function bodyOf(
  method: string,
  { json, form, body }: HttpOptions,
  text: Text,
): { type?: string; body: Buffer } {
  const given = [json, form, body].filter((part) => part !== undefined).length
  if (given > 1) throw unwritable('only one of json, form and body can be sent')
  if (given > 0 && method === 'GET') throw unwritable('a GET request has no json, form or body')
  if (json !== undefined) {
    return { type: 'application/json', body: Buffer.from(jsonOf(json, text)) }
  }
  if (form === undefined) return { body: plainBody(body, text) }
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) pairs.append(name, text(item, `form.${name}`))
    }
  }
  return { type: 'application/x-www-form-urlencoded', body: Buffer.from(pairs.toString()) }
}

function plainBody(body: HttpOptions['body'], text: Text): Buffer {
  if (body === undefined) return Buffer.alloc(0)
  if (Buffer.isBuffer(body)) return body
  const bytes = Sensitive.is(body) ? body.reveal() : undefined
  if (!Buffer.isBuffer(bytes)) {
    return Buffer.from(
      [body]
        .flat()
        .map((part) => text(part, 'body'))
        .join(''),
    )
  }
  text(new Sensitive(bytes.toString()), 'body')
  return bytes
}

function jsonOf(json: unknown, text: Text): string {
  return JSON.stringify(json, function (this: Record<string, unknown>, name, value: unknown) {
    // `value` went through toJSON already, which hides sensitive values; the holder has the
    // original.
    const original = this[name]
    if (Sensitive.is(original)) return text(original, `json.${name}`)
    if (typeof value === 'bigint') throw unwritable(`json.${name} is a bigint; send it as text`)
    return value
  })
}

function unwritable(why: string): HttpError {
  return new HttpError('not-sent', `The request cannot be written: ${why}.`, false)
}
