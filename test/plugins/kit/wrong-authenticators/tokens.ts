/** Mistakes with access tokens: the simulated issuer, whose secret is its token. */
import type { Authenticator } from '@tollgate/plugin-kit'
import { simulatorHttpAuthenticator as right } from '../../../../connectors/simulator/http-connector.ts'
import { withToken } from '../token-context.ts'
import { but, type WrongAuthenticator } from './changed-authenticator.ts'

type Named = 'authenticate' | 'enquire'

/** @param keeping the functions that keep a token that was refused. */
export const tokenAuthenticator = (keeping: readonly Named[] = []): Authenticator =>
  but({
    authenticate: async (request, context) =>
      right.authenticate(request, await withToken(context, !keeping.includes('authenticate'))),
    enquire: async (request, context) =>
      right.enquire(request, await withToken(context, !keeping.includes('enquire'))),
    complete: async (request, back, context) =>
      right.complete(request, back, await withToken(context, true)),
  })

export const tokenMistakes: readonly WrongAuthenticator[] = [
  {
    what: 'keeps a token that the server forgot',
    authenticator: tokenAuthenticator(['authenticate']),
    noticed: ['a token that the server forgot costs one authentication at most'],
  },
  {
    what: 'keeps a token that the server forgot in enquiries',
    authenticator: tokenAuthenticator(['enquire']),
    noticed: ['a token that the server forgot answers no enquiry'],
  },
]
