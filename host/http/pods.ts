/** Chooses the gateway of a request, on a host of several pods. */
import { type Gateway, GatewayError, type HeldKind, type Pods } from '@tollgate/core'
import type { Endpoint } from '@tollgate/schemas'
import { type HttpRequest, queryOf } from './exchange.ts'
import type { Params } from './routes.ts'

/** What leads a request to its pod: something that one pod holds, or a question to each pod. */
type Lead =
  | { readonly kind: HeldKind; readonly value: string }
  | { readonly number: number }
  | ((gateway: Gateway) => Promise<boolean>)

/** Undefined: any pod can answer, or none needs to. */
type LeadOf = (request: HttpRequest, params: Params) => Lead | undefined

const textOf = (value: string | undefined): string => value ?? ''

const held =
  (kind: HeldKind, parameter: string): LeadOf =>
  (_, params) => ({ kind, value: textOf(params[parameter]) })

const byToken: LeadOf = ({ headers }) => {
  const value = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(headers.authorization ?? '')?.[1]
  return value === undefined ? undefined : { kind: 'token', value }
}

const searchOf = ({ url }: HttpRequest) => new URLSearchParams(queryOf(url))

/** The account of mode INTERNAL has no id: pods other than 0 name themselves in its address. */
const byAccount: LeadOf = (request, params) => {
  const account = textOf(params.account)
  const pod = searchOf(request).get('pod')
  if (account === 'internal') return { number: Number(pod ?? '0') }
  return { kind: 'account', value: account }
}

const byScript: LeadOf = (request) => {
  const checkoutId = searchOf(request).get('checkoutId')?.split('/', 1)[0]
  return checkoutId === undefined ? undefined : { kind: 'checkout', value: checkoutId }
}

/** Files of the widget have their hash as address, so they are the same in every pod that has them. */
const byFile: LeadOf = (_, { hash, file }) => {
  return async ({ widget }) => (await widget.asset(textOf(hash), textOf(file))).status !== 404
}

/** Pods other than 0 name themselves in the addresses of plugins' pages. */
const byPage: LeadOf = (_, params) => {
  const [, number] = /^@([0-9]{1,2})\//.exec(textOf(params.rest)) ?? []
  return { number: Number(number ?? '0') }
}

const anyPod: LeadOf = () => undefined

/** Requests without a token, by their operation. */
const withoutToken: Readonly<Record<string, LeadOf>> = {
  'connectors.event': byAccount,
  'connectors.eventByGet': byAccount,
  'returns.get': held('payment', 'id'),
  'returns.post': held('payment', 'id'),
  'pages.get': byPage,
  'pages.post': byPage,
  'widget.script': byScript,
  'widget.asset': byFile,
  'resultCodes.list': anyPod,
  'health.live': anyPod,
  'health.ready': anyPod,
  'openapi.get': anyPod,
  'reference.get': anyPod,
}

/** @throws Error for an operation without a way to its pod: a new row of the endpoints table needs one. */
export function leadOf({ login, operation }: Pick<Endpoint, 'login' | 'operation'>): LeadOf {
  if (login === 'token') return byToken
  if (login === 'checkout') return held('checkout', 'id')
  const lead = withoutToken[operation]
  if (lead === undefined) throw new Error(`nothing says which pod answers ${operation}`)
  return lead
}

/**
 * The gateway of the pod that a lead points to. What no pod holds is answered by the first one, in the words that a
 * single gateway has for it.
 *
 * @throws GatewayError 503 when the pod may be one that does not answer.
 */
export async function gatewayFor(pods: Pods, lead: Lead | undefined): Promise<Gateway> {
  const [first] = pods.gateways
  if (lead === undefined) return first!
  if (typeof lead === 'function') return (await pods.findBy(lead)) ?? first!
  if ('number' in lead) return gatewayAt(pods, lead.number) ?? first!
  return (await pods.find(lead.kind, lead.value)) ?? first!
}

/** Undefined where there is no such pod. @throws GatewayError 503 */
function gatewayAt(pods: Pods, number: number): Gateway | undefined {
  if (!pods.numbers.includes(number)) return undefined
  const gateway = pods.at(number)
  if (gateway !== undefined) return gateway
  throw new GatewayError('800.800.801', { status: 503, retryAfterSeconds: 1 })
}

/** A path of operators, with the pod that it names. */
const officeOfPod = /^\/pods\/([0-9]{1,2})(\/operator\/.*)$/

/** Operators name their pod: `/pods/1/operator/v1/…`. Without a name, it is the one with the lowest number. */
export class OfficePods {
  readonly #pods: Pods
  readonly #asked = new WeakMap<HttpRequest, number>()

  constructor(pods: Pods) {
    this.#pods = pods
  }

  /** Takes the pod off the path, so that everything behind sees the path of a single gateway. */
  readonly strip = (request: HttpRequest): void => {
    const [, number, path] = officeOfPod.exec(request.url) ?? []
    if (number === undefined || !this.#pods.numbers.includes(Number(number))) return
    this.#asked.set(request, Number(number))
    request.url = path!
  }

  numberOf(request: HttpRequest): number {
    return this.#asked.get(request) ?? this.#pods.numbers[0]!
  }

  /** @throws GatewayError 503 while the pod is away since the start. */
  gatewayOf(request: HttpRequest): Gateway {
    return gatewayAt(this.#pods, this.numberOf(request))!
  }
}
