/** Calls an authenticator within a deadline. Never throws: a call without an answer is `unknown`. */
import { type AuthenticationRequest, Sensitive, type ShopperReturn } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { ConnectorCall } from '../connector/call.ts'
import type { Engine } from '../engine.ts'
import type { AuthenticatorTarget } from '../routing/targets.ts'
import { connectorCalls } from '../telemetry.ts'
import { CallRecord } from '../transcript/call-record.ts'
import { checkedAuthentication, type Said } from './checked.ts'

/** The attempt that is authenticated. */
type Attempt = { readonly payment: { readonly id: string }; readonly lease: number }

/** Longest time of one call of this authenticator. */
export function authenticatorMs(
  engine: Pick<Engine, 'connectorTimeoutMs'>,
  { loaded }: AuthenticatorTarget,
): number {
  const own = loaded.authenticator.supports.timeoutMs ?? limits.authenticatorTimeoutMs
  return Math.min(engine.connectorTimeoutMs, own)
}

/**
 * Begins an authentication. A lost answer is asked for once: nothing has moved, and the shopper waits. A disabled
 * account is not asked, and counts as an issuer that cannot be reached.
 */
export async function begin(
  engine: Engine,
  attempt: Attempt,
  target: AuthenticatorTarget,
  request: AuthenticationRequest,
): Promise<Said> {
  if (target.isDisabled === true) return { is: 'unavailable' }
  const { authenticator } = target.loaded
  const ms = authenticatorMs(engine, target)
  const said = await call(engine, attempt, target, request, 'authenticate', ms, (context) =>
    authenticator.authenticate(request, context),
  )
  if (said.is !== 'unknown') return said
  const { card: _, ...known } = request
  const found = await enquire(engine, attempt, target, known)
  return found.is === 'notFound' ? said : found
}

/** Asks how the shopper came back. */
export function complete(
  engine: Engine,
  attempt: Attempt,
  target: AuthenticatorTarget,
  request: AuthenticationRequest,
  back: ShopperReturn,
): Promise<Said> {
  const { authenticator } = target.loaded
  const ms = authenticatorMs(engine, target)
  return call(engine, attempt, target, request, 'completeAuthentication', ms, (context) =>
    authenticator.complete(request, back, context),
  )
}

/** Asks for the present state of an authentication. */
export function enquire(
  engine: Engine,
  attempt: Attempt,
  target: AuthenticatorTarget,
  request: AuthenticationRequest,
): Promise<Said> {
  const { authenticator } = target.loaded
  const ms = Math.min(limits.authenticatorEnquiryMs, authenticatorMs(engine, target))
  return call(engine, attempt, target, request, 'enquireAuthentication', ms, (context) =>
    authenticator.enquire(request, context),
  )
}

function call(
  engine: Engine,
  attempt: Attempt,
  target: AuthenticatorTarget,
  request: AuthenticationRequest,
  name: string,
  ms: number,
  ask: (context: ConnectorCall) => Promise<unknown>,
): Promise<Said> {
  return connectorCalls.run(() => callNow(engine, attempt, target, request, name, ms, ask), {
    about: () => ({
      engine: engine.name,
      paymentId: attempt.payment.id,
      connector: target.loaded.connector.name,
      operation: name,
    }),
    ended: ({ is }) => ({ outcome: is }),
  })
}

async function callNow(
  engine: Engine,
  attempt: Attempt,
  target: AuthenticatorTarget,
  request: AuthenticationRequest,
  name: string,
  ms: number,
  ask: (context: ConnectorCall) => Promise<unknown>,
): Promise<Said> {
  const { clock } = engine
  const bounds = { deadlineMs: clock.elapsedMs() + ms, sendByWallMs: clock.realMs() + ms }
  const context = new ConnectorCall(engine.services, target, bounds, {
    request: request.request,
    threeDSecure: { deviceInfo: request.deviceInfo },
    ...(request.card === undefined ? {} : { instrument: request.card }),
    ...(request.returnUrl === undefined ? {} : { returnUrl: request.returnUrl }),
  })
  const record = new CallRecord(engine, attempt, name, context)
  const answer = Promise.resolve()
    .then(() => ask(context))
    .then((said) => {
      for (const secret of secretsIn(said)) context.hides(secret)
      return withoutOwnSecrets(checkedAuthentication(said), context)
    })
    .catch((error: unknown): Said => {
      record.thrown(error)
      return { is: 'unknown', why: 'the authenticator threw' }
    })
  const said = await within(answer, context, ms)
  context.finish()
  record.ended(said)
  return said
}

/** Secrets of an answer, also of one that turns out to be none. */
function secretsIn(said: unknown): Sensitive[] {
  if (typeof said !== 'object' || said === null) return []
  return Object.values(said).filter((value): value is Sensitive => Sensitive.is(value))
}

/** A memo is stored in clear, so one that repeats a secret of the call is dropped. */
function withoutOwnSecrets(said: Said, context: ConnectorCall): Said {
  if (!('memo' in said) || said.memo === undefined) return said
  const text = JSON.stringify(said.memo)
  const repeats = (secret: string) => secret.length >= shortSecret && text.includes(secret)
  if (!context.secrets().some(repeats)) return said
  const { memo: _, ...rest } = said
  return rest as Said
}

/** A shorter secret is part of other values by chance. */
const shortSecret = 6

/** Waits so long for an answer, then aborts the call. */
function within(answer: Promise<Said>, context: ConnectorCall, ms: number): Promise<Said> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      context.abort()
      resolve({ is: 'unknown', why: 'the authenticator did not answer in time' })
    }, ms)
    answer.then((said) => {
      clearTimeout(timer)
      resolve(said)
    })
  })
}
