import type { HttpAnswer } from '@tollgate/plugin-kit'
import got, { type Request, type Response } from 'got'
import { acceptedEncodings, answerOf, decompress, plainHeaders } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Pool } from './pool.ts'
import type { Message } from './transcript.ts'
import type { Wire } from './wire.ts'

/**
 * Sends one request and reads its answer, whatever status it has.
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

export function createTransport(pool: Pool): Transport {
  const client = got.extend({
    agent: pool.agents,
    // A charge is never repeated here, and a redirect would lead to an address nobody configured.
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    headers: { 'user-agent': 'tollgate', 'accept-encoding': acceptedEncodings },
  })
  return async (wire, exchange, maxBytes, message) => {
    const start = () =>
      client.stream(wire.url, {
        method: wire.method as 'POST',
        headers: wire.headers,
        ...(wire.body && { body: wire.body }),
        signal: exchange.signal,
        request: (url, options) => pool.request(url, options, exchange),
      })
    const body = await readBody(start, exchange, maxBytes, message)
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
}

async function readBody(
  start: () => Request,
  exchange: Exchange,
  maxBytes: number,
  message: { status?: number; answer?: Message },
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    const stream = start()
    // Errors are read from the exchange; one that comes late has nobody left to hear it.
    stream.on('error', () => {})
    stream.once('response', (response: Response) => {
      message.status = response.statusCode
      message.answer = { headers: plainHeaders(response.headers), bytes: 0, body: Buffer.alloc(0) }
      if (Number(response.headers['content-length']) > maxBytes) tooLarge(exchange, maxBytes)
    })
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(exchange, maxBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    // What got throws holds the request with its headers and body: only its code is looked at.
    throw failureOf((error as NodeJS.ErrnoException).code ?? '', exchange, maxBytes)
  }
  if (exchange.failure) throw exchange.failure
  return Buffer.concat(chunks)
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
