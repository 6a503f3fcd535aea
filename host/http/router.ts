import type { ServerResponse } from 'node:http'
import {
  type Call,
  type Caller,
  type Gateway,
  GatewayError,
  newId,
  type Reply,
} from '@tollgate/core'
import { type Endpoint, endpoints } from '@tollgate/schemas'
import express, { type Express, type NextFunction, type Request } from 'express'
import { type Document, send, sendReply } from './answer.ts'
import { ClientGoneError, drained, readBody } from './body.ts'
import { ownOperation } from './own-operations.ts'
import { type HostLog, loggedId, type RequestLine } from './request-log.ts'
import type { Shedding } from './shedding.ts'
import type { Throttle } from './throttle.ts'

export type RouterParts = {
  readonly gateway: Gateway
  readonly throttle: Throttle
  readonly shedding: Shedding
  readonly log: HostLog
  /** Addresses of proxies whose word on the client's address is taken. */
  readonly trustedProxy: readonly string[]
  /** Set once the process was told to end: connections are closed after their answer. */
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
  for (const endpoint of endpoints) {
    for (const path of [endpoint.path, ...(endpoint.alsoPaths ?? [])]) {
      const answer = handlerOf(parts, endpoint, path)
      const route = path.replaceAll(/\{([^{}]+)\}/g, ':$1')
      if (endpoint.method === 'GET') app.get(route, answer)
      else if (endpoint.method === 'POST') app.post(route, answer)
      else app.delete(route, answer)
    }
  }
  app.use((request: Request, response: ServerResponse) => nothingHere(parts, request, response))
  app.use((error: unknown, request: Request, response: ServerResponse, _: NextFunction) =>
    // The router throws this when a path parameter is no valid percent-encoding: there is no such id.
    error instanceof URIError
      ? nothingHere(parts, request, response)
      : refuse(parts, request, response, error),
  )
  return app
}

/** Deployed clients join their base URL and the path with two slashes. */
function withoutDoubleSlashes(request: Request, _: ServerResponse, next: NextFunction): void {
  const { url } = request
  if (url.includes('//')) {
    const end = url.indexOf('?')
    const path = end === -1 ? url : url.slice(0, end)
    if (path.startsWith('/')) {
      request.url = path.replaceAll(/\/{2,}/g, '/') + (end === -1 ? '' : url.slice(end))
    }
  }
  next()
}

function handlerOf(parts: RouterParts, endpoint: Endpoint, path: string) {
  const own = ownOperation(endpoint.operation)
  if (own === undefined && !parts.gateway.answers(endpoint.operation)) {
    throw new Error(`nobody answers the operation ${endpoint.operation} of the endpoints table`)
  }
  return (request: Request, response: ServerResponse): void => {
    void answerOperation(parts, endpoint, path, request, response)
  }
}

/** Token, throttle, operation. Never throws: whatever goes wrong is an answer. */
async function answerOperation(
  parts: RouterParts,
  endpoint: Endpoint,
  route: string,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const startedMs = performance.now()
  const requestId = newId()
  const { gateway } = parts
  let caller: Caller | null = null
  let counted: string | undefined
  let reply: Reply | Document
  try {
    if (endpoint.login === 'token')
      caller = await gateway.authenticate(request.headers.authorization)
    if (endpoint.throttle !== 'none') {
      const client = caller?.id ?? request.ip ?? ''
      if (endpoint.throttle === 'write') {
        await enter(parts.shedding, client)
        counted = client
      }
      await parts.throttle.admit(endpoint.throttle, client)
    }
    const isGone = () => response.destroyed || parts.state.closing
    reply = await carryOut(parts, endpoint, route, caller, request, requestId, isGone)
  } catch (error) {
    if (error instanceof ClientGoneError) {
      if (counted !== undefined) parts.shedding.leave(counted, 0)
      log(parts, { request, endpoint, requestId, startedMs, caller, status: 0, gone: true })
      return
    }
    await drained(request)
    reply = gateway.refuse(error, requestId)
  }
  if (counted !== undefined) parts.shedding.leave(counted, 'text' in reply ? 200 : reply.status)
  if ('text' in reply) send(response, 200, reply, requestId, parts.state.closing)
  else sendReply(response, reply, requestId, parts.state.closing)
  log(parts, {
    request,
    endpoint,
    requestId,
    startedMs,
    caller,
    status: response.statusCode,
    code: 'text' in reply ? undefined : codeOf(reply),
    gone: response.destroyed ? true : undefined,
  })
}

async function enter(shedding: Shedding, client: string): Promise<void> {
  try {
    shedding.enter(client)
  } catch (turnedAway) {
    await shedding.hold()
    throw turnedAway
  }
}

async function carryOut(
  parts: RouterParts,
  endpoint: Endpoint,
  route: string,
  caller: Caller | null,
  request: Request,
  requestId: string,
  isGone: () => boolean,
): Promise<Reply | Document> {
  const { gateway, state } = parts
  const path = request.params as Readonly<Record<string, string>>
  const { url } = request
  const mark = url.indexOf('?')
  const query = mark === -1 ? '' : url.slice(mark + 1)
  const own = ownOperation(endpoint.operation)
  if (own !== undefined) {
    return own({ gateway, request, path, query, requestId, closing: state.closing })
  }
  const call: Call = {
    route,
    path,
    query,
    requestId,
    isGone,
    address: request.ip,
    ...(endpoint.method === 'POST'
      ? {
          body: await readBody(request),
          contentType: request.headers['content-type'],
          idempotencyKey: request.headers['idempotency-key'] as string | undefined,
        }
      : {}),
  }
  return gateway.call(endpoint.operation, caller, call)
}

function codeOf(reply: Reply): string | undefined {
  return (reply.body as { result?: { code?: string } }).result?.code
}

function log(
  { log }: RouterParts,
  {
    request,
    endpoint,
    requestId,
    startedMs,
    caller,
    ...outcome
  }: {
    request: Request
    endpoint: Endpoint
    requestId: string
    startedMs: number
    caller: Caller | null
    status: number
    code?: string | undefined
    gone?: true | undefined
  },
): void {
  const line: RequestLine = {
    method: request.method,
    route: endpoint.path,
    id: loggedId(request.params.id as string | undefined),
    ...outcome,
    ms: Math.round((performance.now() - startedMs) * 10) / 10,
    token: caller?.id,
    entity: caller?.entityId,
    ndc: requestId,
  }
  // Health checks come every few seconds and say nothing while all is well.
  if (endpoint.throttle === 'none' && outcome.status === 200) log.debug(line, 'request')
  else log.info(line, 'request')
}

/** A wrong path, or a method that a path does not have: the API knows no 405. */
function nothingHere(
  parts: RouterParts,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const error = new GatewayError('700.400.580', {
    status: 404,
    description: 'cannot find transaction: there is no such path, or not with this method',
  })
  return refuse(parts, request, response, error)
}

async function refuse(
  parts: RouterParts,
  request: Request,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  const requestId = newId()
  const reply = parts.gateway.refuse(error, requestId)
  await drained(request)
  sendReply(response, reply, requestId, parts.state.closing)
  const { status } = reply
  const line: RequestLine = {
    method: request.method,
    route: '',
    status,
    code: codeOf(reply),
    ms: 0,
    ndc: requestId,
  }
  parts.log.info(line, 'request')
}
