import { validateHeaderName, validateHeaderValue } from 'node:http'
import {
  HttpError,
  type HttpOptions,
  type HttpTls,
  type RequestToSign,
  Sensitive,
} from '@tollgate/plugin-kit'
import { isSecretName } from '../redaction/scrub.ts'

/** A request as it goes out. */
export type Wire = {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Absent only where the method has none. */
  readonly body: Buffer | undefined
  /** Certificates of the connection; absent for those of the installation. */
  readonly tls?: HttpTls
}

/** Headers that frame the message or choose the host. Only the engine sets them. */
const ownHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Serialises a connector's request. Only this function reveals `Sensitive` values.
 *
 * @param url the request's own copy, which gets the query.
 * @param secrets receives the values to hide.
 * @throws HttpError `not-sent` naming the invalid part.
 */
export function writeRequest(
  method: string,
  url: URL,
  options: HttpOptions,
  secrets: unknown[],
): Wire {
  const reveal = (value: unknown): unknown => {
    if (!Sensitive.is(value)) return value
    const secret = value.reveal()
    secrets.push(Buffer.isBuffer(secret) ? secret.toString() : secret)
    return secret
  }
  for (const name of ['timeoutMs', 'maxBytes'] as const) {
    const limit = options[name]
    if (limit !== undefined && !(limit > 0)) throw unwritable(`${name} must be above zero`)
  }
  for (const [name, value] of Object.entries(options.query ?? {})) {
    url.searchParams.append(name, textOf(reveal(value), `query.${name}`))
  }
  const { body, type } = bodyOf(method, options, reveal)
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    const text = textOf(reveal(value), `headers.${name}`)
    addHeader(headers, name, text)
    // Acquirers repeat the credentials of a request in responses and within other values.
    if (isSecretName(name)) secrets.push(text, text.slice(text.lastIndexOf(' ') + 1))
  }
  const { tls, sign } = options
  const signed = sign?.(toSign(method, url, body)) ?? {}
  for (const [name, value] of Object.entries(signed)) {
    const text = textOf(reveal(value), `headers.${name}`)
    addHeader(headers, name, text)
    // A digest without a key would tell a card number to whoever knows the rest of the body.
    secrets.push(text)
  }
  return tls === undefined || url.protocol !== 'https:'
    ? { method, url, headers, body }
    : { method, url, headers, body, tls }
}

const toSign = (method: string, url: URL, body: Buffer | undefined): RequestToSign => ({
  method,
  target: new Sensitive(`${url.pathname}${url.search}`),
  body: new Sensitive(body ?? Buffer.alloc(0)),
})

function addHeader(headers: Record<string, string>, name: string, value: string): void {
  const key = name.toLowerCase()
  if (ownHeaders.has(key)) throw unwritable(`headers.${name} is set by the engine; leave it out`)
  try {
    validateHeaderName(key)
    validateHeaderValue(key, value)
  } catch {
    throw unwritable(`headers.${name} has a character that a header cannot hold`)
  }
  headers[key] = value
}

function bodyOf(
  method: string,
  { json, form, body }: HttpOptions,
  reveal: (value: unknown) => unknown,
): { body: Buffer | undefined; type?: string } {
  const given = [json, form, body].filter((part) => part !== undefined).length
  if (given > 1) throw unwritable('only one of json, form and body can be sent')
  if (method === 'GET') {
    if (given > 0) throw unwritable('a GET request has no json, form or body')
    return { body: undefined }
  }
  if (json !== undefined) {
    return { body: bytesOf(jsonOf(json, reveal)), type: 'application/json' }
  }
  if (form !== undefined) {
    return { body: bytesOf(formOf(form, reveal)), type: 'application/x-www-form-urlencoded' }
  }
  return { body: bytesOf(plainBody(body, reveal)) }
}

function plainBody(
  body: HttpOptions['body'],
  reveal: (value: unknown) => unknown,
): string | Buffer {
  if (body === undefined) return ''
  const plain = Array.isArray(body)
    ? body.map((part) => textOrNumber(reveal(part), 'each part of body')).join('')
    : reveal(body)
  if (typeof plain === 'string' || Buffer.isBuffer(plain)) return plain
  throw unwritable('body must be text, bytes or a list of texts')
}

/** Memory of its own: a slice of Node's shared pool would retain 64 KB until the acquirer responds. */
function bytesOf(content: string | Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(content))
  if (typeof content === 'string') bytes.write(content)
  else bytes.set(content)
  return bytes
}

function jsonOf(json: unknown, reveal: (value: unknown) => unknown): string {
  const text = JSON.stringify(json, function (this: Record<string, unknown>, key, value) {
    // `value` has passed toJSON, which hides sensitive values; the holder has the original.
    const original = this[key]
    if (!Sensitive.is(original)) {
      if (typeof value === 'bigint') throw unwritable(`json.${key} is a bigint; send it as text`)
      return value
    }
    return textOrNumber(reveal(original), `json.${key}`)
  })
  if (text === undefined) throw unwritable('json cannot be a function or a symbol')
  return text
}

function formOf(
  form: Readonly<Record<string, unknown>>,
  reveal: (value: unknown) => unknown,
): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) pairs.append(name, textOf(reveal(item), `form.${name}`))
    }
  }
  return pairs.toString()
}

function textOf(value: unknown, field: string): string {
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  return String(textOrNumber(value, field))
}

function textOrNumber(value: unknown, field: string): string | number {
  if (typeof value === 'string' || typeof value === 'number') return value
  throw unwritable(`${field} must be text or a number`)
}

function unwritable(why: string): HttpError {
  return new HttpError('not-sent', `The request cannot be written: ${why}.`, false)
}
