import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Case } from './authentication/case.ts'
import { answerAuthentication, answerAuthenticationEnquiry } from './authentication/operations.ts'
import { type Books, type LedgerPage, openBooks } from './books.ts'
import { carryOutControl } from './control.ts'
import { createPlan, type Fault, type Plan } from './faults.ts'
import { type Messenger, openMessenger } from './messenger.ts'
import { answerEnquiry, answerOperation, answerReversal } from './operations.ts'
import { servePage } from './pages/server.ts'
import { sendJson } from './respond.ts'
import { answerSettlementFile, answerSettlements } from './settlement/serve.ts'
import { merchantHeader, objectOf, readText, WireError } from './wire.ts'

export type SimulatorOptions = {
  /** 0 or absent: any free port. */
  readonly port?: number
  /** Loopback only, 127.0.0.1 by default, because this acquirer approves on request. */
  readonly host?: string
  /** Shown on the bank's page and by GET /account; distinguishes several acquirers. */
  readonly name?: string
  /** The secret that proves merchants and signs events. */
  readonly secret?: string
  /** Append-only file of the ledger; in memory only without it. */
  readonly ledger?: string
  /** Address of events for operations without one of their own. */
  readonly events?: string
  readonly faults?: readonly Fault[]
  /** The machine's own clock by default. Requests can carry the merchant's business time. */
  readonly time?: Time
}

/** The acquirer's own time: in its delays, and for requests without a time. */
export type Time = {
  /** Milliseconds since 1970. */
  now(): number
  /** Rejects when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

/** A running HTTP acquirer. */
export type RunningSimulator = {
  /** Without a slash at the end. */
  readonly url: string
  readonly secret: string
  readonly plan: Plan
  /** The oracle: the true state of the money. */
  ledger(after?: number, limit?: number): LedgerPage
  /** The authentications at the issuer, oldest first. */
  authentications(): readonly Case[]
  /** Stops listening, breaks open connections, and waits until the ledger is on the disk. */
  close(): Promise<void>
}

/** The shared state of the server's parts. */
export type Acquirer = {
  readonly name: string
  /** Without a slash at the end. */
  readonly url: string
  readonly secret: string
  readonly books: Books
  readonly plan: Plan
  readonly messenger: Messenger
  readonly time: Time
  /**
   * The end of the time in which enquiries find nothing, by merchant and key. Milliseconds since
   * 1970.
   */
  readonly hidden: Map<string, number>
  /** Aborted when the server closes. */
  readonly signal: AbortSignal
}

export const defaultSecret = 'simulator-secret'
const loopback: readonly string[] = ['127.0.0.1', '::1', 'localhost']
const machineTime: Time = {
  now: () => Date.now(),
  wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
}
const mostEntries = 1_000

/**
 * Starts the simulated acquirer as an HTTP server.
 *
 * @throws Error for a host outside this machine or an unreadable ledger file.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<RunningSimulator> {
  const { host = '127.0.0.1', name = 'Simulator', secret = defaultSecret } = options
  if (!loopback.includes(host)) {
    throw new Error(
      `host must be one of ${loopback.join(', ')}: the simulator serves this machine only`,
    )
  }
  const closing = new AbortController()
  const books = openBooks(options.ledger)
  const plan = createPlan()
  plan.add(options.faults ?? [])
  const messenger = openMessenger(secret, options.events, closing.signal)
  const server = createServer((incoming, response) => {
    serve(acquirer, incoming, response).catch((error: unknown) => fail(response, error))
  })
  server.listen(options.port ?? 0, host)
  await new Promise<void>((listening, failed) => {
    server.once('listening', listening)
    server.once('error', failed)
  })
  const { address, family, port } = server.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  const time = options.time ?? machineTime
  const acquirer: Acquirer = {
    name,
    url,
    secret,
    books,
    plan,
    messenger,
    time,
    hidden: new Map(),
    signal: closing.signal,
  }
  return {
    url,
    secret,
    plan,
    ledger: (after = 0, limit = Number.MAX_SAFE_INTEGER) => books.page(after, limit),
    authentications: () => books.cases(),
    async close() {
      closing.abort()
      const closed = new Promise((done) => server.close(done))
      server.closeAllConnections()
      await closed
      await messenger.idle()
      await books.close()
    },
  }
}

async function serve(
  acquirer: Acquirer,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://simulator')
  const route = `${incoming.method} ${pathname}`
  if (await servePage(acquirer, incoming, response)) return
  if (!isAuthorised(incoming, acquirer.secret)) {
    return sendJson(response, 401, { refused: 'the authorization header holds another secret' })
  }
  if (route === 'GET /account') return sendJson(response, 200, { name: acquirer.name })
  if (route === 'GET /ledger') {
    const after = wholeNumber(searchParams.get('after'), 0)
    const limit = Math.min(wholeNumber(searchParams.get('limit'), mostEntries), mostEntries)
    await acquirer.books.safe()
    return sendJson(response, 200, acquirer.books.page(after, limit))
  }
  if (route === 'POST /control') {
    return sendJson(response, 200, await carryOutControl(acquirer, await readJson(incoming)))
  }
  const merchantId = incoming.headers[merchantHeader]
  if (typeof merchantId !== 'string' || merchantId === '') {
    throw new WireError(`the header ${merchantHeader} must name the merchant`)
  }
  if (route === 'POST /operations') {
    return answerOperation(
      acquirer,
      merchantId,
      incoming.headers,
      await readJson(incoming),
      response,
    )
  }
  if (route === 'GET /operations') {
    return answerEnquiry(acquirer, merchantId, searchParams, response)
  }
  if (route === 'GET /settlements') {
    return answerSettlements(acquirer, merchantId, searchParams, response)
  }
  if (route.startsWith('GET /settlements/')) {
    const day = pathname.slice('/settlements/'.length)
    return answerSettlementFile(acquirer, merchantId, day, searchParams, response)
  }
  if (route === 'GET /authentications') {
    return answerAuthenticationEnquiry(acquirer, merchantId, searchParams, response)
  }
  if (route === 'POST /authentications') {
    const body = await readJson(incoming)
    return answerAuthentication(acquirer, merchantId, incoming.headers, body, response)
  }
  if (route === 'POST /reversals') {
    return answerReversal(
      acquirer,
      merchantId,
      incoming.headers,
      await readJson(incoming),
      response,
    )
  }
  sendJson(response, 404, { refused: 'no resource at this path' })
}

/** A refusal states that nothing was done. Any other error is a fault and states nothing. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  if (error instanceof WireError) sendJson(response, 400, { refused: error.message })
  else sendJson(response, 500, { error: 'internal error' })
}

function isAuthorised({ headers }: IncomingMessage, secret: string): boolean {
  // Compared as digests, which have one length.
  const digest = (text: string) => createHmac('sha256', secret).update(text).digest()
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${secret}`))
}

async function readJson(incoming: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const text = await readText(incoming)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new WireError('the body must be JSON')
  }
  return objectOf(json, 'body')
}

function wholeNumber(text: string | null, otherwise: number): number {
  return text !== null && /^[0-9]{1,9}$/.test(text) ? Number(text) : otherwise
}
