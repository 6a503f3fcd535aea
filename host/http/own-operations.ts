import { type Gateway, GatewayError, type Pods, type Reply } from '@tollgate/core'
import { limits, openApiDocument, reference, resultDescription } from '@tollgate/schemas'
import { type Document, done } from './answer.ts'
import { checkoutPageOperations } from './checkout-page.ts'
import type { HttpRequest } from './exchange.ts'
import { visitPage } from './pages.ts'
import { apiHeaders, pageHeaders } from './security-headers.ts'
import { comeBack } from './shopper-return.ts'
import { widgetOperations } from './widget-files.ts'

/** The request, for the host's own operations. */
export type OwnCall = {
  readonly gateway: Gateway
  /** Where the host serves several pods. */
  readonly pods: Pods | undefined
  readonly request: HttpRequest
  readonly path: Readonly<Record<string, string>>
  /** Without the question mark. */
  readonly query: string
  readonly requestId: string
  /** The client's address or network. */
  readonly client: string
  readonly address: string | undefined
  /** The body, when it has at most so many bytes. */
  readBody(most: number): Promise<Buffer>
  /** True after the signal to end. */
  readonly closing: boolean
}

export type OwnOperation = (call: OwnCall) => Promise<Reply | Document>

let openApiText: Promise<Document> | undefined
let referencePage: Promise<Document> | undefined

/** Operations of the endpoints table that are about the process and not about payments. */
const ownOperations: Readonly<Record<string, OwnOperation>> = {
  async 'health.live'({ requestId }) {
    return done(requestId)
  },
  async 'health.ready'({ gateway, pods, requestId, closing }) {
    if (!closing && pods !== undefined) return podsReady(pods, requestId)
    if (!closing && (await gateway.isReady())) return done(requestId)
    throw notReady(gateway.whyShut() && `This process ${lacksKey}`)
  },
  'openapi.get'() {
    // Built from the tables at the first request and cached, since it never changes in a process.
    openApiText ??= openApiDocument().then((document) => ({
      headers: ['Content-Type', 'application/json;charset=UTF-8', ...apiHeaders],
      text: Buffer.from(JSON.stringify(document)),
    }))
    return openApiText
  },
  'reference.get'() {
    referencePage ??= reference().then(({ html, contentSecurityPolicy }) => ({
      headers: ['Content-Type', 'text/html;charset=UTF-8', ...pageHeaders(contentSecurityPolicy)],
      text: Buffer.from(html),
    }))
    return referencePage
  },
  'returns.get': comeBack,
  'returns.post': comeBack,
  ...widgetOperations,
  ...checkoutPageOperations,
  'pages.get': visitPage,
  'pages.post': visitPage,
  'connectors.event': hear,
  'connectors.eventByGet': hear,
}

/** A message of an acquirer. */
async function hear({
  gateway,
  request,
  path,
  query,
  requestId,
  client,
  readBody,
}: OwnCall): Promise<Reply | Document> {
  // Anybody may send here, so nothing is read for an unknown account.
  const message = async () => ({
    body: request.method === 'POST' ? await readBody(limits.messageBytes) : Buffer.alloc(0),
    headers: flattened(request.headers),
    query: Object.fromEntries(new URLSearchParams(query)),
  })
  const reply = await gateway.inbound(path.connector ?? '', path.account ?? '', message, client)
  if (reply === undefined) return done(requestId)
  const { status, contentType, body } = reply
  return { status, headers: ['Content-Type', contentType, ...apiHeaders], text: body }
}

/** Anybody may ask, so the log and the command say which key. */
const lacksKey = 'cannot open a current data key: "tollgate keys status" names it.'

/**
 * Ready while one pod is: every process of the host serves all pods, so none would be left for the others if each were
 * taken out of service for one pod. The description names the pods that are away.
 */
async function podsReady(pods: Pods, requestId: string): Promise<Reply> {
  const states = await pods.states()
  const away = states.filter(({ isReady }) => !isReady).map(({ number }) => `pod ${number}`)
  const shut = states.flatMap(({ number, whyShut }) => (whyShut ? `Pod ${number} ${lacksKey}` : []))
  const description = [
    `${resultDescription('000.000.100')}; away: ${away.join(', ')}`,
    ...shut,
  ].join('. ')
  if (away.length === states.length) throw notReady(shut.length > 0 ? shut.join(' ') : undefined)
  const reply = done(requestId)
  if (away.length === 0) return reply
  return { ...reply, body: { ...reply.body, result: { code: '000.000.100', description } } }
}

const notReady = (description: string | undefined): GatewayError =>
  new GatewayError('800.800.801', {
    ...{ status: 503, retryAfterSeconds: 1 },
    ...(description !== undefined && { description }),
  })

export function ownOperation(operation: string): OwnOperation | undefined {
  return Object.hasOwn(ownOperations, operation) ? ownOperations[operation] : undefined
}

function flattened(headers: HttpRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
}
