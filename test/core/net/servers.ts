/** Real servers on loopback, a clock to move, and calls to make on them. */
import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type LookupFunction, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { HttpError } from '@tollgate/plugin-kit'
import { type CallOptions, createOutgoing, type OutgoingOptions } from '../../../core/net/http.ts'
import { type Identity, selfSigned } from './certificate.ts'

/** The host of the TLS servers; `lookup` leads it to this machine. */
export const tlsHost = 'acquirer.test'
export const identity: Identity = selfSigned(tlsHost, 'localhost')

/** A clock that stands still until a test moves it. */
export function stillClock() {
  const clock = {
    elapsed: 1000,
    real: 1_800_000_000_000,
    elapsedMs: () => clock.elapsed,
    realMs: () => clock.real,
  }
  return clock
}

/** A lookup that answers each question with the next of `answers`, and then with the last one. */
export function answering(...answers: readonly (readonly string[])[]) {
  const asked: string[] = []
  const lookup: LookupFunction = (host, _options, callback) => {
    const found = answers[Math.min(asked.length, answers.length - 1)]!
    asked.push(host)
    process.nextTick(() => {
      callback(
        null,
        found.map((address) => ({ address, family: net.isIP(address) })),
      )
    })
  }
  return { lookup, asked }
}

/** Outgoing requests of an engine, and one call with an hour of time by default. */
export function outgoingFor(
  test: TestContext,
  options: Partial<OutgoingOptions> & { call?: Partial<CallOptions> } = {},
) {
  const clock = options.clock ?? stillClock()
  const outgoing = createOutgoing({
    name: 'test',
    allowLoopback: true,
    ca: [identity.cert],
    lookup: answering(['127.0.0.1']).lookup,
    ...options,
    clock,
  })
  test.after(() => outgoing.close())
  const newCall = (more: Partial<CallOptions> = {}) =>
    outgoing.forCall({
      deadlineMs: clock.elapsedMs() + 3_600_000,
      sendBy: { monotonicMs: clock.elapsedMs() + 100, wallMs: clock.realMs() + 100 },
      signal: new AbortController().signal,
      ...options.call,
      ...more,
    })
  return { outgoing, clock, newCall, call: newCall() }
}

async function listening(test: TestContext, server: net.Server, host: string): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, host)
  await once(server, 'listening')
  test.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export async function httpServer(test: TestContext, listener: RequestListener, host = '127.0.0.1') {
  const server = http.createServer(listener)
  const port = await listening(test, server, host)
  return { server, port, url: `http://127.0.0.1:${port}` }
}

export async function httpsServer(test: TestContext, listener: RequestListener, as = identity) {
  const server = https.createServer({ key: as.key, cert: as.cert }, listener)
  const port = await listening(test, server, '127.0.0.1')
  return { server, port, url: `https://${tlsHost}:${port}`, identity: as }
}

/** A server that handles each connection with `behave`. */
export async function rawServer(test: TestContext, behave: (socket: Socket) => void) {
  const server = net.createServer(behave)
  const port = await listening(test, server, '127.0.0.1')
  return { server, port, url: `http://127.0.0.1:${port}`, tls: `https://${tlsHost}:${port}` }
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The HttpError of `work`, without its text. */
export async function failure(work: Promise<unknown>) {
  try {
    await work
  } catch (error) {
    if (error instanceof HttpError) return { code: error.code, wroteBytes: error.wroteBytes }
    throw error
  }
  throw new Error('the request was answered')
}

export async function bodyOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
