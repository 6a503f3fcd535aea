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
import { costOf, type Document, documentOf, send } from './answer.ts'
import type { AnswerBudget, Readers } from './answer-budget.ts'
import { sendStream, streamCost } from './answer-stream.ts'
import { ClientGoneError, drained, readBody } from './body.ts'
import { type BodyBudget, type BodyShare, StalledBody } from './body-budget.ts'
import { clientOf } from './client.ts'
import { type HttpAnswer, type HttpRequest, pathOf, queryOf } from './exchange.ts'
import { answerFault, refusalOf } from './fault.ts'
import { type OfficeOrigin, officeRoutes } from './office.ts'
import { ownOperation } from './own-operations.ts'
import { gatewayFor, leadOf, OfficePods } from './pods.ts'
import { notByProxy, onlyThroughProxy } from './proxy-only.ts'
import {
  codeOf,
  type HostLog,
  type LoggedRequest,
  logRequest,
  paymentOf,
  type RequestLine,
  toldOf,
} from './request-log.ts'
import { type Params, type Route, Routes } from './routes.ts'
import { isOwnPath, type Origins } from './surfaces.ts'
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

/** Answers one request, whoever reads and writes its bytes. */
export type Router = (request: HttpRequest, answer: HttpAnswer) => void

/** Carries out the request of a row. */
export type Answerer = (request: HttpRequest, answer: HttpAnswer, params: Params) => void

/** The REST surface: the endpoints table, and that of the office. */
export function createRouter(parts: RouterParts): Router {
  const office = parts.pods === undefined ? undefined : new OfficePods(parts.pods)
  const routes = new Routes<Answerer>([
    ...endpoints.flatMap((endpoint) => endpointRoutes(parts, endpoint)),
    ...(parts.surfaces.has('office') ? officeRoutes(parts, office) : []),
  ])
  const isByProxy = parts.proxyOnly ? onlyThroughProxy(parts.trustedProxy) : () => true
  const isOwn = isOwnPath(parts.surfaces, parts.origins)
  return (request, answer) => {
    try {
      request.url = plainUrl(request.url)
      office?.strip(request)
      if (!isByProxy(request)) return void refuse(parts, request, answer, notByProxy, true)
      const found = isOwn(request) ? routes.find(request.method, request.url) : undefined
      if (found === undefined) return void nothingHere(parts, request, answer)
      found.route.row(request, answer, found.params)
    } catch (error) {
      void refuse(parts, request, answer, error)
    }
  }
}

/** Deployed clients join their base URL and the path with two slashes; those of proxies send whole URLs. */
function plainUrl(url: string): string {
  if (!url.includes('//')) return url
  if (!url.startsWith('/')) {
    if (!URL.canParse(url)) return url
    const { pathname, search } = new URL(url)
    return plainUrl(pathname + search)
  }
  const path = pathOf(url)
  return path.replaceAll(/\/{2,}/g, '/') + url.slice(path.length)
}

function endpointRoutes(parts: RouterParts, endpoint: Endpoint): Route<Answerer>[] {
  const own = ownOperation(endpoint.operation)
  if (own === undefined && !parts.gateway.answers(endpoint.operation)) {
    throw new Error(`no handler serves the operation ${endpoint.operation} of the endpoints table`)
  }
  return [endpoint.path, ...(endpoint.alsoPaths ?? [])].map((path) => ({
    method: endpoint.method,
    path,
    deep: endpoint.deep === true,
    row: answererOf(parts, endpoint, path),
  }))
}

function answererOf(parts: RouterParts, endpoint: Endpoint, path: string): Answerer {
  const { pods } = parts
  const lead = pods === undefined ? undefined : leadOf(endpoint)
  return (request, response, params) => {
    const requestId = newId()
    if (endpoint.crossOrigin === true) response.setHeader('Access-Control-Allow-Origin', '*')
    // In the order of the requests of the connection, so before anything is waited for.
    const place = isCounted(endpoint) ? parts.answers.enter(request, response) : undefined
    const asked: Asked = { endpoint, route: path, request, response, params, requestId, place }
    parts.underWay.begin(response, requestId)
    const answer = (own: RouterParts, problem?: unknown) =>
      clientRequests.run((told) => answerOperation(own, asked, told, problem), {
        about: () => toldOf(own.gateway, asked),
      })
    const answered =
      pods === undefined
        ? answer(parts)
        : gatewayFor(pods, lead?.(request, params)).then(
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
  readonly response: HttpAnswer
  /** Among the answers of the connection; undefined where they do not count. */
  readonly place: ReturnType<AnswerBudget['enter']> | undefined
}

/** The body of a DELETE, whose parameters are refused by name. */
const hasUnreadBody = ({ method, login }: Endpoint, { headers }: HttpRequest): boolean =>
  method === 'DELETE' &&
  login === 'token' &&
  (Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined)

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
  let readers: Readers | undefined
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
    if (endpoint.method === 'POST' || hasUnreadBody(endpoint, request)) {
      const address = clientOf(request.ip)
      share = parts.bodies.share({ token: caller?.id, merchant, address })
    }
    if (place !== undefined) {
      const names = merchant === undefined ? [client] : [client, merchant]
      readers = { names, isStranger: caller === null }
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
    reply = refusalOf({ gateway, log: parts.log }, error, requestId)
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
    gone: hasGone(request, response) ? (true as const) : undefined,
  }
  logRequest(parts.log, asked, outcome, told)
}

/** The answer learns of the end of its connection a moment later than the connection. */
const hasGone = ({ socket }: HttpRequest, response: HttpAnswer): boolean =>
  response.destroyed || (!response.writableEnded && socket.destroyed)

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
  { endpoint, route, request, response, params: path, requestId }: Asked,
  { caller, client, share, rights }: Asker,
): Promise<Reply | Document> {
  const query = queryOf(request.url)
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
  request: HttpRequest,
  response: HttpAnswer,
): Promise<void> {
  const isRoot = pathOf(request.url) === '/' && request.method === 'GET'
  const more = isRoot ? '; the page /reference lists every path' : ''
  const error = new GatewayError('700.400.580', {
    status: 404,
    description: `cannot find transaction: there is no such path, or not with this method${more}`,
  })
  return refuse(parts, request, response, error)
}

async function refuse(
  parts: RouterParts,
  request: HttpRequest,
  response: HttpAnswer,
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
