import type { HttpError, HttpErrorCode } from '@tollgate/plugin-kit'
import { hidden, isSecretName, type Scrubber } from '../redaction/scrub.ts'

/** Limits of one call's record: entries, and characters of bodies, URLs and headers. */
const maxEntries = 50
const maxBody = 8192
const maxBodies = 65_536
const maxUrl = 2048
const maxHeader = 256
/** Kept beyond a body's limit and cut off after scrubbing, so that no half of a secret stays. */
const overlap = 8192

/** Headers worth keeping. All others, and so every login, are dropped. */
const keptHeaders = new Set([
  'accept',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'idempotency-key',
  'retry-after',
  'traceparent',
  'user-agent',
  'x-correlation-id',
  'x-request-id',
])

/** One side of an exchange. `bytes` is the size of the body on the wire, `body` a scrubbed part. */
export type TranscriptMessage = {
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: number
  readonly body?: string
}

/** One request of a connector, safe to store: no secret, no whole card number. */
export type TranscriptEntry = {
  readonly method: string
  readonly url: string
  readonly moves: boolean
  readonly wroteBytes: boolean
  /** Milliseconds after the start of the call, and until the end of the request. */
  readonly startedMs: number
  readonly durationMs: number
  readonly status?: number
  readonly error?: HttpErrorCode
  readonly request: TranscriptMessage
  readonly answer?: TranscriptMessage
}

/** The raw side of a message, kept in memory until the transcript is asked for. */
export type Message = {
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: number
  readonly body: Buffer
}

export type Finished = {
  readonly method: string
  readonly url: URL
  readonly moves: boolean
  readonly wroteBytes: boolean
  readonly startedMs: number
  readonly durationMs: number
  readonly status?: number | undefined
  readonly failure?: HttpError | undefined
  readonly request: Message
  readonly answer?: Message | undefined
}

export type Transcript = {
  add(finished: Finished): void
  /** @param scrubber knows all secrets by now: a token is a secret before it was first sent, too. */
  entries(scrubber: Scrubber): TranscriptEntry[]
}

export function createTranscript(): Transcript {
  const kept: Finished[] = []
  return {
    add(finished) {
      if (kept.length === maxEntries) {
        // The request that may have moved money is the most important one to keep.
        const oldest = kept.findIndex((entry) => !entry.moves)
        kept.splice(Math.max(oldest, 0), 1)
      }
      kept.push(shortened(finished))
    },
    entries(scrubber) {
      const room = { left: maxBodies }
      return kept.map((finished) => entryOf(finished, scrubber, room))
    },
  }
}

function entryOf(finished: Finished, scrubber: Scrubber, room: { left: number }): TranscriptEntry {
  const { request, answer, status, failure } = finished
  return {
    method: finished.method,
    url: scrubber.scrub(readableUrl(finished.url)).slice(0, maxUrl),
    moves: finished.moves,
    wroteBytes: finished.wroteBytes,
    startedMs: Math.round(finished.startedMs),
    durationMs: Math.round(finished.durationMs),
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { error: failure.code }),
    request: messageOf(request, scrubber, room),
    ...(answer !== undefined && { answer: messageOf(answer, scrubber, room) }),
  }
}

function messageOf(
  message: Message,
  scrubber: Scrubber,
  room: { left: number },
): TranscriptMessage {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(message.headers)) {
    if (keptHeaders.has(name)) headers[name] = scrubber.scrub(value).slice(0, maxHeader)
  }
  const shown: TranscriptMessage = { headers, bytes: message.bytes }
  if (message.body.length === 0 || room.left === 0) return shown
  const body = readableBody(message.body, message.headers['content-type'] ?? '', scrubber)
  const cut = body.slice(0, room.left)
  room.left -= cut.length
  return { ...shown, body: cut }
}

/** Scrubs before it cuts, so that no first half of a secret stays at the end. */
function readableBody(kept: Buffer, contentType: string, scrubber: Scrubber): string {
  const text = decoded(kept)
  if (text === undefined) return '[not text]'
  const readable = contentType.includes('x-www-form-urlencoded') ? plainForm(text) : text
  const wasCut = kept.length >= maxBody + overlap
  if (wasCut && scrubber.longest(readable) > overlap) return '[withheld]'
  const scrubbed = scrubber.scrub(readable)
  const whole = wasCut ? scrubbed.slice(0, Math.max(0, scrubbed.length - overlap)) : scrubbed
  return wasCut || whole.length > maxBody ? `${whole.slice(0, maxBody)}…` : whole
}

/** UTF-8, else Latin-1; undefined for binary data. */
function decoded(body: Buffer): string | undefined {
  let text: string
  try {
    // A body that was cut may end within a character.
    const stream = body.length >= maxBody + overlap
    text = new TextDecoder('utf-8', { fatal: true }).decode(body, { stream })
  } catch {
    text = body.toString('latin1')
  }
  return /[\x00-\x08\x0e-\x1f]/.test(text) ? undefined : text
}

/** A form without its encoding, so that a card number with blanks is recognisable. */
function plainForm(text: string): string {
  return Array.from(
    new URLSearchParams(text),
    ([name, value]) => `${name}=${isSecretName(name) ? hidden : value}`,
  ).join('&')
}

function readableUrl(url: URL): string {
  const query = url.search === '' ? '' : `?${plainForm(url.search.slice(1))}`
  let path = url.pathname
  try {
    path = decodeURIComponent(path)
  } catch {
    // A path that is no UTF-8 is shown as it was sent.
  }
  return url.origin + path + query
}

/** Copies the needed part, so that the transcript does not retain large bodies. */
function shortened(finished: Finished): Finished {
  const { request, answer } = finished
  const first = (message: Message): Message =>
    message.body.length <= maxBody + overlap
      ? message
      : { ...message, body: Buffer.from(message.body.subarray(0, maxBody + overlap)) }
  return { ...finished, request: first(request), answer: answer && first(answer) }
}
