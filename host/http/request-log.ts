import type { Caller, Gateway, Reply } from '@tollgate/core'
import { isTraceparent, type RequestTold } from '@tollgate/plugin-kit'
import type { Endpoint } from '@tollgate/schemas'
import type { HttpRequest } from './exchange.ts'
import type { Params } from './routes.ts'

/** Takes lines: fields that may be shown, then what happened. The `log` of the engine fits, such as pino. */
export type HostLog = {
  debug?(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  /** The same with fields in every line, at a level of its own. */
  child?(fields: object, options: { level: string }): HostLog
}

export const silent: HostLog = { info() {}, warn() {} }

const id = /^[0-9a-f]{32}$/
/** Whoever has the whole id of a checkout can pay it. */
const checkoutId = /^[0-9A-F]{32}\.[A-Za-z0-9-]+$/

/** The parts of a request in the log: never bodies, queries or headers. */
export type RequestLine = {
  readonly method: string
  /** Path of the endpoints table, not the client's. */
  readonly route: string
  readonly id?: string | undefined
  /** The payment that it made or read. */
  readonly payment?: string | undefined
  readonly status: number
  readonly code?: string | undefined
  readonly ms: number
  readonly token?: string | undefined
  readonly entity?: string | null | undefined
  readonly ndc: string
  /** The client left before it was answered. */
  readonly gone?: true | undefined
}

/** A path parameter is logged only when it is one of our ids: people paste anything into URLs. */
export const loggedId = (value: string | undefined): string | undefined =>
  value === undefined
    ? undefined
    : id.test(value)
      ? value
      : checkoutId.test(value)
        ? value.slice(0, 8)
        : undefined

export const codeOf = ({ body }: Reply): string | undefined =>
  (body as { result?: { code?: string } }).result?.code

/** The payment in a reply. Refusals have ids of their own. */
export function paymentOf({ body }: Reply): string | undefined {
  const { id: paymentId, paymentType, shortId } = body as Readonly<Record<string, unknown>>
  const isPayment = typeof paymentType === 'string' && typeof shortId === 'string'
  return isPayment && typeof paymentId === 'string' ? paymentId : undefined
}

/** One request to an operation. */
export type LoggedRequest = {
  readonly endpoint: Endpoint
  readonly request: HttpRequest
  readonly params: Params
  readonly requestId: string
}

/** How a request ended. */
export type LoggedEnd = Pick<RequestLine, 'status' | 'code' | 'payment' | 'gone'> & {
  readonly startedMs: number
  readonly caller: Caller | null
}

/** Writes the line of a request, and tells those who listen. */
export function logRequest(
  log: HostLog,
  { endpoint, request, params, requestId }: LoggedRequest,
  { startedMs, caller, ...outcome }: LoggedEnd,
  told: RequestTold | undefined,
): void {
  const line: RequestLine = {
    method: request.method,
    route: endpoint.path,
    id: loggedId(params.id),
    ...outcome,
    ms: Math.round((performance.now() - startedMs) * 10) / 10,
    token: caller?.id,
    entity: caller?.entityId,
    ndc: requestId,
  }
  if (told !== undefined) {
    const { status, code, payment } = outcome
    told.status = outcome.gone === true ? 0 : status
    if (code !== undefined) told.code = code
    if (payment !== undefined) told.paymentId = payment
  }
  // Health checks come every few seconds and say nothing while all is well.
  if (endpoint.throttle === 'none' && outcome.status === 200) log.debug?.(line, 'request')
  else log.info(line, 'request')
}

/** What listeners learn of a request before it is read. */
export function toldOf(
  { name }: Gateway,
  { endpoint, request, requestId }: LoggedRequest,
): RequestTold {
  const { traceparent } = request.headers
  return {
    engine: name,
    method: request.method,
    route: endpoint.path,
    operation: endpoint.operation,
    requestId,
    ...(isTraceparent(traceparent) ? { traceparent } : {}),
  }
}
