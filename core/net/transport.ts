import type { ClientRequest, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { HttpAnswer } from '@tollgate/plugin-kit'
import { answerOf, decompress, plainHeaders } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Pool } from './pool.ts'
import type { Message } from './transcript.ts'
import type { Wire } from './wire.ts'

/**
 * Sends one request and reads its answer, whatever status it has. Nothing is tried again, because a
 * charge would be, and no redirect is followed, because it leads to an address nobody configured.
 *
 * @param message filled with what arrived, also when the rest did not.
 * @throws HttpError the failure of the exchange.
 */
export type Transport = (
  wire: Wire,
  exchange: Exchange,
  maxBytes: number,
  message: { status?: number; answer?: Message },
) => Promise<HttpAnswer>

/** Between the pieces of a long body the send-by time is looked at again. */
const pieceBytes = 65_536

/**
 * Straight on Node's own requests: what a client library keeps for each request (options, timers,
 * addresses, streams) is most of the memory of thousands of payments that wait for a slow acquirer.
 */
export function createTransport(pool: Pool): Transport {
  return (wire, exchange, maxBytes, message) =>
    exchangeBytes(pool, wire, exchange, maxBytes, message).then((body) =>
      read(body, exchange, maxBytes, message),
    )
}

async function read(
  body: Buffer,
  exchange: Exchange,
  maxBytes: number,
  message: { status?: number; answer?: Message },
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

/** @throws HttpError the failure of the exchange. */
function exchangeBytes(
  pool: Pool,
  wire: Wire,
  exchange: Exchange,
  maxBytes: number,
  message: { status?: number; answer?: Message },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const failed = (error?: NodeJS.ErrnoException) => {
      if (isOver) return
      isOver = true
      reject(failureOf(error?.code ?? '', exchange, maxBytes))
      request.destroy()
    }
    let request: ClientRequest
    try {
      request = pool.request(wire, exchange)
    } catch {
      // Node refuses to make it: a method or an address that cannot stand in a request.
      reject(exchange.fail('not-sent', 'The request could not be sent.'))
      return
    }
    exchange.onFailure(failed)
    request.on('error', failed)
    // Without an error, too, a connection may be gone before an answer.
    request.once('close', failed)
    request.once('response', (response: IncomingMessage) => {
      message.status = response.statusCode ?? 0
      message.answer = { headers: plainHeaders(response.headers), bytes: 0, body: Buffer.alloc(0) }
      if (Number(response.headers['content-length']) > maxBytes) {
        tooLarge(exchange, maxBytes)
        return
      }
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxBytes) tooLarge(exchange, maxBytes)
        else chunks.push(chunk)
      })
      response.once('error', failed)
      response.once('end', () => {
        if (isOver) return
        isOver = true
        resolve(Buffer.concat(chunks))
      })
    })
    if (wire.body !== undefined && wire.body.length > pieceBytes) {
      Readable.from(piecesOf(wire.body)).pipe(request)
    } else request.end(wire.body)
  })
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes)
}

function failureOf(code: string, exchange: Exchange, maxBytes: number): Error {
  if (exchange.failure) return exchange.failure
  if (code === 'HPE_HEADER_OVERFLOW') return tooLarge(exchange, maxBytes)
  if (!exchange.wroteBytes) return exchange.fail('not-sent', 'The request could not be sent.')
  return exchange.fail('reset', 'The connection broke before the answer was complete.')
}

function tooLarge(exchange: Exchange, maxBytes: number): Error {
  return exchange.fail('too-large', `The answer is larger than ${maxBytes} bytes.`)
}
