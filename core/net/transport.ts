import type { HttpAnswer } from '@tollgate/plugin-kit'
import type { Dispatcher } from 'undici'
import { answerOf, decompress, plainHeaders } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Message } from './http-transcript.ts'
import type { Connection, Pool } from './pool.ts'
import type { Wire } from './wire.ts'

/**
 * Sends one request and reads its response of any status. Never retries, since a charge could
 * repeat, and never follows a redirect, which leads to an address outside of the configuration.
 *
 * @param message receives the arrived parts, also of an incomplete response.
 * @throws HttpError the failure of the exchange.
 */
export type Transport = (
  wire: Wire,
  exchange: Exchange,
  maxBytes: number,
  message: Arrived,
) => Promise<HttpAnswer>

type Arrived = { status?: number; answer?: Message }

export function createTransport(pool: Pool): Transport {
  return (wire, exchange, maxBytes, message) =>
    new Promise<Buffer>((resolve, reject) => {
      let connection: Connection
      try {
        connection = pool.connectionTo(wire.url, wire.tls)
      } catch (error) {
        // Only certificates of the connector that cannot be used; the text quotes none of them.
        throw exchange.fail('not-sent', (error as Error).message)
      }
      const reader = new Reader(exchange, connection, maxBytes, message, resolve, reject)
      exchange.onFailure(() => reader.failed())
      connection.send(wire, exchange, reader)
    }).then((body) => read(body, exchange, maxBytes, message))
}

async function read(
  body: Buffer,
  exchange: Exchange,
  maxBytes: number,
  message: Arrived,
): Promise<HttpAnswer> {
  const headers = message.answer?.headers ?? {}
  const plain = await decompress(body, headers['content-encoding'] ?? '', maxBytes)
  if (exchange.failure) throw exchange.failure
  if (plain.is === 'too-large') throw tooLarge(exchange, maxBytes)
  if (plain.is === 'unreadable') {
    throw exchange.fail('reset', 'The answer is compressed in a way that cannot be read.')
  }
  message.answer = { headers, bytes: body.length, body: plain.body }
  return answerOf(message.status ?? 0, headers, plain.body)
}

/** Reads one answer, as a class because thousands of them wait at once. */
class Reader implements Dispatcher.DispatchHandler {
  readonly #exchange: Exchange
  readonly #connection: Connection
  readonly #maxBytes: number
  readonly #message: Arrived
  readonly #resolve: (body: Buffer) => void
  readonly #reject: (error: Error) => void
  #isOver = false
  #chunks: Buffer[] = []
  #size = 0

  constructor(
    exchange: Exchange,
    connection: Connection,
    maxBytes: number,
    message: Arrived,
    resolve: (body: Buffer) => void,
    reject: (error: Error) => void,
  ) {
    this.#exchange = exchange
    this.#connection = connection
    this.#maxBytes = maxBytes
    this.#message = message
    this.#resolve = resolve
    this.#reject = reject
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isOver) return
    this.#message.status = status
    this.#message.answer = { headers: plainHeaders(headers), bytes: 0, body: Buffer.alloc(0) }
    if (Number(headers['content-length']) > this.#maxBytes) tooLarge(this.#exchange, this.#maxBytes)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) tooLarge(this.#exchange, this.#maxBytes)
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#connection.release()
    this.#resolve(Buffer.concat(this.#chunks))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.failed(error)
  }

  /** Ends the exchange, by its own failure or by the failure of its connection. */
  failed(error?: NodeJS.ErrnoException): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#connection.break()
    this.#reject(failureOf(error?.code, this.#exchange, this.#maxBytes))
  }
}

function failureOf(code: string | undefined, exchange: Exchange, maxBytes: number): Error {
  if (exchange.failure) return exchange.failure
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return tooLarge(exchange, maxBytes)
  if (!exchange.wroteBytes) return exchange.fail('not-sent', 'The request could not be sent.')
  return exchange.fail('reset', 'The connection broke before the answer was complete.')
}

function tooLarge(exchange: Exchange, maxBytes: number): Error {
  return exchange.fail('too-large', `The answer is larger than ${maxBytes} bytes.`)
}
