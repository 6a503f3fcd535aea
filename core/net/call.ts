import { channel } from 'node:diagnostics_channel'
import {
  type Http,
  type HttpAnswer,
  type HttpError,
  type HttpErrorCode,
  type HttpOptions,
  isTraceparent,
  type OutgoingTold,
} from '@tollgate/plugin-kit'
import type { Clock } from '../clock.ts'
import { createScrubber } from '../redaction/scrub.ts'
import { outgoing } from '../telemetry.ts'
import type { UrlCheck } from './address.ts'
import { Exchange, type SendBy } from './exchange.ts'
import { createTranscript, type Message, type TranscriptEntry } from './http-transcript.ts'
import type { Transport } from './transport.ts'
import { type Wire, writeRequest } from './wire.ts'

export type CallOptions = {
  /** End of the call on the monotonic clock. */
  deadlineMs: number
  /** After this no request that moves money writes its first byte. */
  sendBy: SendBy
  /** Aborts the running requests. */
  signal?: AbortSignal
  /** Values that the transcript must hide even when the connector sends them unmarked. */
  secrets?: () => readonly unknown[]
}

/**
 * The state of a call's moving requests: none was attempted, none wrote a byte, or the acquirer may
 * have seen one.
 */
export type Sent = 'nothing' | 'not-moved' | 'moved'

