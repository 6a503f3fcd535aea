import type { ServerResponse } from 'node:http'
import {
  type Call,
  type Caller,
  clientRequests,
  type Gateway,
  GatewayError,
  newId,
  type Pods,
  type Reply,
} from '@tollgate/core'
import type { RequestTold } from '@tollgate/plugin-kit'
import { type Endpoint, endpoints, type Surface } from '@tollgate/schemas'
import express, { type Express, type NextFunction, type Request } from 'express'
import { costOf, type Document, documentOf, send } from './answer.ts'
import type { AnswerBudget } from './answer-budget.ts'
import { sendStream, streamCost } from './answer-stream.ts'
import { ClientGoneError, drained, readBody } from './body.ts'
import { type BodyBudget, type BodyShare, StalledBody } from './body-budget.ts'
import { clientOf } from './client.ts'
import { answerFault } from './fault.ts'
import { mountOffice, type OfficeOrigin } from './office.ts'
import { ownOperation } from './own-operations.ts'
import { parametersOf, withoutDoubleSlashes } from './paths.ts'
import { gatewayFor, leadOf, OfficePods } from './pods.ts'
import { onlyThroughProxy } from './proxy-only.ts'
import {
  codeOf,
  type HostLog,
  type LoggedRequest,
  logRequest,
  paymentOf,
  type RequestLine,
  toldOf,
} from './request-log.ts'
import { type Origins, onlyOwnPaths } from './surfaces.ts'
import type { Refusals, Throttle } from './throttle.ts'
import type { UnderWay } from './under-way.ts'
import { WaitingCaller } from './waiting-caller.ts'

export type RouterParts = {
  /** The gateway of the request; before one is chosen, that of any pod. */
  readonly gateway: Gateway
  /** Where the host serves several pods. */
  readonly pods?: Pods | undefined
  readonly throttle: Throttle
  readonly refusals: Refusals
  readonly log: HostLog
  /** Addresses of proxies whose word on the client's address is taken. */
  readonly trustedProxy: readonly string[]
  /** Whether requests that come by no such proxy are refused. */
  readonly proxyOnly: boolean
  readonly bodies: BodyBudget
  readonly answers: AnswerBudget
  readonly underWay: UnderWay
  /** The served surfaces. */
  readonly surfaces: ReadonlySet<Surface>
  /** The external origin of each surface. */
  readonly origins: Origins
  readonly office: OfficeOrigin
  /** Set after the signal to end: connections close after their response. */
  readonly state: { closing: boolean }
}

/** The REST surface: one loop over the endpoints table. */
export function createRouter(parts: RouterParts): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.disable('query parser')
  app.enable('case sensitive routing')
  if (parts.trustedProxy.length > 0) app.set('trust proxy', [...parts.trustedProxy])
  app.use(withoutDoubleSlashes)
  const office = parts.pods === undefined ? undefined : new OfficePods(parts.pods)
  if (office !== undefined) {
    app.use((request: Request, _: ServerResponse, next: NextFunction) => {
      office.strip(request)
      next()
    })
  }
  if (parts.proxyOnly) {
    const isProxy = app.get('trust proxy fn') as (address: string, hop: number) => boolean
    app.use(
      onlyThroughProxy(isProxy, (request, response, error) =>
        refuse(parts, request, response, error, true),
      ),
    )
  }
  app.use(
    onlyOwnPaths(parts.surfaces, parts.origins, (request, response) =>
      nothingHere(parts, request, response),
    ),
  )
  // The router looks at its paths one by one, so those of payments are its first.
  for (const endpoint of endpoints) {
    for (const path of [endpoint.path, ...(endpoint.alsoPaths ?? [])]) {
      const answer = handlerOf(parts, endpoint, path)
      const route = routeOf(path, endpoint.deep)
      if (endpoint.method === 'GET') app.get(route, answer)
      else if (endpoint.method === 'POST') app.post(route, answer)
      else app.delete(route, answer)
    }
  }
  if (parts.surfaces.has('office')) mountOffice(app, parts, office)
  app.use((request: Request, response: ServerResponse) => nothingHere(parts, request, response))
  app.use((error: unknown, request: Request, response: ServerResponse, _: NextFunction) =>
    // The router throws this when a path parameter is no valid percent-encoding: there is no such id.
    error instanceof URIError
      ? nothingHere(parts, request, response)
      : refuse(parts, request, response, error),
  )
  return app
}

