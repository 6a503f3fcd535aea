import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import type {
  Authentication,
  AuthenticationRequest,
  Authenticator,
  AuthenticatorContext,
} from '../../authenticator.ts'
import type { Context } from '../../connector.ts'
import type { Json, Redirect } from '../../outcome.ts'
import { type CallOptions, openCall, openRecords, type Said } from '../call.ts'
import { type Front, openFront } from '../fault-proxy.ts'
import { bounded, type StageOptions, sentBy, type Told, type Until } from '../harness.ts'
import { frozen, usualAmount } from '../operation.ts'
import type { Brought } from '../sandbox.ts'
import { type Answered, checkedAnswer } from './judge.ts'
import type { AuthenticationScene, AuthenticationServer, AuthenticatorSandbox } from './sandbox.ts'

/** `answer` is the engine's view: an error or a malformed answer is `unknown`. */
export type Asked = Told<Authentication | { is: 'notFound' }> & { readonly answer: Answered }

/** The environment of one case: the server, the front before it, and an engine's part. */
export type AuthenticatorStage = {
  readonly authenticator: Authenticator
  readonly sandbox: AuthenticatorSandbox
  readonly server: AuthenticationServer
  /** @throws Error for an authenticator inside the process, which has no network */
  readonly front: Front
  /** The authenticator's log lines and records. */
  readonly said: Said[]
  readonly clock: { ms: number; now(): Date }
  readonly config: Readonly<Record<string, unknown>>
  readonly account: Readonly<Record<string, unknown>>
  authenticate(request: AuthenticationRequest, options?: Until): Promise<Asked>
  /** Asks with a request without its card, as an engine does later. */
  enquire(request: AuthenticationRequest, options?: Until): Promise<Asked>
  complete(
    request: AuthenticationRequest,
    brought: Brought,
    memo?: Json,
    options?: Until,
  ): Promise<Asked>
  /** Calls any other function with a context. */
  call<T>(
    work: (context: AuthenticatorContext) => T | Promise<T>,
    options?: CallOptions & Until,
  ): Promise<Told<T>>
  /** A request under an unused key. */
  request(scene: AuthenticationScene): AuthenticationRequest
  close(): Promise<void>
}

export async function openAuthenticatorStage(
  authenticator: Authenticator,
  sandbox: AuthenticatorSandbox,
  options: StageOptions,
): Promise<AuthenticatorStage> {
  const said: Said[] = []
  const records = openRecords(said)
  const clock = { ms: Date.now(), now: () => new Date(clock.ms) }
  const server = await sandbox.open({ records, clock })
  const front = server.url === undefined ? undefined : await openFront(server.url)
  const { config, account } = server.settings(front?.url ?? '')
  const around = {
    config,
    account,
    mode: authenticator.supports.modes?.find((mode) => mode !== 'LIVE') ?? ('EXTERNAL' as const),
    records,
    said,
    clock,
    tokens: new Map(),
    sequences: new Map(),
  }
  const call: AuthenticatorStage['call'] = async (work, { until, ...more } = {}) => {
    const open = openCall(around, more)
    const context = withoutSending(open.context)
    try {
      const returned = await bounded(() => work(context), open, options, until)
      return { returned, ...sentBy(open) }
    } catch (thrown) {
      if (thrown instanceof assert.AssertionError) throw thrown
      return { thrown, ...sentBy(open) }
    } finally {
      open.finish()
    }
  }
  const ask = async (
    work: (context: AuthenticatorContext) => Promise<Authentication | { is: 'notFound' }>,
    more?: Until,
  ): Promise<Asked> => {
    const told = await call(work, more)
    return { ...told, answer: checkedAnswer(told) }
  }
  return {
    authenticator,
    sandbox,
    server,
    said,
    clock,
    config,
    account,
    call,
    get front() {
      if (front === undefined) throw new Error('the server has no url, so there is no front')
      return front
    },
    authenticate: (request, more) =>
      ask((context) => authenticator.authenticate(request, context), more),
    enquire: (request, more) =>
      ask((context) => authenticator.enquire(withoutCard(request), context), more),
    complete: (request, brought, memo, more) =>
      ask((context) => {
        const kept = memo === undefined ? {} : { memo }
        const later = frozen({ ...withoutCard(request), ...kept })
        return authenticator.complete(later, { ...brought, ...kept, refs: {} }, context)
      }, more),
    request: requestOf,
    async close() {
      await front?.close()
      await server.close()
    },
  }
}

/** An authenticator's context has no moment of sending; its pages have an address. */
function withoutSending(context: Context): AuthenticatorContext {
  const { sending: _moneyOnly, ...rest } = context
  return { ...rest, pagesUrl: 'https://pay.example/v1/pages/plugin' }
}

/** A later request, without the card. */
export function withoutCard(request: AuthenticationRequest): AuthenticationRequest {
  const { card: _gone, deviceInfo: _too, ...rest } = request
  return frozen(rest)
}

/** The browser's data, which an issuer may require. */
const browser = {
  acceptHeader: 'text/html',
  language: 'en',
  screenHeight: '1080',
  screenWidth: '1920',
  timezone: '-60',
  userAgent: 'Mozilla/5.0',
  javaEnabled: 'false',
}

function requestOf({ card, amount = usualAmount, request = {} }: AuthenticationScene) {
  const { cvv: _never, ...plain } = card
  return frozen({
    paymentId: text('0123456789abcdef', 32),
    key: text('0123456789abcdef', 32),
    amount,
    brand: card.brand,
    card: plain,
    request: { customer: { browser }, ...request },
    isPayment: true,
    shortId: [1, 2, 3].map(() => text('0123456789', 4)).join('.'),
    merchantTransactionId: `order-${text('0123456789', 8)}`,
    returnUrl: 'https://shop.example/return',
  })
}

const text = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')

/** The shopper is sent away; fails for any other answer. */
export type Away = {
  readonly request: AuthenticationRequest
  readonly redirect: Redirect['redirect']
  readonly memo?: Json
  readonly expiresAt?: Date
}
