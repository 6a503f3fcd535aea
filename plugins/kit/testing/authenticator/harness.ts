import type {
  Authentication,
  AuthenticationRequest,
  Authenticator,
  AuthenticatorContext,
} from '../../authenticator.ts'
import type { Context } from '../../connector.ts'
import type { Json, Redirect } from '../../outcome.ts'
import {
  type Environment,
  openEnvironment,
  type StageOptions,
  type Told,
  type Until,
} from '../environment.ts'
import { frozen, newIds, randomHex, returnUrl, usualAmount } from '../operation.ts'
import type { Brought } from '../sandbox.ts'
import { type Answered, checkedAnswer } from './judge.ts'
import type { AuthenticationScene, AuthenticationServer, AuthenticatorSandbox } from './sandbox.ts'

/** `answer` is the engine's view: an error or a malformed answer is `unknown`. */
export type Asked = Told<Authentication | { is: 'notFound' }> & { readonly answer: Answered }

/** The environment of one case, with the 3-D Secure server and the authenticator. */
export type AuthenticatorStage = Environment<AuthenticatorContext> & {
  readonly authenticator: Authenticator
  readonly sandbox: AuthenticatorSandbox
  readonly server: AuthenticationServer
  authenticate(request: AuthenticationRequest, options?: Until): Promise<Asked>
  /** Asks with a request without its card, as an engine does later. */
  enquire(request: AuthenticationRequest, options?: Until): Promise<Asked>
  complete(
    request: AuthenticationRequest,
    brought: Brought,
    memo?: Json,
    options?: Until,
  ): Promise<Asked>
  /** A request under an unused key. */
  request(scene: AuthenticationScene): AuthenticationRequest
}

export async function openAuthenticatorStage(
  authenticator: Authenticator,
  sandbox: AuthenticatorSandbox,
  options: StageOptions,
): Promise<AuthenticatorStage> {
  const { server, environment } = await openEnvironment(
    authenticator.supports.modes,
    (engine) => sandbox.open(engine),
    options,
    withoutSending,
  )
  const { said, clock, config, account, call, forgetTokens, close } = environment
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
    forgetTokens,
    close,
    get front() {
      return environment.front
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
    ...newIds(),
    key: randomHex(),
    amount,
    brand: card.brand,
    card: plain,
    request: { customer: { browser }, ...request },
    isPayment: true,
    returnUrl,
  })
}

/** The shopper is sent away; fails for any other answer. */
export type Away = {
  readonly request: AuthenticationRequest
  readonly redirect: Redirect['redirect']
  readonly memo?: Json
  readonly expiresAt?: Date
}
