/** A request of the fetch standard, and its Response in the making, with the members that the surface uses. */
import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Connection, HttpAnswer, HttpRequest } from './exchange.ts'

/** The way to the client of one request. Whether others share the connection is not known here. */
export class FetchConnection extends EventEmitter implements Connection {
  readonly remoteAddress: string | undefined
  readonly #signal: AbortSignal
  destroyed = false

  constructor(signal: AbortSignal, address: string | undefined) {
    super()
    this.remoteAddress = address
    this.#signal = signal
    if (signal.aborted) this.destroyed = true
    else signal.addEventListener('abort', () => this.destroy(), { once: true })
  }

  /** Whether the client left, and nothing else ended the connection. */
  get isLeft(): boolean {
    return this.#signal.aborted
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

/** The body of a fetch request as a stream of Node, read only as fast as it is used. */
export class FetchRequest extends Readable implements HttpRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly socket: FetchConnection
  readonly ip: string | undefined
  readonly bodyUsed: boolean
  url: string
  readonly #body: ReadableStream<Uint8Array> | null
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #isWhole: boolean

  constructor(
    request: Request,
    url: string,
    headers: IncomingHttpHeaders,
    socket: FetchConnection,
    ip: string | undefined,
  ) {
    super()
    this.method = request.method
    this.url = url
    this.headers = headers
    this.socket = socket
    this.ip = ip
    this.bodyUsed = request.bodyUsed || request.body?.locked === true
    this.#body = request.body
    this.#isWhole = request.body === null || this.bodyUsed
    // Whoever reads the body listens to its end; an error that nobody reads is none.
    this.on('error', () => {})
    socket.once('close', () => {
      if (!this.#isWhole) this.destroy()
    })
  }

  get complete(): boolean {
    return this.#isWhole
  }

  override _read(): void {
    this.#piece().then(
      (piece) => this.push(piece),
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    )
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#isWhole) {
      this.#reader?.cancel().catch(() => {})
      this.socket.destroy()
    }
    done(error)
  }

  async #piece(): Promise<Uint8Array | null> {
    if (this.#isWhole) return null
    this.#reader ??= this.#body!.getReader()
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) {
        this.#isWhole = true
        return null
      }
      if (value.length > 0) return Buffer.from(value.buffer, value.byteOffset, value.length)
    }
  }
}

/** Statuses whose Response has no body. */
const bodiless = new Set([204, 205, 304])

/** Makes a Response: small answers at once, larger ones as a stream whose pieces its reader pulls. */
export class FetchAnswer extends EventEmitter implements HttpAnswer {
  readonly socket: FetchConnection
  readonly response: Promise<Response>
  statusCode = 200
  headersSent = false
  writableEnded = false
  writableFinished = false
  destroyed = false
  readonly #isHead: boolean
  readonly #headers = new Headers()
  readonly #resolve: (response: Response) => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #piece: { readonly bytes: Uint8Array; readonly gone: () => void } | undefined
  #isWanted = false

  constructor(method: string, socket: FetchConnection) {
    super()
    this.#isHead = method === 'HEAD'
    this.socket = socket
    const { promise, resolve } = Promise.withResolvers<Response>()
    this.response = promise
    this.#resolve = resolve
    if (socket.destroyed) this.#lose()
    else socket.once('close', () => this.#lose())
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name, value)
  }

  writeHead(status: number, headers: readonly string[]): void {
    this.statusCode = status
    this.headersSent = true
    for (let at = 0; at < headers.length; at += 2) this.#headers.delete(headers[at]!)
    for (let at = 0; at < headers.length; at += 2) {
      this.#headers.append(headers[at]!, headers[at + 1]!)
    }
  }

  write(bytes: Uint8Array, gone: () => void): void {
    if (this.destroyed || this.#isHead) return void queueMicrotask(gone)
    this.#piece = { bytes, gone }
    if (this.#controller === undefined) this.#respond(this.#stream())
    if (this.#isWanted) this.#hand()
  }

  end(last?: string | Uint8Array): void {
    if (this.writableEnded) return
    this.writableEnded = true
    if (this.destroyed) return
    if (this.#controller === undefined) {
      const isBare = this.#isHead || bodiless.has(this.statusCode) || last === undefined
      this.#respond(isBare ? null : typeof last === 'string' ? last : new Uint8Array(last))
    } else this.#controller.close()
    this.writableFinished = true
    this.emit('finish')
    this.emit('close')
  }

  destroy(): void {
    this.socket.destroy()
  }

  #respond(body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null): void {
    this.#resolve(new Response(body, { status: this.statusCode, headers: this.#headers }))
  }

  /** It holds nothing: a piece is handed over when the reader asks for it. */
  #stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          this.#isWanted = true
          this.#hand()
        },
        cancel: () => this.socket.destroy(),
      },
      { highWaterMark: 0 },
    )
  }

  #hand(): void {
    const piece = this.#piece
    if (piece === undefined || this.destroyed) return
    this.#piece = undefined
    this.#isWanted = false
    this.#controller?.enqueue(piece.bytes)
    piece.gone()
  }

  #lose(): void {
    if (this.writableFinished) return
    this.destroyed = true
    const piece = this.#piece
    this.#piece = undefined
    try {
      this.#controller?.error(new Error('the answer ended before all of it was sent'))
    } catch {
      // The reader has cancelled the stream.
    }
    piece?.gone()
    // Whoever waits for the answer learns that there is none.
    const status = this.socket.isLeft ? clientClosedRequest : 500
    this.#resolve(new Response(null, { status }))
    this.emit('close')
  }
}

/** The usual status, in logs of proxies, of a request whose client left. Nobody reads it. */
const clientClosedRequest = 499
