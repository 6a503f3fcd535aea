/** The shape that every answer must have. */
import { isResultCode, operations } from '../../schemas/index.ts'
import type { Answer } from './wire.ts'

const statuses = new Set([200, 400, 401, 403, 404, 405, 408, 411, 413, 414, 429, 431])

/** A message of an acquirer that was not kept: only this status makes acquirers send it again. */
const comesAgain = /"description":"The message could not be \w+ now\. Send it again\."/

/** Traces of internals: file names, stack frames, names of errors, messages of Postgres. */
const inside =
  /\.(?:ts|js|mjs):\d+|node_modules|node:internal|\bat \S+ \(|\b(?:Type|Range|Syntax|Reference)Error\b|HPE_|ERR_[A-Z]|ECONN|SQLSTATE|violates .{0,20}constraint|syntax error at or near/

export type Said = {
  readonly id?: unknown
  readonly result?: {
    readonly code?: unknown
    readonly description?: unknown
    readonly parameterErrors?: readonly { readonly name: string; readonly message: string }[]
  }
  readonly buildNumber?: unknown
  readonly timestamp?: unknown
  readonly ndc?: unknown
}

/** The flaw of an answer in words, or undefined. */
export function wrongWith({ status, headers, body }: Answer): string | undefined {
  if (status === 0) return 'no answer came'
  if (!statuses.has(status) && !(status === 503 && comesAgain.test(body))) return `status ${status}`
  if (headers.get('content-type') !== 'application/json;charset=UTF-8') {
    return `media type ${headers.get('content-type')}`
  }
  if (inside.test(body)) return 'the answer reveals internals'
  let said: Said
  try {
    said = JSON.parse(body)
  } catch {
    return 'the body is not JSON'
  }
  const { result } = said
  if (typeof said !== 'object' || said === null || result === undefined) return 'no result'
  if (typeof result.code !== 'string' || !isResultCode(result.code)) return 'no result.code'
  if (typeof result.description !== 'string') return 'no result.description'
  for (const name of ['buildNumber', 'timestamp', 'ndc'] as const) {
    if (typeof said[name] !== 'string') return `no ${name}`
  }
  return undefined
}

/** The flaw of a page that a shopper's browser is answered with, or undefined. */
export function wrongWithPage({ status, headers, body }: Answer): string | undefined {
  if (status === 0) return 'no answer came'
  if (status !== 303 && !statuses.has(status)) return `status ${status}`
  if (headers.get('content-type') !== 'text/html;charset=UTF-8') {
    return `media type ${headers.get('content-type')}`
  }
  const policy = headers.get('content-security-policy') ?? ''
  if (!policy.startsWith("default-src 'none'")) return 'a page that may load something'
  return inside.test(body) ? 'the page reveals internals' : undefined
}

/** A file of the widget, which is the same for everyone. */
export function wrongWithFile({ status, headers }: Answer): string | undefined {
  if (status !== 200 && status !== 404) return `status ${status}`
  return headers.get('x-content-type-options') === 'nosniff' ? undefined : 'a file of any type'
}

/** The parts of an answer that classify it: inputs with the same class need only one example. */
export function wayOf(operation: string, { status, body }: Answer): string {
  let said: Said
  try {
    said = JSON.parse(body)
  } catch {
    return `${operation} ${status}`
  }
  const errors = said.result?.parameterErrors ?? []
  const kinds = errors.slice(0, 8).map(({ name, message }) => errorKind(name, message))
  const fields = errors.length > 0 ? '' : Object.keys(said).sort().join()
  const told = [...new Set(kinds)].sort().join('|')
  return `${operation} ${status} ${String(said.result?.code)} ${told} ${fields}`
}

/** A known name with its error; unknown names count as one. */
export function errorKind(name: string, message: string): string {
  const plain = general(name)
  return `${known.has(plain) ? plain : '?'}:${general(message).slice(0, 24)}`
}

const known = new Set(
  [...operations().values()].flatMap(({ fields }) =>
    fields.map(({ name }) => name.replaceAll('[n]', '[0]').replace('[name]', '[abc]')),
  ),
)

/** Removes numbers and unknown names, which differ by chance. */
const general = (text: string) =>
  text
    .replaceAll(/\d+/g, '0')
    .replaceAll(/[^\x20-\x7e]+/g, '?')
    .slice(0, 60)
