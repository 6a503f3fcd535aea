import assert from 'node:assert/strict'
import type { Authenticator } from '../../authenticator.ts'
import type { Json } from '../../outcome.ts'
import type { Brought } from '../sandbox.ts'
import type { AuthenticatorStage, Away } from './harness.ts'
import { toldOf } from './judge.ts'
import type { AuthenticatorSandbox, Deed } from './sandbox.ts'

/** One rule for every authenticator that supports it. */
export type AuthenticatorCase = {
  /** The rule as a sentence. */
  readonly name: string
  /** The reason why the case does not apply, which is no fault; undefined: it applies. */
  readonly without?: (
    authenticator: Authenticator,
    sandbox: AuthenticatorSandbox,
  ) => string | undefined
  /** Throws when the rule is broken. */
  run(stage: AuthenticatorStage): Promise<void>
}

type Without = NonNullable<AuthenticatorCase['without']>

export const needsServer: Without = (_authenticator, { answers }) =>
  answers === undefined ? 'the authenticator works inside the process' : undefined

export const needsChallenge: Without = (_authenticator, { challenge }) =>
  challenge === undefined ? 'the sandbox has no challenge' : undefined

export const needsInbound: Without = ({ inbound }) =>
  inbound === undefined ? 'the authenticator has no inbound' : undefined

export const needsDeed =
  (deed: Deed): Without =>
  (authenticator, sandbox) =>
    needsChallenge(authenticator, sandbox) ??
    (sandbox.challenge?.deeds[deed] === undefined ? `no shopper can ${deed}` : undefined)

/** The first of several reasons. */
export const needsAll =
  (...reasons: readonly Without[]): Without =>
  (authenticator, sandbox) => {
    for (const reason of reasons) {
      const why = reason(authenticator, sandbox)
      if (why !== undefined) return why
    }
    return undefined
  }

/** The scene in which the issuer confirms the cardholder without a page. */
export function confirmedScene({ sandbox }: AuthenticatorStage) {
  const scene = sandbox.decided.find(({ expected }) => expected.is === 'authenticated')
  assert.ok(scene, 'sandbox.decided needs a scene that is authenticated')
  return scene
}

/** Begins an authentication that needs the shopper. */
export async function sendAway(stage: AuthenticatorStage): Promise<Away> {
  const { challenge } = stage.sandbox
  assert.ok(challenge, 'the sandbox has a challenge')
  const request = stage.request(challenge)
  const { answer, thrown } = await stage.authenticate(request)
  if (answer.is !== 'shopper') assert.fail(`a challenge was ${toldOf(answer, thrown)}`)
  const { next, memo, expiresAt } = answer
  return {
    request,
    redirect: next.redirect,
    ...(memo === undefined ? {} : { memo: memo as Json }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  }
}

/** The shopper acts on the issuer's page. */
export function act({ server }: AuthenticatorStage, away: Away, deed: Deed): Promise<Brought> {
  assert.ok(server.shopper, 'a sandbox with a challenge needs shopper()')
  return server.shopper(away.request.key, away.redirect, deed)
}
