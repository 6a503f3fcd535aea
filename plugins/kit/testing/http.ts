import { Agent, type IncomingMessage, request as send } from 'node:http'
import { type Http, type HttpAnswer, HttpError, type HttpErrorCode } from '../http.ts'
import { readJson, readText } from '../text.ts'
import { type Written, writeRequest } from './request.ts'

/** One request of a connector, as it was attempted. */
export type Attempt = {
  readonly moves: boolean
  /** Absent when the request could not be written. */
  written?: Written
  wroteBytes: boolean
  failure?: HttpError
  status?: number
}

/**
 * The `http` of one call. It is real HTTP with the promises of the engine's: `moves` and written
 * bytes are tracked, a status is never an error, deadlines hold, no redirect is followed, failures
 * have the same codes, `Sensitive` values are revealed while writing only.
 *
 * It omits TLS, name look-up, compression and the pool (each request has its own connection),
 * because nothing outside this machine is reached. In place of the address guard it reaches this
 * machine and nothing else. "Written" means connected here; the engine watches the single bytes.
 */
export type Line = {
  readonly http: Http
  readonly attempts: readonly Attempt[]
  /** Ends the deadline: running requests time out, and nothing further is sent. */
  expire(): void
  /** Ends the call: running requests are broken. */
  finish(): void
}

export type LineOptions = {
  /** The time in which money may move is over; look-ups are still allowed. */
  readonly tooLate: boolean
}

/** Marks tagged requests for the front, which removes the header. */
export const movesHeader = 'x-contract-moves'

const defaultMaxBytes = 1_048_576
const loopback = ['127.0.0.1', 'localhost', '[::1]']
/** Maximum number of connections, because more would only measure the machine. */
const mostSockets = 100

export function openLine({ tooLate }: LineOptions): Line {
  const agent = new Agent({ keepAlive: false, maxSockets: mostSockets })
  const attempts: Attempt[] = []
  const running = new Set<(code: HttpErrorCode, message: string) => void>()
  let over: HttpErrorCode | undefined

  const request: Http['request'] = async (method, address, options = {}) => {
    const attempt: Attempt = { moves: options.moves === true, wroteBytes: false }
    attempts.push(attempt)
    const refuse = (code: HttpErrorCode, message: string) => {
      attempt.failure = new HttpError(code, message, false)
      return attempt.failure
    }
    if (over !== undefined) throw refuse(over, 'The call has ended.')
    if (attempt.moves && tooLate) throw refuse('past-deadline', 'The time to send this had passed.')
    const written = writeRequest(method, address, options)
    attempt.written = written
    if (written.url.protocol !== 'http:' || !loopback.includes(written.url.hostname)) {
      throw refuse('refused-address', 'A sandbox is reached by http, on this machine.')
    }
    return exchange(attempt, written, agent, running, {
      maxBytes: options.maxBytes ?? defaultMaxBytes,
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    })
  }
  const end = (next: HttpErrorCode, failure: HttpErrorCode, message: string) => {
    over = next
    for (const fail of [...running]) fail(failure, message)
  }
  return {
    http: {
      request,
      get: (url, query, options) =>
        request('GET', url, { ...options, query: { ...options?.query, ...query } }),
      post: (url, json, options) => request('POST', url, { ...options, json }),
    },
    attempts,
    expire: () => end('past-deadline', 'timeout', 'No complete answer in time.'),
    finish() {
      end('aborted', 'aborted', 'The operation has ended.')
      agent.destroy()
    },
  }
}

type Limits = { readonly maxBytes: number; readonly timeoutMs?: number }

function exchange(
  attempt: Attempt,
  { method, url, headers, body }: Written,
  agent: Agent,
  running: Set<(code: HttpErrorCode, message: string) => void>,
  { maxBytes, timeoutMs }: Limits,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const framed = {
      ...headers,
      ...(method === 'GET' ? {} : { 'content-length': body.length }),
      ...(attempt.moves ? { [movesHeader]: '1' } : {}),
    }
    const outgoing = send(url, { method, agent, headers: framed })
    let isOver = false
    const finish = (conclude: () => void) => {
      if (isOver) return
      isOver = true
      running.delete(fail)
      clearTimeout(timer)
      conclude()
    }
    const fail = (code: HttpErrorCode, message: string) =>
      finish(() => {
        attempt.failure = new HttpError(code, message, attempt.wroteBytes)
        outgoing.destroy()
        reject(attempt.failure)
      })
    const broken = () => {
      if (attempt.wroteBytes) fail('reset', 'The connection broke before the answer was complete.')
      else fail('not-sent', 'The request could not be sent.')
    }
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(fail, timeoutMs, 'timeout', `No complete answer within ${timeoutMs} ms.`)
    running.add(fail)
    outgoing.on('error', broken)
    outgoing.on('socket', (socket) => {
      socket.once('connect', () => {
        attempt.wroteBytes = true
      })
    })
    outgoing.on('response', (incoming) => {
      attempt.status = incoming.statusCode ?? 0
      const chunks: Buffer[] = []
      let size = 0
      incoming.on('error', broken)
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxBytes) fail('too-large', `The answer is larger than ${maxBytes} bytes.`)
        else chunks.push(chunk)
      })
      incoming.on('end', () => finish(() => resolve(answerOf(incoming, Buffer.concat(chunks)))))
    })
    outgoing.end(body)
  })
}

function answerOf(incoming: IncomingMessage, body: Buffer): HttpAnswer {
  const status = incoming.statusCode ?? 0
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return {
    status,
    headers,
    body,
    text: () => readText(body),
    json() {
      try {
        return readJson(body)
      } catch {
        throw new Error(`The answer is not JSON (status ${status}, ${body.length} bytes).`)
      }
    },
  }
}
