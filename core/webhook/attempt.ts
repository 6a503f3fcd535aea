/** One attempt to send one notification. */
import type { KeyObject } from 'node:crypto'
import { type HttpAnswer, HttpError } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { systemCodeOf } from '../net/connect.ts'
import { longestWritten } from '../redaction/card-numbers.ts'
import { createScrubber } from '../redaction/scrub.ts'
import { encryptBody, signature } from '../vault/webhook-keys.ts'
import { retryAfterMs } from './backoff.ts'
import type { Callback, Endpoint, EndpointKeys, Tried } from './types.ts'

const shownCharacters = limits.webhookAnswerCharacters
/** Scrubbed beyond the shown part and then cut off: more than the longest spelling of a card number. */
const overlap = Math.max(shownCharacters, longestWritten)

/** The notification to send. */
export type Message = {
  /** The same in every attempt. */
  readonly id: string
  /** Counts the notifications about one resource. */
  readonly sequence: number
  /** JSON text. */
  readonly body: string
}

/** Calls under way, which shutdown aborts one by one. */
export type Underway = Set<{ finish(): unknown }>

/** Sends a notification. Never throws: every failure is a result of the attempt. */
export function sendNotification(
  engine: Engine,
  endpoint: Endpoint,
  keys: EndpointKeys,
  message: Message,
  underway?: Underway,
  withOldKey = false,
): Promise<Tried> {
  const nowMs = engine.clock.realMs()
  const timestamp = Math.floor(nowMs / 1000)
  const isOld =
    withOldKey && keyIsRotating(endpoint, nowMs) && keys.previousEncryption !== undefined
  const key = isOld ? keys.previousEncryption! : keys.encryption
  const { body, headers } = wrapped(endpoint, key, message.body)
  const rotating = endpoint.previousUntil !== null && endpoint.previousUntil.getTime() > nowMs
  const signing =
    rotating && keys.previous !== undefined ? [keys.signing, keys.previous] : [keys.signing]
  const shown = {
    'webhook-id': message.id,
    'webhook-timestamp': String(timestamp),
    'webhook-sequence': String(message.sequence),
    ...headers,
  }
  return exchange(
    engine,
    underway,
    { url: endpoint.url, headers: shown, bytes: body.length },
    (http) =>
      http.request('POST', endpoint.url, {
        body,
        headers: { ...shown, 'webhook-signature': signature(signing, message.id, timestamp, body) },
        timeoutMs: limits.webhookTimeoutMs,
        maxBytes: limits.webhookAnswerBytes,
      }),
  )
}

/** Calls a URL from a merchant's request: GET with `id` and `resourcePath`. */
export function sendCallback(
  engine: Engine,
  { url, id, resourcePath }: Callback,
  underway: Underway,
): Promise<Tried> {
  return exchange(engine, underway, { url, query: { id, resourcePath } }, (http) =>
    http.get(
      url,
      { id, resourcePath },
      { timeoutMs: limits.webhookTimeoutMs, maxBytes: limits.webhookAnswerBytes },
    ),
  )
}

/** Whether the key before the last rotation may still encrypt. */
const keyIsRotating = ({ previousKeyUntil }: Endpoint, nowMs: number) =>
  previousKeyUntil !== null && previousKeyUntil.getTime() > nowMs

function wrapped(
  { wrapper }: Endpoint,
  encryption: KeyObject,
  text: string,
): { body: string; headers: Record<string, string> } {
  if (wrapper === 'NONE') return { body: text, headers: { 'content-type': 'application/json' } }
  const { body, iv, tag } = encryptBody(encryption, text)
  const headers = { 'X-Initialization-Vector': iv, 'X-Authentication-Tag': tag }
  return wrapper === 'TEXT'
    ? { body, headers: { 'content-type': 'text/plain; charset=UTF-8', ...headers } }
    : {
        body: JSON.stringify({ encryptedBody: body }),
        headers: { 'content-type': 'application/json', ...headers },
      }
}

type Call = ReturnType<Engine['toMerchants']['forCall']>

async function exchange(
  engine: Engine,
  underway: Underway | undefined,
  sent: Readonly<Record<string, unknown>> & { readonly url: string },
  send: (http: Call['http']) => Promise<HttpAnswer>,
): Promise<Tried> {
  const { clock } = engine
  const at = new Date(clock.realMs())
  const startedMs = clock.elapsedMs()
  const deadlineMs = startedMs + limits.webhookTimeoutMs
  const call = engine.toMerchants.forCall({
    deadlineMs,
    sendBy: { monotonicMs: deadlineMs, wallMs: clock.realMs() + limits.webhookTimeoutMs },
  })
  underway?.add(call)
  let error: string | null = null
  let whole: HttpAnswer | undefined
  try {
    whole = await send(call.http)
  } catch (thrown) {
    error = thrown instanceof HttpError ? reasonOf(thrown) : 'not-sent'
  }
  underway?.delete(call)
  call.finish()
  const { status, url, answer } =
    whole === undefined ? partly(call, sent.url) : told(whole, sent.url)
  // A receiver that answers 2xx with an endless body has accepted the notification.
  const isAnswered = error === null || error === 'too-large'
  return {
    at,
    durationMs: Math.round(clock.elapsedMs() - startedMs),
    status,
    error,
    delivered: isAnswered && status !== null && status >= 200 && status < 300,
    retryAfterMs: retryAfterMs(whole?.headers['retry-after'], clock.realMs()) ?? 0,
    request: { ...sent, url },
    answer: engine.showsAnswers ? storedText(answer) : null,
  }
}

/** For operators and merchants: the code, and why there was no connection. Nothing that the other side said. */
function reasonOf(failure: HttpError): string {
  const cause = systemCodeOf(failure)
  if (failure.code !== 'not-sent' || cause === undefined) return failure.code
  const word = causes.find(([codes]) => codes.test(cause))?.[1]
  return `${failure.code}: ${word === undefined ? cause : `${word} (${cause})`}`
}

const causes: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL)$/, 'name not found'],
  [/^ETIMEDOUT$/, 'time-out'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'no way to the address'],
  [/^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|EPROTO$)|_CERT|HOSTNAME_MISMATCH/, 'TLS failed'],
]

type Shown = {
  readonly status: number | null
  readonly url: string
  readonly answer: string | undefined
}

/** The visible part of a broken exchange. */
function partly(call: Call, url: string): Shown {
  const [entry] = call.transcript()
  return {
    status: entry?.status ?? null,
    url: entry?.url ?? createScrubber().scrub(url),
    answer: entry?.answer?.body,
  }
}

/**
 * The visible part of a complete exchange. Only this part is scrubbed, since the request's body is
 * long and encrypted.
 */
function told(answer: HttpAnswer, url: string): Shown {
  const { scrub } = createScrubber()
  const whole = answer.text()
  const text = whole.slice(0, shownCharacters + overlap)
  const shown = { status: answer.status, url: scrub(url) }
  if (text === '') return { ...shown, answer: text }
  if (/[\x00-\x08\x0e-\x1f]/.test(text)) return { ...shown, answer: '[not text]' }
  const scrubbed = scrub(text)
  if (text.length === whole.length) return { ...shown, answer: scrubbed }
  // A scrub makes some texts shorter, so that the end, where half a number can stand, comes into view.
  return { ...shown, answer: scrubbed.slice(0, -overlap) || '[withheld]' }
}

/** The start of a response, without characters that Postgres rejects. */
function storedText(body: string | undefined): string | null {
  if (body === undefined || body === '') return null
  return body.replaceAll('\u0000', '').toWellFormed().slice(0, shownCharacters)
}
