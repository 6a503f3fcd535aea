import { readFileSync } from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { forwardSecret } from '@tollgate/schemas'
import { reasonOf, systemCode } from '../thrown.ts'
import { type ConnectionLimits, Connections, type Refused } from './connections.ts'

export type ServerLimits = ConnectionLimits & {
  /** Time for the headers of a request. */
  readonly headersTimeoutMs: number
  /** Time for a whole request. */
  readonly requestTimeoutMs: number
  /** Life of an idle connection. */
  readonly keepAliveTimeoutMs: number
  /** Life of a connection on which nothing moves, such as one whose client reads no answers. */
  readonly silenceMs: number
}

export const defaultLimits: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 72_000,
  connections: 10_000,
  connectionsPerAddress: 2_500,
  // Longer than any payment may take at an acquirer: 300 s.
  silenceMs: 330_000,
}

const maxHeaderBytes = 16 * 1024
/** Balancers spread connections, not requests: now and then each has to be opened anew. */
const maxRequestsPerSocket = 10_000
const lingerMs = 2000

export type ListenAddress = {
  readonly host: string
  readonly port: number
  readonly tls?: { readonly certificateFile: string; readonly keyFile: string } | undefined
}

/** The server cannot listen. The message says where, and the correction. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/** Node's error for bytes that are no request, for the response and the log. */
export type Malformed =
  | 'headers too large'
  | 'too slow'
  | 'malformed'
  | 'no Host header'
  | 'several Host headers'

/** An HTTP server with limits on everything a client may hold on to. */
export function openServer(
  listener: RequestListener,
  { tls }: ListenAddress,
  limits: ServerLimits,
  describe: (problem: Malformed) => string,
  isProxy: (address: string) => boolean = () => false,
  refused?: Refused,
): Server {
  const connections = new Connections(limits, isProxy, refused)
  const options: ServerOptions = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // Timeouts are noticed by looking this often.
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    // Node would answer a missing Host with an empty body; the listener below says it in our shape.
    requireHostHeader: false,
  }
  const guarded = (request: IncomingMessage, response: ServerResponse) => {
    if (!connections.begin(request)) return
    response.once('close', () => connections.end(request))
    const hosts = hostsOf(request)
    if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) {
      return listener(request, response)
    }
    const text = describe(hosts === 0 ? 'no Host header' : 'several Host headers')
    response.writeHead(400, rawHeaders(text)).end(text)
  }
  const server =
    tls === undefined ? createServer(options, guarded) : encrypted(tls, options, guarded)
  connections.watch(server)
  server.maxRequestsPerSocket = maxRequestsPerSocket
  server.timeout = limits.silenceMs
  server.on('clientError', (error, socket) => answerMalformed(error, socket, describe))
  server.on('connect', (_, socket: Duplex) => refuseRaw(socket, describe('malformed')))
  // Expectations other than 100-continue are ignored; Node alone would answer 417 without a body.
  server.on('checkExpectation', guarded)
  return server
}

/** Node keeps the first one; a proxy may have gone by another one. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

function encrypted(
  { certificateFile, keyFile }: NonNullable<ListenAddress['tls']>,
  options: ServerOptions,
  listener: RequestListener,
): Server {
  const cert = readPem(certificateFile)
  const key = readPem(keyFile)
  const handshakeTimeout = options.headersTimeout ?? defaultLimits.headersTimeoutMs
  try {
    return createTlsServer(
      { ...options, ...forwardSecret, honorCipherOrder: true, handshakeTimeout, cert, key },
      listener,
    )
  } catch (thrown) {
    throw new ListenError(
      `${certificateFile} and ${keyFile} are not a certificate and its private key in PEM format (${reasonOf(thrown)})`,
    )
  }
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (thrown) {
    throw new ListenError(
      `the TLS file ${path} cannot be read (${systemCode(thrown) ?? 'unknown'})`,
    )
  }
}

type ConnectionSocket = Duplex & {
  readonly _httpMessage?: ServerResponse | null
  readonly bytesRead?: number
}

/**
 * Malformed HTTP, too large headers, too slow clients. A complete earlier request keeps its
 * response: a payment must not look refused because of later bytes. A connection without a byte is a
 * browser's spare one: it would take an answer for that of the request that it sends next.
 */
function answerMalformed(
  error: NodeJS.ErrnoException,
  socket: ConnectionSocket,
  describe: (problem: Malformed) => string,
): void {
  const isSpare = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0
  if (error.code === 'ECONNRESET' || isSpare || socket.destroyed) {
    socket.destroy()
    return
  }
  // The response has been sent; the rest of the client's bytes is discarded.
  if (socket.writableEnded) return
  const running = socket._httpMessage
  if (running?.req.complete === true && !running.writableFinished) {
    running.shouldKeepAlive = false
    return
  }
  if (running?.headersSent === true) {
    socket.destroy()
    return
  }
  const problem = problemOf(error.code)
  refuseRaw(socket, describe(problem), problem === 'too slow' ? tooSlow : badRequest)
}

function problemOf(code: string | undefined): Malformed {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers too large'
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too slow' : 'malformed'
}

function rawHeaders(text: string): string[] {
  return [
    ...['Content-Type', 'application/json;charset=UTF-8'],
    ...['Content-Length', String(Buffer.byteLength(text))],
    ...['Cache-Control', 'no-store'],
    ...['Connection', 'close'],
  ]
}

const badRequest = '400 Bad Request'
const tooSlow = '408 Request Timeout'

/**
 * Answers where there is no request to answer to. The connection is read on for a moment: closing it
 * on bytes that were not read would take the answer back from a client that is still sending.
 */
function refuseRaw(socket: Duplex, text: string, status = badRequest): void {
  const headers = rawHeaders(text)
  const lines = [`HTTP/1.1 ${status}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`)
  const cut = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(cut))
}

/** @returns the URL that reaches the server. @throws ListenError */
export async function listen(server: Server, { host, port, tls }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new ListenError(whyNot(error, host, port))))
    server.listen({ host, port, backlog: 1024 }, resolve)
  })
  const address = server.address() as AddressInfo
  // "All addresses" is none that a client could use.
  const isAny = address.address === '0.0.0.0' || address.address === '::'
  const reachable = isAny ? '127.0.0.1' : address.address
  const name = reachable.includes(':') ? `[${reachable}]` : reachable
  return `${tls === undefined ? 'http' : 'https'}://${name}:${address.port}`
}

function whyNot(error: Error, host: string, port: number): string {
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use; stop the program that uses the port, or set PORT to another one (0 picks a free port)`
    case 'EACCES':
      return `this user may not use port ${port} on ${host}; set PORT to a number above 1023`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine; set HOST to an address of this machine`
    default:
      return `cannot listen on ${host}, port ${port} (${error.message})`
  }
}

/** Accepts no new connections, finishes running requests, and closes the rest after `graceMs`. */
export function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}
