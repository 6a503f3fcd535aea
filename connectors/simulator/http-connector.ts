import {
  type Context,
  contractVersion,
  declined,
  defineConnector,
  definePlugin,
  type HttpAnswer,
  type Operation,
  type Outcome,
  type Redirect,
  type Reversed,
  type SettingsOf,
  type Unknown,
  unknown,
} from '@tollgate/plugin-kit'
import { simulatorHttpAuthenticator } from './authentication/http.ts'
import { claimsOf, isSigned } from './event.ts'
import { account, config, headersOf, urlAt } from './http-settings.ts'
import { neverSent } from './ledger.ts'
import { type SimulatorFound, toFound, toOutcome, toReversed } from './outcomes.ts'
import { shownOnPage } from './redirect.ts'
import { labelsOf, toRequest } from './requests.ts'
import { simulatorParameters } from './rules.ts'
import { settlement } from './settlement/connector.ts'
import { judge } from './verdict.ts'
import { answerFromWire, keyHeader, requestToWire, reversalFromWire, WireError } from './wire.ts'

type HttpContext = Context<SettingsOf<typeof config.rows>, SettingsOf<typeof account.rows>>

/** The simulated acquirer in its own process, reached over HTTP. For tests in any mode. */
export const simulatorHttp = defineConnector({
  name: 'simulator-http',
  title: 'Simulator over HTTP',
  contract: contractVersion,
  config,
  account,
  supports: {
    customParameters: simulatorParameters,
    brands: 'any',
    currencies: 'any',
    methods: ['card', 'bankAccount', 'virtualAccount', 'tokenAccount'],
    capture: { partial: true, multiple: true },
    refund: { partial: true },
    reverse: { partial: true },
    key: { by: 'key', ttlMs: 30 * 24 * 60 * 60_000 },
    enquiryVisibleAfterMs: 1_000,
    threeDSecure: 'external',
    modes: ['EXTERNAL', 'LIVE'],
  },
  authorize: send,
  debit: send,
  credit: send,
  capture: send,
  refund: send,
  reverse: send,
  increment: send,
  verify: send,
  resolve: { enquire, reverseByKey },
  // The shopper proves nothing, so the acquirer is asked.
  complete: async (operation, _back, context) => {
    const found = await enquire(operation, context)
    return found.is === 'notFound' ? unknown('the acquirer does not know the payment') : found
  },
  inbound: {
    verify: (message, { account }) => isSigned(message, account.secret),
    parse: claimsOf,
  },
  settlement,
  check: async ({ http, config, account }) => {
    const answer = await http.get(urlAt(config, '/account'), {}, { headers: headersOf(account) })
    if (answer.status === 200) return { ok: true }
    const isFault = answer.status >= 500
    if (isFault) return { ok: 'unknown', why: `the acquirer answered ${answer.status}` }
    return { ok: false, why: `the acquirer answered ${answer.status} to merchantId and secret` }
  },
})

export { simulatorHttpAuthenticator }

export default definePlugin({
  name: 'simulator-http',
  contract: contractVersion,
  connectors: [simulatorHttp],
  authenticators: [simulatorHttpAuthenticator],
})

/** The brand is one of the signs already. */
function shownTo(operation: Operation) {
  const { brand: _sign, ...shown } = shownOnPage(operation)
  return shown
}

/** An HttpError passes through, because the engine judges a failed request. */
async function send(operation: Operation, context: HttpContext): Promise<Outcome> {
  const { delayMs, ...asked } = toRequest(operation)
  const { decision } = judge(asked.signs, asked.amount)
  const isUnreachable = decision.is === 'notSent' && operation.instrument !== undefined
  if (isUnreachable || asked.decline === neverSent) {
    return { is: 'notSent', why: 'the simulator is configured as unreachable' }
  }
  const around = {
    at: context.clock.now().getTime(),
    ...(delayMs > 0 ? { delayMs } : {}),
    ...(context.notifyUrl === undefined ? {} : { notifyUrl: context.notifyUrl }),
    ...shownTo(operation),
  }
  const answer = await context.http.request('POST', urlAt(context.config, '/operations'), {
    moves: true,
    headers: { ...headersOf(context.account), [keyHeader]: operation.key },
    json: requestToWire({ ...asked, labels: labelsOf(operation) }, around),
  })
  const refused = refusalOf(answer)
  if (refused !== undefined) return declined('900.100.200', { text: refused })
  return read(answer, (json) => {
    const { redirectUrl, ...found } = answerFromWire(json, operation.key)
    return toOutcome(found, operation.amount, redirectTo(redirectUrl))
  })
}

async function enquire(operation: Operation, context: HttpContext): Promise<SimulatorFound> {
  const { key, amount } = operation
  const query = {
    key,
    at: String(context.clock.now().getTime()),
    ...shownOnPage(operation),
  }
  const headers = headersOf(context.account)
  const answer = await context.http.get(urlAt(context.config, '/operations'), query, { headers })
  return read(answer, (json) => {
    const { redirectUrl, ...found } = answerFromWire(json, key)
    return toFound(found, amount, redirectTo(redirectUrl))
  })
}

async function reverseByKey(operation: Operation, context: HttpContext): Promise<Reversed> {
  const { key } = operation
  const answer = await context.http.request('POST', urlAt(context.config, '/reversals'), {
    moves: true,
    headers: { ...headersOf(context.account), [keyHeader]: key },
    json: { at: context.clock.now().getTime() },
  })
  const refused = refusalOf(answer)
  if (refused !== undefined) return { is: 'refused', why: refused }
  return read(answer, (json) => toReversed(reversalFromWire(json, key)))
}

/** An unreadable answer leaves the outcome unknown. */
function read<T>(answer: HttpAnswer, take: (json: unknown) => T): T | Unknown {
  if (answer.status !== 200) return unknown(`the acquirer answered with HTTP ${answer.status}`)
  let json: unknown
  try {
    json = answer.json()
  } catch {
    return unknown('the answer of the acquirer is not JSON')
  }
  try {
    return take(json)
  } catch (error) {
    if (error instanceof WireError) return unknown(error.message)
    throw error
  }
}

/** The acquirer's own statement that it did nothing, made before it touches its books. */
function refusalOf(answer: HttpAnswer): string | undefined {
  if (answer.status < 400 || answer.status > 499) return undefined
  try {
    const { refused } = answer.json() as { refused?: unknown }
    return typeof refused === 'string' ? refused : undefined
  } catch {
    return undefined
  }
}

const redirectTo = (target: string | undefined): Redirect | undefined =>
  target === undefined ? undefined : { redirect: { url: target, method: 'GET', parameters: [] } }