export type OutgoingCall = {
  readonly http: Http
  /** As of now; requests that the connector left running can still change it. */
  sent(): Sent
  /** Aborts running requests and refuses further ones, since the caller no longer waits. */
  abort(): void
  /** Aborts running requests and refuses further ones: the answer is final. */
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

/** Parts that all calls of an engine share. */
export type Engine = {
  readonly transport: Transport
  readonly engine: string
  readonly clock: Pick<Clock, 'elapsedMs' | 'realMs'>
  checkUrl(url: string): UrlCheck
  track<T>(exchange: Exchange, work: Promise<T>): Promise<T>
  isClosed(): boolean
}

export const createCall = (call: CallOptions, engine: Engine): OutgoingCall =>
  new Call(call, engine)

/**
 * A class with few closures and few awaits in a row: thousands of these wait at once for a slow
 * acquirer, and each closure and each waiting function is memory.
 */
class Call implements OutgoingCall {
  readonly http: Http
  readonly #options: CallOptions
  readonly #engine: Engine
  readonly #startedMs: number
  readonly #transcript = createTranscript()
  readonly #sentSecrets: unknown[] = []
  readonly #running = new Set<Exchange>()
  /** Requests that move money. */
  readonly #moving: Exchange[] = []
  #finished = false
  #aborted = false

  constructor(options: CallOptions, engine: Engine) {
    this.#options = options
    this.#engine = engine
    this.#startedMs = engine.clock.elapsedMs()
    // Plugin authors may destructure these functions, so they must not need `this`.
    const request: Http['request'] = (method, address, given = {}) =>
      outgoing.isHeard ? this.#told(method, address, given) : this.#request(method, address, given)
    this.http = {
      request,
      get: (url, query, given) =>
        request('GET', url, { ...given, query: { ...given?.query, ...query } }),
      post: (url, json, given) => request('POST', url, { ...given, json }),
    }
  }

  sent(): Sent {
    if (this.#moving.length === 0) return 'nothing'
    return this.#moving.some((exchange) => exchange.wroteBytes) ? 'moved' : 'not-moved'
  }

  abort(): void {
    this.#aborted = true
    for (const exchange of this.#running) exchange.fail('aborted', aborted)
  }

  finish(): Sent {
    this.#finished = true
    for (const exchange of this.#running) exchange.fail('aborted', ended)
    return this.sent()
  }

  transcript(): TranscriptEntry[] {
    const scrubber = createScrubber()
    const secrets = this.#options.secrets?.() ?? []
    for (const secret of [...secrets, ...this.#sentSecrets]) scrubber.know(secret)
    return this.#transcript.entries(scrubber)
  }

  /** Why this request must not even start. */
  #refuse(exchange: Exchange): HttpError | undefined {
    if (this.#finished) return exchange.fail('aborted', ended)
    if (this.#engine.isClosed()) return exchange.fail('aborted', 'The engine is closing.')
    if (this.#aborted || this.#options.signal?.aborted === true) {
      return exchange.fail('aborted', aborted)
    }
    const late = this.#engine.clock.elapsedMs() >= this.#options.deadlineMs
    if (late || (exchange.moves && exchange.isPastSendBy())) {
      return exchange.fail('past-deadline', 'The time to send this request had passed.')
    }
    return undefined
  }

  /** Listeners may send their trace context along, unless the connector sends one. */
  #told(method: string, address: string, options: HttpOptions): Promise<HttpAnswer> {
    const work = (message?: OutgoingTold) => {
      const { traceparent } = message ?? {}
      const isOwn = Object.keys(options.headers ?? {}).some((name) => /^traceparent$/i.test(name))
      if (isOwn || !isTraceparent(traceparent)) return this.#request(method, address, options)
      const headers = { ...options.headers, traceparent }
      return this.#request(method, address, { ...options, headers })
    }
    const host = URL.parse(address)?.host ?? ''
    return outgoing.run(work, {
      about: () => ({ engine: this.#engine.engine, method, host }),
      ended: ({ status }) => ({ status }),
    })
  }

  async #request(method: string, address: string, options: HttpOptions): Promise<HttpAnswer> {
    const { clock } = this.#engine
    const exchange = new Exchange(options.moves === true, this.#options.sendBy, clock)
    if (exchange.moves) this.#moving.push(exchange)
    const refused = this.#refuse(exchange)
    if (refused) throw refused
    const check = this.#engine.checkUrl(address)
    if (!check.ok) throw exchange.fail('refused-address', `The URL ${check.why}.`)
    const wire = writeRequest(method, check.url, options, this.#sentSecrets)
    const { maxBytes = defaultMaxBytes, timeoutMs = Number.POSITIVE_INFINITY } = options
    const message: { status?: number; answer?: Message } = {}
    const begunMs = clock.elapsedMs()
    const unbound = this.#bound(exchange, Math.min(timeoutMs, this.#options.deadlineMs - begunMs))
    try {
      return await this.#engine.track(
        exchange,
        this.#engine.transport(wire, exchange, maxBytes, message),
      )
    } finally {
      unbound()
      this.#record(wire, exchange, message, begunMs)
    }
  }

  /** Ends the exchange at its deadline or on abort, until the returned function is called. */
  #bound(exchange: Exchange, leftMs: number): () => void {
    // An answer that already arrived while this process was busy or stopped is read first.
    const timer = setTimeout(
      expireSoon,
      Math.max(0, Math.min(leftMs, 2 ** 31 - 1)),
      exchange,
      leftMs,
    )
    const { signal } = this.#options
    const broken = signal === undefined ? undefined : () => void exchange.fail('aborted', aborted)
    if (broken !== undefined) signal!.addEventListener('abort', broken)
    this.#running.add(exchange)
    return () => {
      this.#running.delete(exchange)
      clearTimeout(timer)
      if (broken !== undefined) signal!.removeEventListener('abort', broken)
      exchange.end()
    }
  }

  #record(
    wire: Wire,
    exchange: Exchange,
    message: { status?: number; answer?: Message },
    begunMs: number,
  ): void {
    const durationMs = this.#engine.clock.elapsedMs() - begunMs
    const { moves, wroteBytes, failure } = exchange
    const body = wire.body ?? Buffer.alloc(0)
    this.#transcript.add({
      method: wire.method,
      url: wire.url,
      request: { headers: wire.headers, bytes: body.length, body },
      moves,
      wroteBytes,
      failure,
      durationMs,
      startedMs: begunMs - this.#startedMs,
      ...message,
    })
    publish(this.#engine.engine, wire, exchange, durationMs, message.status)
  }
}

const ended = 'The operation has ended.'
const aborted = 'The operation was aborted.'

function expireSoon(exchange: Exchange, leftMs: number): void {
  setImmediate(() =>
    exchange.fail('timeout', `No complete answer within ${Math.round(leftMs)} ms.`),
  )
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
