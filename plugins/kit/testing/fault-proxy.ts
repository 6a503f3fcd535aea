import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Answer, type Fault, sendDamaged } from './fault.ts'
import { movesHeader } from './http.ts'

/**
 * A server between connector and acquirer, which forwards everything unchanged except one request
 * with a planned fault. So no sandbox has to misbehave.
 */
export type Front = {
  /** The front's URL in place of the acquirer's. */
  readonly url: string
  /** A URL that refuses connections. */
  deafUrl(): Promise<string>
  /** Plans a fault for the next request of that sort, or whose method and path fit, such as `POST /payments`. */
  meet(fault: Fault, sort: 'moving' | 'any' | RegExp): Encounter
  close(): Promise<void>
}

/** A fault that waits for its request. */
export type Encounter = {
  readonly wasMet: boolean
  /** The acquirer's own answer; undefined when the request never reached it. */
  readonly answer: Answer | undefined
  /** Resolves when the fault has occurred and all its bytes are sent. */
  readonly over: Promise<void>
  /** Takes the plan back when no request met it. */
  forget(): void
  /** Forwards a request that had not reached the acquirer, and waits for its answer. */
  release(): Promise<void>
}

/** Headers of one hop. */
const ownHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', movesHeader])

type Plan = {
  readonly fault: Fault
  readonly sort: 'moving' | 'any' | RegExp
  readonly strike: () => void
  /** The request with the fault. */
  met: Passing | undefined
  answer: Answer | undefined
}
type Passing = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** @param target base URL of the acquirer, plain http */
export async function openFront(target: string): Promise<Front> {
  const server = createServer((incoming, response) => {
    serve(incoming, response, new URL(target), plans).catch(() => response.destroy())
  })
  const plans: Plan[] = []
  const origin = await listen(server)
  const at = (host: string) => {
    const url = new URL(target)
    url.host = new URL(host).host
    return url.href.replace(/\/$/, '')
  }
  return {
    url: at(origin),
    async deafUrl() {
      const deaf = createServer()
      const url = at(await listen(deaf))
      await new Promise((closed) => deaf.close(closed))
      return url
    },
    meet(fault, sort) {
      const struck = Promise.withResolvers<void>()
      const plan: Plan = { fault, sort, strike: struck.resolve, met: undefined, answer: undefined }
      plans.push(plan)
      return {
        get wasMet() {
          return plan.met !== undefined
        },
        get answer() {
          return plan.answer
        },
        over: struck.promise,
        forget() {
          if (plans.includes(plan)) plans.splice(plans.indexOf(plan), 1)
        },
        async release() {
          if (plan.met !== undefined) await pass(plan.met, new URL(target))
        },
      }
    },
    async close() {
      const closed = new Promise((done) => server.close(done))
      server.closeAllConnections()
      await closed
    },
  }
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  target: URL,
  plans: Plan[],
): Promise<void> {
  const moves = incoming.headers[movesHeader] !== undefined
  const request: Passing = {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: incoming.headers,
    body: await bodyOf(incoming),
  }
  const isMet = ({ sort }: Plan) =>
    sort instanceof RegExp
      ? sort.test(`${request.method} ${request.path}`)
      : sort === 'any' || moves
  const at = plans.findIndex(isMet)
  const [plan] = at === -1 ? [] : plans.splice(at, 1)
  if (plan !== undefined) plan.met = request
  const answer = plan?.fault.reaches === false ? undefined : await pass(request, target)
  if (plan === undefined) {
    response.writeHead(answer!.status, {
      ...answer!.headers,
      'content-length': answer!.body.length,
    })
    response.end(answer!.body)
    return
  }
  plan.answer = answer
  await sendDamaged(response, plan.fault.damage, request.body, answer)
  plan.strike()
}

/** One request to the acquirer, and its complete answer. */
async function pass(request: Passing, target: URL): Promise<Answer> {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !ownHeaders.has(name)),
  )
  const outgoing = send({
    host: target.hostname,
    port: target.port,
    method: request.method,
    path: request.path,
    headers:
      request.body.length === 0 ? headers : { ...headers, 'content-length': request.body.length },
  })
  outgoing.end(request.body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  const kept = Object.entries(incoming.headers).filter(
    ([name, value]) => value !== undefined && !ownHeaders.has(name) && name !== 'content-length',
  )
  return {
    status: incoming.statusCode ?? 0,
    headers: Object.fromEntries(kept) as Answer['headers'],
    body: await bodyOf(incoming),
  }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
