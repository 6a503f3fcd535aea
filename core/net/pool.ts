import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import http, { type ClientRequest, type ClientRequestArgs } from 'node:http'
import https, { type RequestOptions } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createSecureContext, getCACertificates } from 'node:tls'
import { hostOf } from './address.ts'
import { acceptedEncodings } from './answer.ts'
import { type ConnectOptions, guardWrites, type Opening, openSocket } from './connect.ts'
import type { Exchange } from './exchange.ts'
import type { Wire } from './wire.ts'

/**
 * An unused connection is closed before the five seconds after which common servers close theirs: a
 * request on a connection that closes under it may have been read, and must be enquired about.
 */
const idleMs = 4000
/** As many as a host takes at once in a busy second: connections made and dropped cost more than kept ones. */
const idlePerHost = 256

export type PoolOptions = ConnectOptions & {
  /** PEM certificates trusted beside the usual ones. */
  readonly ca?: readonly string[]
}

/** The connections of one engine. */
export type Pool = {
  /** Starts a request that belongs to `exchange`, up to its body. */
  request(wire: Wire, exchange: Exchange): ClientRequest
  /** Breaks all connections and waits until they are gone. */
  close(): Promise<void>
}

type Request = ClientRequestArgs &
  RequestOptions & { opening?: Once<Opening>; autoSelectFamily?: boolean }
/** Emptied when it was used: a connection keeps the options it was made with for as long as it lives. */
type Once<T> = { value: T | undefined }
type Opened = (error: Error | null, socket: Duplex) => void
type Connect = (request: Request) => Duplex | null | undefined

/** @throws Error naming the entry of `ca` that is no certificate. */
export function createPool(options: PoolOptions): Pool {
  for (const [index, pem] of (options.ca ?? []).entries()) {
    if (!isCertificate(pem)) throw new Error(`ca[${index}] must be a certificate in PEM`)
  }
  const owners = new WeakMap<Duplex, Exchange>()
  const open = new Set<Socket>()

  // Apart from what makes the connection: listeners live as long as it and hold all around them.
  const watch = (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    guardWrites(socket, () => owners.get(socket))
  }
  const connectChecked = (connect: Connect, request: Request, opened?: Opened): undefined => {
    const opening = request.opening?.value
    if (opening === undefined || opened === undefined) throw new Error('no exchange to connect for')
    request.opening!.value = undefined
    const start = (lookup: LookupFunction) =>
      connect({ ...request, lookup, autoSelectFamily: true })
    const handOver = (socket: Socket) => {
      watch(socket)
      opened(null, socket)
    }
    // Node's own agents, too, call back without a socket when there is none.
    openSocket(opening, start, options).then(handOver, opened as (error: Error) => void)
  }
  class PlainAgent extends http.Agent {
    override createConnection(request: Request, opened?: Opened): undefined {
      connectChecked((checked) => super.createConnection(checked), request, opened)
    }
  }
  class SecureAgent extends https.Agent {
    override createConnection(request: Request, opened?: Opened): undefined {
      connectChecked((checked) => super.createConnection(checked), request, opened)
    }
  }
  const keep = { keepAlive: true, timeout: idleMs, maxFreeSockets: idlePerHost }
  const agents = {
    http: new PlainAgent(keep),
    https: new SecureAgent({
      ...keep,
      // Said here because it outranks the environment (NODE_TLS_REJECT_UNAUTHORIZED=0) and requests.
      rejectUnauthorized: true,
      secureContext: createSecureContext({
        minVersion: 'TLSv1.2',
        ...(options.ca && { ca: [...getCACertificates('default'), ...options.ca] }),
      }),
    }),
  }
  return {
    request({ url, method, headers, body }, exchange) {
      const protocol = url.protocol === 'https:' ? 'https:' : 'http:'
      const opening: Opening = { host: hostOf(url), protocol, exchange }
      const list = headerList(url, headers, body)
      const options: Request = {
        protocol,
        hostname: hostOf(url),
        port: url.port,
        path: url.pathname + url.search,
        method,
        headers: list,
        agent: protocol === 'https:' ? agents.https : agents.http,
        opening: { value: opening },
      }
      const request = (protocol === 'https:' ? https : http).request(options)
      // Written down by now, and the connection keeps its first request's options for as long as it lives.
      list.length = 0
      // Comes before the first write, on new and on kept connections alike.
      request.once('socket', (socket) => owners.set(socket, exchange))
      request.once('upgrade', (_answer, socket) => {
        socket.destroy()
        exchange.fail('reset', 'The other side switched to another protocol.')
      })
      // Errors are told by the exchange; one after its end has nobody left to hear it.
      request.on('error', () => {})
      return request
    },
    async close() {
      agents.http.destroy()
      agents.https.destroy()
      await Promise.all([...open].map((socket) => socket.destroyed || once(socket, 'close')))
    },
  }
}

/** As a list Node writes headers down at once, instead of keeping a table of them with each request. */
function headerList(url: URL, headers: Wire['headers'], body: Wire['body']): string[] {
  const named = { host: url.host, 'user-agent': 'tollgate', 'accept-encoding': acceptedEncodings }
  const length = body === undefined ? {} : { 'content-length': String(body.length) }
  const list: string[] = []
  for (const [name, value] of Object.entries({ ...named, ...headers, ...length }))
    list.push(name, value)
  return list
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
