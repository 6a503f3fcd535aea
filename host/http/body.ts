import { GatewayError } from '@tollgate/core'
import { limits } from '@tollgate/schemas'
import type { BodyShare } from './body-budget.ts'
import type { HttpRequest } from './exchange.ts'

/** The client left before its request was complete: no work began, and no response is needed. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError'
}

/** The program around the gateway read the body, so a payment would be made of an empty one. */
export class BodyTakenError extends GatewayError {
  constructor() {
    super('600.100.100', {
      status: 500,
      description:
        'gateway could not process the request: its body was read before it came to the gateway, which has to be mounted ahead of body parsers',
    })
  }
}

/**
 * Bytes that a refused client may still send before its response; at twice as many the connection
 * closes.
 */
const drainedBytes = 4 * limits.bodyBytes

/**
 * The whole body, unparsed.
 *
 * @param share the body's share of the memory, which the caller releases.
 * @param most the size limit in bytes.
 * @throws GatewayError 400 when too large or compressed, 429 and 503 without memory, BodyTakenError ·
 * ClientGoneError
 */
export function readBody(
  request: HttpRequest,
  share: BodyShare,
  most: number = limits.bodyBytes,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('200.100.103', {
      description:
        'invalid request message: a body with Content-Encoding is not accepted, send it uncompressed',
    })
  }
  // Announced as too large: nothing of it is kept even for a moment.
  if (Number(request.headers['content-length']) > most) throw tooLarge(most)
  if (request.readableEnded || request.readableDidRead || request.bodyUsed === true) {
    throw new BodyTakenError()
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const collect = (chunk: Buffer) => {
      bytes += chunk.length
      try {
        if (bytes > most) throw tooLarge(most)
        share.take(chunk.length)
        chunks.push(chunk)
      } catch (refusal) {
        chunks.length = 0
        request.off('data', collect)
        reject(refusal)
      }
    }
    share.reading((stalled) => {
      chunks.length = 0
      request.off('data', collect)
      reject(stalled)
    })
    const gone = () => {
      if (!request.complete) reject(new ClientGoneError())
    }
    request.on('data', collect)
    request.once('end', () => {
      share.read()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
      // The request lives until its response, but its body and listeners are no longer needed.
      request.off('data', collect).off('close', gone).off('error', gone).on('error', ignored)
    })
    request.once('close', gone)
    request.on('error', gone)
  })
}

/** The body is complete; the response reveals a broken connection. */
function ignored(): void {}

function tooLarge(most: number): GatewayError {
  return new GatewayError('200.300.404', {
    description: `invalid or missing parameter: the body is larger than ${most} bytes`,
  })
}

/**
 * Reads a refused request to its end without keeping anything, because many a client sends all it
 * has before it reads, and an answer on a connection that is closed under it would be lost. Resolves
 * when the request is whole, has gone, or is so large that the client may as well lose its answer.
 */
export function drained(request: HttpRequest): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > drainedBytes) resolve()
      if (bytes > 2 * drainedBytes) request.destroy()
    })
    request.once('end', resolve)
    request.once('close', resolve)
    request.on('error', () => resolve())
  })
}