/** A path of the table as the router reads it: `{id}` is one part, a deep one the rest of the path. */
const routeOf = (path: string, deep = false): string =>
  (deep ? path.replace(/\{([^{}]+)\}$/, '*$1') : path).replaceAll(/\{([^{}]+)\}/g, ':$1')

function handlerOf(parts: RouterParts, endpoint: Endpoint, path: string) {
  const own = ownOperation(endpoint.operation)
  if (own === undefined && !parts.gateway.answers(endpoint.operation)) {
    throw new Error(`no handler serves the operation ${endpoint.operation} of the endpoints table`)
  }
  const { pods } = parts
  const lead = pods === undefined ? undefined : leadOf(endpoint)
  return (request: Request, response: ServerResponse): void => {
    const requestId = newId()
    if (endpoint.crossOrigin === true) response.setHeader('Access-Control-Allow-Origin', '*')
    // In the order of the requests of the connection, so before anything is waited for.
    const place = isCounted(endpoint) ? parts.answers.enter(request, response) : undefined
    const asked: Asked = { endpoint, route: path, request, response, requestId, place }
    parts.underWay.begin(response, requestId)
    const answer = (own: RouterParts, problem?: unknown) =>
      clientRequests.run((told) => answerOperation(own, asked, told, problem), {
        about: () => toldOf(own.gateway, asked),
      })
    const answered =
      pods === undefined
        ? answer(parts)
        : gatewayFor(pods, lead?.(request)).then(
            (gateway) => answer({ ...parts, gateway }),
            (problem: unknown) => answer(parts, problem),
          )
    answered
      .catch((error: unknown) => answerFault(parts, response, error, requestId))
      .finally(() => parts.underWay.end(response))
  }
}

/** One request to an operation. */
type Asked = LoggedRequest & {
  readonly route: string
  readonly response: ServerResponse
  /** Among the answers of the connection; undefined where they do not count. */
  readonly place: ReturnType<AnswerBudget['enter']> | undefined
}

const isCounted = ({ method, throttle }: Endpoint): boolean =>
  method !== 'POST' && throttle === 'read'

/**
 * Token, throttle, operation: every failure becomes a response.
 *
 * @param problem why no pod can be asked.
 */
async function answerOperation(
  parts: RouterParts,
  asked: Asked,
  told: RequestTold | undefined,
  problem: unknown,
): Promise<void> {
  const startedMs = performance.now()
  const { endpoint, request, response, requestId, place } = asked
  const { gateway } = parts
  const login = () => gateway.authenticate(request.headers.authorization, request.ip)
  let caller: Caller | null = null
  let share: BodyShare | undefined
  let reply: Reply | undefined
  let document: Document
  let isLast = false
  let readers: readonly string[] | undefined
  let rights: WaitingCaller | undefined
  try {
    if (problem !== undefined) throw problem
    if (endpoint.login === 'token') {
      caller = await login()
      rights = new WaitingCaller(login)
    }
    const client = caller?.id ?? clientOf(request.ip)
    await parts.throttle.admit(endpoint.throttle, client)
    const merchant = caller === null ? undefined : await gateway.merchantOf(caller)
    if (endpoint.method === 'POST') {
      const address = clientOf(request.ip)
      share = parts.bodies.share({ token: caller?.id, merchant, address })
    } else if (place !== undefined) {
      readers = merchant === undefined ? [client] : [client, merchant]
      await parts.answers.admit(place, readers)
      await rights?.mayBegin()
    }
    const done = await carryOut(parts, asked, { caller, client, share, rights })
    if (endpoint.method === 'GET') await rights?.mayStillRead()
    if ('text' in done) document = done
    else {
      reply = done
      document = documentOf(done)
    }
    if (readers !== undefined) parts.answers.fit(readers, costIn(reply, document))
  } catch (error) {
    if (error instanceof ClientGoneError) {
      logRequest(parts.log, asked, { startedMs, caller, status: 0, gone: true }, told)
      return
    }
    // Bytes that are only discarded use no shared memory.
    share?.letGo()
    // A stalled sender gets its error at once, and the connection ends with it.
    isLast = error instanceof StalledBody
    if (!isLast) await drained(request)
    reply = gateway.refuse(error, requestId)
    document = documentOf(reply)
  } finally {
    share?.letGo()
  }
  const cost = costIn(reply, document)
  const moved = readers && parts.answers.sending(request, response, readers, cost)
  const closing = isLast || parts.state.closing
  const status = reply?.status ?? document.status ?? 200
  if (reply?.stream === undefined) {
    send(response, status, document, requestId, closing, reply?.headers, moved)
  } else {
    const receiver = {
      ...{ response, socket: request.socket, requestId, closing, moved: moved ?? still },
      mayRead: async () => rights?.mayStillRead(),
    }
    await sendStream(receiver, status, reply.stream, reply.headers)
  }
  const outcome = {
    ...{ startedMs, caller },
    status: response.statusCode,
    code: reply === undefined ? undefined : codeOf(reply),
    payment: reply === undefined ? undefined : paymentOf(reply),
    gone: response.destroyed ? (true as const) : undefined,
  }
  logRequest(parts.log, asked, outcome, told)
}

