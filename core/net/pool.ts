/// <reference path="./undici-client.d.ts" />
import { once } from 'node:events'
import { createConnection, isIP, type LookupFunction, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { connect as tls } from 'node:tls'
import type { HttpTls } from '@tollgate/plugin-kit'
import type { Dispatcher, Client as UndiciClient } from 'undici'
// The client alone: the package's entry would load its fetch, web sockets and proxies as well.
import Client from 'undici/lib/dispatcher/client.js'
import { hostOf, portOf } from './address.ts'
import { acceptedEncodings } from './answer.ts'
import { type Certificates, createCertificates, type Group, isCertificate } from './certificates.ts'
import { type ConnectOptions, guardWrites, openSocket } from './connect.ts'
import type { Exchange } from './exchange.ts'
import { InterimAnswers } from './interim.ts'
import type { Wire } from './wire.ts'

/**
 * Unused connections are closed before common servers close them, after five seconds. If a server closes
 * a connection during a request, the server may have read the request, and the engine must enquire.
 */
const idleMs = 4000
/** If a server announces its own limit, the connection is closed this much earlier. */
const beforeServerMs = 1000
/** As many as a busy host needs at once: new connections cost more than kept ones. */
const idlePerOrigin = 256
/** A long body is written in pieces. Each piece checks the send-by time. */
const pieceBytes = 65_536
/** Number of hosts with a remembered TLS session, which saves the exchange of certificates. */
const rememberedSessions = 256

export type PoolOptions = ConnectOptions & {
  /** Trusted PEM certificates, in addition to the usual ones. */
  readonly ca?: readonly string[]
}

/** The connections of one engine. */
export type Pool = {
  /**
   * A connection for one request: a kept one, or a new one that connects with the request.
   *
   * @throws Error for certificates that cannot be used.
   */
  connectionTo(url: URL, tls?: HttpTls): Connection
  /** Closes all connections, also those in use. */
  close(): Promise<void>
}

/** Parts that a pool shares with its connections. */
type Shared = {
  readonly options: PoolOptions
  readonly certificates: Certificates
  readonly sessions: Map<string, Buffer>
  readonly open: Set<Socket>
  readonly idle: Map<string, Connection[]>
}

/** @throws Error naming the entry of `ca` that is no certificate. */
export function createPool(options: PoolOptions): Pool {
  for (const [index, pem] of (options.ca ?? []).entries()) {
    if (!isCertificate(pem)) throw new Error(`ca[${index}] must be a certificate in PEM`)
  }
  const shared: Shared = {
    options,
    certificates: createCertificates(options.ca),
    sessions: new Map(),
    open: new Set(),
    idle: new Map(),
  }
  return {
    connectionTo(url, tls) {
      const group = shared.certificates.groupOf(url, tls)
      return shared.idle.get(group.name)?.pop() ?? new Connection(url, group, shared)
    },
    async close() {
      const closing = [...shared.open].map((socket) => socket.destroyed || once(socket, 'close'))
      for (const socket of shared.open) socket.destroy()
      await Promise.all(closing)
    },
  }
}

/**
 * Sends one request after the other on one HTTP/1.1 connection. Node's own client would keep ten
 * kilobytes for each of thousands of payments that wait for a slow acquirer. If a kept connection is
 * found closed before the first byte of a request, a new one replaces it. After the first byte, never: a
 * request is written once.
 */
class Connection {
  readonly #url: URL
  readonly #group: Group
  readonly #shared: Shared
  readonly #client: UndiciClient
  readonly #interim = new InterimAnswers()
  #socket: Socket | undefined
  /** The exchange that may write; after its end, kept until the next request. */
  #exchange: Exchange | undefined

  constructor(url: URL, group: Group, shared: Shared) {
    this.#url = url
    this.#group = group
    this.#shared = shared
    this.#client = new Client(url.origin, {
      connect: (_options, done) => {
        this.#connect().then(
          (socket) => done(null, socket),
          (error: Error) => done(error, null),
        )
      },
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      keepAliveTimeoutThreshold: beforeServerMs,
      // The exchange has its own limit, and ends the connection.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  /** Sends the request of `exchange`; `reader` receives the response. */
  send(
    { url, method, headers, body }: Wire,
    exchange: Exchange,
    reader: Dispatcher.DispatchHandler,
  ): void {
    this.#exchange = exchange
    this.#interim.expectAnswer()
    this.#client.dispatch(
      {
        path: url.pathname + url.search,
        method: method as Dispatcher.HttpMethod,
        headers: headerList(url, headers, body),
        body:
          body !== undefined && body.length > pieceBytes
            ? Readable.from(piecesOf(body))
            : (body ?? null),
      },
      reader,
    )
  }

  /** Keeps the connection for the next request, now that the answer of this one is complete. */
  release(): void {
    const { idle } = this.#shared
    const { name } = this.#group
    const kept = idle.get(name)
    if (kept === undefined) idle.set(name, [this])
    else if (kept.length < idlePerOrigin) kept.push(this)
    else this.break()
  }

  /** Ends the connection, and with it the request under way. */
  break(): void {
    this.#socket?.destroy()
  }

  async #connect(): Promise<Socket> {
    const exchange = this.#exchange!
    if (exchange.failure !== undefined) throw exchange.failure
    if (exchange.wroteBytes) throw exchange.fail('reset', 'The connection broke.')
    const { options, open } = this.#shared
    const protocol = this.#url.protocol === 'https:' ? 'https:' : 'http:'
    const opening = {
      host: hostOf(this.#url),
      port: portOf(this.#url),
      protocol,
      exchange,
    } as const
    const socket = await openSocket(opening, (lookup) => this.#start(lookup), options)
    this.#socket = socket
    // A response that began on another connection does not continue on this one.
    this.#interim.expectAnswer()
    open.add(socket)
    socket.once('close', () => this.#closed(socket))
    guardWrites(socket, () => this.#exchange)
    withoutInterim(socket, this.#interim)
    return socket
  }

  #start(lookup: LookupFunction): Socket {
    const { protocol, port } = this.#url
    const { sessions } = this.#shared
    const { name, secureContext } = this.#group
    const host = hostOf(this.#url)
    const to = { host, lookup, autoSelectFamily: true, noDelay: true, keepAlive: true }
    if (protocol !== 'https:') return createConnection({ ...to, port: Number(port || 80) })
    const session = sessions.get(name)
    const socket = tls({
      ...to,
      port: Number(port || 443),
      servername: isIP(host) ? '' : host,
      ALPNProtocols: ['http/1.1'],
      secureContext,
      // Explicit, so that the environment (NODE_TLS_REJECT_UNAUTHORIZED=0) cannot change it.
      rejectUnauthorized: true,
      ...(session && { session }),
    })
    // Node emits a session after it checked the host's name. It does not check the name of a resumed session.
    socket.on('session', (session) => remember(sessions, name, session))
    return socket
  }

  #closed(socket: Socket): void {
    const { open, idle } = this.#shared
    open.delete(socket)
    this.#socket = undefined
    const { name } = this.#group
    const kept = idle.get(name)
    const at = kept?.indexOf(this) ?? -1
    if (at >= 0) kept!.splice(at, 1)
    if (kept?.length === 0) idle.delete(name)
  }
}

export type { Connection }

/** The client reads a socket by polling for received bytes. */
function withoutInterim(socket: Socket, interim: InterimAnswers): void {
  const read = socket.read.bind(socket)
  socket.read = (size) => {
    for (;;) {
      const chunk = read(size) as Buffer | null
      const left = chunk === null ? null : interim.without(chunk)
      if (left !== undefined) return left
    }
  }
}

/** Keeps the latest sessions. */
function remember(sessions: Map<string, Buffer>, name: string, session: Buffer): void {
  sessions.delete(name)
  sessions.set(name, session)
  if (sessions.size > rememberedSessions) sessions.delete(sessions.keys().next().value!)
}

/** Alternating names and values. */
function headerList(url: URL, headers: Wire['headers'], body: Wire['body']): string[] {
  const list = ['host', url.host, 'user-agent', 'tollgate', 'accept-encoding', acceptedEncodings]
  for (const [name, value] of Object.entries(headers)) list.push(name, value)
  if (body !== undefined) list.push('content-length', String(body.length))
  return list
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes)
}
