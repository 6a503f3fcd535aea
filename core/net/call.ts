import { channel } from 'node:diagnostics_channel'
import type { Http, HttpError, HttpErrorCode } from '@tollgate/plugin-kit'
import type { Clock } from '../clock.ts'
import type { UrlCheck } from './address.ts'
import { Exchange, type SendBy } from './exchange.ts'
import { createScrubber } from './scrub.ts'
import { createTranscript, type Message, type TranscriptEntry } from './transcript.ts'
import type { Transport } from './transport.ts'
import { type Wire, writeRequest } from './wire.ts'

export type CallOptions = {
  /** End of the call on the monotonic clock. */
  deadlineMs: number
  /** After this no request that moves money writes its first byte. */
  sendBy: SendBy
  /** Aborts what is under way. */
  signal?: AbortSignal
  /** What must not show in the transcript even where the connector sends it unmarked. */
  secrets?: () => readonly unknown[]
}

/**
 * What became of a call's moving requests: none was attempted, none wrote a byte, or one may have
 * been seen by the acquirer.
 */
export type Sent = 'nothing' | 'not-moved' | 'moved'

export type OutgoingCall = {
  readonly http: Http
  /** As of now; requests that the connector left running can still change it. */
  sent(): Sent
  /** Breaks what is running and refuses all further requests, as nobody waits for them any more. */
  abort(): void
  /** Breaks what is still running and refuses all further requests: the answer is final. */
  finish(): Sent
  transcript(): TranscriptEntry[]
}

/** Published on `tollgate:http` after each request. Names, numbers and codes only. */
export type HttpMessage = {
  readonly engine: string
  readonly method: string
  readonly host: string
  readonly moves: boolean
  readonly wroteBytes: boolean
  readonly durationMs: number
  readonly status?: number
  readonly error?: HttpErrorCode
}
const messages = channel('tollgate:http')

const defaultMaxBytes = 1_048_576

/** What a call shares with all others of its engine. */
export type Engine = {
  readonly transport: Transport
  readonly engine: string
  readonly clock: Pick<Clock, 'elapsedMs' | 'realMs'>
  checkUrl(url: string): UrlCheck
  track<T>(exchange: Exchange, work: Promise<T>): Promise<T>
  isClosed(): boolean
}

export function createCall(call: CallOptions, engine: Engine): OutgoingCall {
  const startedMs = engine.clock.elapsedMs()
  const transcript = createTranscript()
  const sentSecrets: unknown[] = []
  const moving = new Set<Exchange>()
  const running = new Set<Exchange>()
  let finished = false
  let aborted = false

  const sent = (): Sent => {
    if (moving.size === 0) return 'nothing'
    return [...moving].some((exchange) => exchange.wroteBytes) ? 'moved' : 'not-moved'
  }

  /** Why this request must not even start. */
  const refuse = (exchange: Exchange): HttpError | undefined => {
    if (finished) return exchange.fail('aborted', 'The operation has ended.')
    if (engine.isClosed()) return exchange.fail('aborted', 'The engine is closing.')
    if (aborted || call.signal?.aborted === true) {
      return exchange.fail('aborted', 'The operation was aborted.')
    }
    const late = engine.clock.elapsedMs() >= call.deadlineMs
    if (late || (exchange.moves && exchange.isPastSendBy())) {
      return exchange.fail('past-deadline', 'The time to send this request had passed.')
    }
    return undefined
  }

  /** Runs `work` until its time is up or the call is aborted. */
  const bounded = async <T>(exchange: Exchange, timeoutMs: number, work: Promise<T>) => {
    const broken = () => exchange.fail('aborted', 'The operation was aborted.')
    const leftMs = Math.min(timeoutMs, call.deadlineMs - engine.clock.elapsedMs())
    // An answer that already arrived while this process was busy or stopped is read first.
    const timer = setTimeout(
      () => setImmediate(expired),
      Math.max(0, Math.min(leftMs, 2 ** 31 - 1)),
    )
    const expired = () =>
      exchange.fail('timeout', `No complete answer within ${Math.round(leftMs)} ms.`)
    call.signal?.addEventListener('abort', broken)
    running.add(exchange)
    try {
      return await engine.track(exchange, work)
    } finally {
      running.delete(exchange)
      clearTimeout(timer)
      call.signal?.removeEventListener('abort', broken)
      exchange.end()
    }
  }

  const request: Http['request'] = async (method, address, options = {}) => {
    const exchange = new Exchange(options.moves === true, call.sendBy, engine.clock)
    if (exchange.moves) moving.add(exchange)
    const refused = refuse(exchange)
    if (refused) throw refused
    const check = engine.checkUrl(address)
    if (!check.ok) throw exchange.fail('refused-address', `The URL ${check.why}.`)
    const wire = writeRequest(method, check.url, options, sentSecrets)
    const { maxBytes = defaultMaxBytes, timeoutMs = Number.POSITIVE_INFINITY } = options
    const message: { status?: number; answer?: Message } = {}
    const begunMs = engine.clock.elapsedMs()
    try {
      const work = engine.transport(wire, exchange, maxBytes, message)
      return await bounded(exchange, timeoutMs, work)
    } finally {
      const durationMs = engine.clock.elapsedMs() - begunMs
      const { moves, wroteBytes, failure } = exchange
      const body = wire.body ?? Buffer.alloc(0)
      transcript.add({
        method,
        url: wire.url,
        request: { headers: wire.headers, bytes: body.length, body },
        moves,
        wroteBytes,
        failure,
        durationMs,
        startedMs: begunMs - startedMs,
        ...message,
      })
      publish(engine.engine, wire, exchange, durationMs, message.status)
    }
  }

  return {
    http: {
      request,
      get: (url, query, options) =>
        request('GET', url, { ...options, query: { ...options?.query, ...query } }),
      post: (url, json, options) => request('POST', url, { ...options, json }),
    },
    sent,
    abort() {
      aborted = true
      for (const exchange of running) exchange.fail('aborted', 'The operation was aborted.')
    },
    finish() {
      finished = true
      for (const exchange of running) exchange.fail('aborted', 'The operation has ended.')
      return sent()
    },
    transcript() {
      const scrubber = createScrubber()
      for (const secret of [...(call.secrets?.() ?? []), ...sentSecrets]) scrubber.know(secret)
      return transcript.entries(scrubber)
    },
  }
}

function publish(
  engine: string,
  wire: Wire,
  exchange: Exchange,
  durationMs: number,
  status: number | undefined,
): void {
  if (!messages.hasSubscribers) return
  const { moves, wroteBytes, failure } = exchange
  const message: HttpMessage = {
    engine,
    method: wire.method,
    host: wire.url.host,
    moves,
    wroteBytes,
    durationMs,
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { error: failure.code }),
  }
  messages.publish(message)
}
