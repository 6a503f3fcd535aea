/**
 * The operators' API over HTTP: cookie, origin and JSON. The engine decides about rights. Scripts
 * of other sites cannot use this API: every change requires the right origin, a form cannot send
 * JSON, and no header lets other origins read a response.
 */
import { type Gateway, GatewayError, newId, type Person, type Reply } from '@tollgate/core'
import { limits, type OfficeEndpoint, officeEndpoints } from '@tollgate/schemas'
import { costOf, type Document, documentOf, send } from './answer.ts'
import type { AnswerBudget, Readers } from './answer-budget.ts'
import { ClientGoneError, drained, readBody } from './body.ts'
import type { BodyBudget, BodyShare } from './body-budget.ts'
import { clientOf } from './client.ts'
import { type HttpAnswer, type HttpRequest, queryOf } from './exchange.ts'
import { answerFault, refusalOf } from './fault.ts'
import type { OfficePods } from './pods.ts'
import { type HostLog, loggedId } from './request-log.ts'
import type { Answerer } from './router.ts'
import type { Params, Route } from './routes.ts'
import { sessionCookie } from './session-cookie.ts'
import type { Refusals, Throttle } from './throttle.ts'
import type { UnderWay } from './under-way.ts'

/** The origins of the office in this process. Known after the server listens, unless configured. */
export type OfficeOrigin = { names: readonly string[] }

export type OfficeParts = {
  readonly gateway: Gateway
  readonly throttle: Throttle
  readonly refusals: Refusals
  readonly bodies: BodyBudget
  readonly answers: AnswerBudget
  readonly underWay: UnderWay
  readonly log: HostLog
  readonly state: { closing: boolean }
  readonly office: OfficeOrigin
}

/** @param pods Where the host serves several pods: which of them a request is for. */
export const officeRoutes = (parts: OfficeParts, pods?: OfficePods): Route<Answerer>[] =>
  officeEndpoints.map((endpoint) => ({
    method: endpoint.method,
    path: endpoint.path,
    deep: false,
    row(request, response, params) {
      const requestId = newId()
      parts.underWay.begin(response, requestId)
      answerRequest(parts, pods, endpoint, request, response, params, requestId)
        .catch((error: unknown) => answerFault(parts, response, error, requestId))
        .finally(() => parts.underWay.end(response))
    },
  }))

async function answerRequest(
  parts: OfficeParts,
  pods: OfficePods | undefined,
  endpoint: OfficeEndpoint,
  request: HttpRequest,
  response: HttpAnswer,
  { id }: Params,
  requestId: string,
): Promise<void> {
  const startedMs = performance.now()
  const { gateway, office, throttle, refusals, bodies, answers, state } = parts
  const isPlain = office.names[0]?.startsWith('http://') === true
  const cookie = sessionCookie(isPlain, pods?.numberOf(request))
  const network = clientOf(request.ip)
  const isChange = endpoint.method !== 'GET'
  const isStranger = endpoint.right === 'none'
  const place = answers.enter(request, response)
  let reply: Reply
  let document: Document
  let keeps: string | null | undefined
  let share: BodyShare | undefined
  let readers: Readers = { names: [network], isStranger: true }
  try {
    if (isChange) refuseOtherOrigins(request, office)
    if (isStranger) await refusals.refuseBeyond(network)
    await throttle.admit(isChange ? 'write' : 'read', network)
    const session = cookie.in(request.headers.cookie)
    // Reads the body only after the check of rights.
    const read = async (person?: Person) => {
      if (person !== undefined) readers = readersOf(person)
      if (!isChange) {
        await answers.admit(place, readers)
        return parametersIn(queryOf(request.url))
      }
      share = bodies.share({ person: person?.id, address: network })
      return jsonIn(request, await readBody(request, share, limits.officeBodyBytes))
    }
    const own = pods?.gatewayOf(request) ?? gateway
    const answered = await own.people.answer(
      endpoint.operation,
      session,
      { ...(id === undefined ? {} : { id }), read, requestId },
      { network, ...(request.ip === undefined ? {} : { address: request.ip }) },
    )
    reply = answered.reply
    keeps = answered.session
    document = documentOf(reply)
    if (!isChange) answers.fit(readers, costOf(document))
  } catch (error) {
    if (error instanceof ClientGoneError) return
    share?.letGo()
    await drained(request)
    reply = refusalOf({ gateway, log: parts.log }, error, requestId)
    document = documentOf(reply)
    if (isStranger && reply.status === 400) await refusals.count(network)
  } finally {
    share?.letGo()
  }
  const headers = keeps === undefined ? {} : { 'Set-Cookie': cookie.keep(keeps) }
  const moved = answers.sending(request, response, readers, costOf(document))
  const all = { ...reply.headers, ...headers }
  send(response, reply.status, document, requestId, state.closing, all, moved)
  parts.log.info(
    {
      method: request.method,
      route: endpoint.path,
      id: loggedId(id),
      status: reply.status,
      code: (reply.body as { result?: { code?: string } }).result?.code,
      ms: Math.round((performance.now() - startedMs) * 10) / 10,
      ndc: requestId,
    },
    'request',
  )
}

/** Unread answers count for the person, and for the part of the installation that the person belongs to. */
const readersOf = ({ id, entityId }: Person): Readers => ({
  names: entityId === null ? [`operator ${id}`] : [`operator ${id}`, `operators of ${entityId}`],
  isStranger: false,
})

/**
 * Browsers always send the origin of a POST; a request without one is from no operator's browser.
 */
function refuseOtherOrigins(request: HttpRequest, { names }: OfficeOrigin): void {
  const { origin } = request.headers
  if (origin !== undefined && names.includes(origin)) return
  throw new GatewayError('800.900.302', {
    status: 403,
    description: `caller may not do this: ${
      names.length === 0
        ? 'operators need an origin of their own here, set TOLLGATE_OFFICE_URL'
        : `the header Origin must be that of the office, ${names.join(' or ')}`
    }`,
  })
}

/** @throws GatewayError 400 */
function jsonIn(request: HttpRequest, body: Buffer): unknown {
  // Not every request has fields; one that needs some names them.
  if (body.length === 0) return {}
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new GatewayError('200.100.103', {
      description: 'invalid request message: send application/json',
    })
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new GatewayError('200.100.103', {
      description: 'invalid request message: the body is no JSON',
    })
  }
}

/** @throws GatewayError 400 for a name that is sent twice. */
function parametersIn(query: string): unknown {
  const pairs = [...new URLSearchParams(query)]
  const values = new Map(pairs)
  if (values.size === pairs.length) return Object.fromEntries(values)
  throw new GatewayError('200.300.404', {
    description: 'invalid or missing parameter: a name is sent twice',
  })
}
