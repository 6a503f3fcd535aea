/** The simulated issuer's authenticator with some of its parts changed. */
import {
  type Authentication,
  type AuthenticationRequest,
  type Authenticator,
  type AuthenticatorContext,
  Sensitive,
} from '@tollgate/plugin-kit'
import { simulatorHttpAuthenticator as right } from '../../../../connectors/simulator/http-connector.ts'

export type WrongAuthenticator = {
  /** The mistake, as the rest of "an authenticator that …". */
  readonly what: string
  readonly authenticator: Authenticator
  /** Names of the cases that must fail. */
  readonly noticed: readonly string[]
  /** Its handlers never end, so the suite waits in vain. */
  readonly isEndless?: true
}

export type Found = Authentication | { is: 'notFound' }

export const but = (parts: Partial<Authenticator>): Authenticator => ({ ...right, ...parts })

/** Every answer changed, of whichever function. */
export const saying = (
  change: (answer: Found, request: AuthenticationRequest) => Found,
): Authenticator =>
  but({
    authenticate: async (request, context) =>
      change(await right.authenticate(request, context), request) as Authentication,
    complete: async (request, back, context) =>
      change(await right.complete(request, back, context), request) as Authentication,
    enquire: async (request, context) => change(await right.enquire(request, context), request),
  })

/** Errors turned into an answer, of the named functions. */
export const catching = (
  turn: Authentication,
  ...only: readonly ('authenticate' | 'enquire' | 'complete')[]
) => {
  const fall = <Args extends unknown[]>(
    name: (typeof only)[number],
    ask: (...args: Args) => Promise<Found>,
  ) => (!only.includes(name) ? ask : (...args: Args) => ask(...args).catch(() => turn))
  return but({
    authenticate: fall('authenticate', right.authenticate) as Authenticator['authenticate'],
    complete: fall('complete', right.complete) as Authenticator['complete'],
    enquire: fall('enquire', right.enquire),
  })
}

export const confirmed: Authentication = {
  is: 'authenticated',
  version: '2.2.0',
  eci: '05',
  verificationId: new Sensitive('AAECAwQFBgcICQoLDA0ODxAREhM='),
}
export const refused: Authentication = { is: 'failed', status: 'N' }

/** The context with every JSON answer changed. */
export function withAnswers(
  context: AuthenticatorContext,
  change: (body: Record<string, unknown>) => object,
): AuthenticatorContext {
  return {
    ...context,
    http: {
      ...context.http,
      async request(method, url, options) {
        const answer = await context.http.request(method, url, options)
        return {
          ...answer,
          json: () => {
            let json: Record<string, unknown> = {}
            try {
              json = JSON.parse(answer.text()) as Record<string, unknown>
            } finally {
              json = change(json) as Record<string, unknown>
            }
            return json
          },
        }
      },
    },
  }
}