const costIn = (reply: Reply | undefined, document: Document): number =>
  reply?.stream === undefined ? costOf(document) : streamCost

const still = () => {}

/** The client, and the resources of its request. */
type Asker = {
  readonly caller: Caller | null
  readonly client: string
  readonly share: BodyShare | undefined
  readonly rights: WaitingCaller | undefined
}

async function carryOut(
  { gateway, pods, state }: RouterParts,
  { endpoint, route, request, response, requestId }: Asked,
  { caller, client, share, rights }: Asker,
): Promise<Reply | Document> {
  const path = parametersOf(request)
  const { url } = request
  const mark = url.indexOf('?')
  const query = mark === -1 ? '' : url.slice(mark + 1)
  const own = ownOperation(endpoint.operation)
  if (own !== undefined) {
    const read = (most: number) => readBody(request, share!, most)
    const { closing } = state
    const address = request.ip
    return own({
      ...{ gateway, pods, request, path, query, requestId, client, address, closing },
      readBody: read,
    })
  }
  const isRead = endpoint.method === 'GET'
  const isGone = () =>
    response.destroyed || state.closing || (isRead && rights?.hasNoRight() === true)
  const body = share === undefined ? undefined : await readBody(request, share)
  if (body !== undefined) await rights?.mayBegin()
  const call: Call = {
    route,
    path,
    query,
    requestId,
    isGone,
    address: request.ip,
    ...(endpoint.login === 'checkout' ? { accept: request.headers.accept } : {}),
    ...(body !== undefined
      ? {
          body,
          contentType: request.headers['content-type'],
          idempotencyKey: request.headers['idempotency-key'] as string | undefined,
        }
      : {}),
  }
  return gateway.call(endpoint.operation, caller, call)
}

/** A wrong path, or a method that a path does not have: the API knows no 405. */
function nothingHere(
  parts: RouterParts,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const isRoot = request.path === '/' && request.method === 'GET'
  const more = isRoot ? '; the page /reference lists every path' : ''
  const error = new GatewayError('700.400.580', {
    status: 404,
    description: `cannot find transaction: there is no such path, or not with this method${more}`,
  })
  return refuse(parts, request, response, error)
}

async function refuse(
  parts: RouterParts,
  request: Request,
  response: ServerResponse,
  error: unknown,
  isLast = parts.state.closing,
): Promise<void> {
  const requestId = newId()
  try {
    const reply = parts.gateway.refuse(error, requestId)
    await drained(request)
    const { status } = reply
    send(response, status, documentOf(reply), requestId, isLast, reply.headers)
    const line: RequestLine = {
      method: request.method,
      route: '',
      status,
      code: codeOf(reply),
      ms: 0,
      ndc: requestId,
    }
    parts.log.info(line, 'request')
  } catch (fault) {
    answerFault(parts, response, fault, requestId)
  }
}
