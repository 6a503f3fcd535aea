/** Mistakes when the shopper is sent to the issuer and comes back. */
import type { AuthenticationRequest, Authenticator, ShopperReturn } from '@tollgate/plugin-kit'
import { simulatorHttpAuthenticator as right } from '../../../../connectors/simulator/http-connector.ts'
import {
  but,
  confirmed,
  saying,
  type WrongAuthenticator,
  withAnswers,
} from './changed-authenticator.ts'

export const shopperMistakes: readonly WrongAuthenticator[] = [
  {
    what: 'sends shoppers to any address',
    authenticator: but({
      async authenticate(request, context) {
        let page: unknown
        const spied = withAnswers(context, (body) => {
          const { pages } = body as { pages?: { challenge?: unknown; device?: unknown } }
          page = pages?.challenge
          return pages === undefined
            ? body
            : { ...body, pages: { ...pages, challenge: pages.device } }
        })
        const answer = await right.authenticate(request, spied)
        if (answer.is !== 'shopper') return answer
        const { redirect } = answer.next
        return { ...answer, next: { redirect: { ...redirect, url: String(page) } } }
      },
    }),
    noticed: ['a shopper is sent to addresses of http and https only'],
  },
  {
    what: 'forgets the end of a challenge in the past',
    authenticator: saying((answer) =>
      answer.is === 'shopper' ? { ...answer, expiresAt: new Date(0) } : answer,
    ),
    noticed: ['a challenge sends the shopper to a web address, for a time'],
  },
  {
    what: 'trusts the status that the browser brings',
    authenticator: trusting(({ query, form }) => (query.transStatus ?? form.transStatus) === 'Y'),
    noticed: ['a shopper who returns without having acted ends nothing'],
  },
  {
    what: 'trusts every form that is posted',
    authenticator: trusting(({ method }) => method === 'POST'),
    noticed: [
      'a shopper who returns without having acted ends nothing',
      'the return and the memo of another shopper confirm nobody',
    ],
  },
  {
    what: 'takes a return for a confirmation',
    authenticator: trusting(() => true),
    noticed: [
      "a shopper who can confirm does so on the issuer's page",
      "a shopper who can refuse does so on the issuer's page",
      "a shopper who can cancel does so on the issuer's page",
      'a shopper who returns without having acted ends nothing',
      'the return and the memo of another shopper confirm nobody',
      'a memo that is lost or strange confirms nobody',
      'a broken answer about a returned shopper proves nothing',
    ],
  },
  {
    what: 'takes a shopper who returned without an answer for one who cancelled',
    authenticator: but({
      complete: async (request, back, context) => {
        const found = await right.complete(request, back, context)
        return found.is === 'shopper' ? { is: 'cancelled' } : found
      },
    }),
    noticed: [
      'a shopper who returns without having acted ends nothing',
      'the return and the memo of another shopper confirm nobody',
      'a memo that is lost or strange confirms nobody',
    ],
  },
  {
    what: 'completes the authentication that the memo names',
    authenticator: memorising(({ key }, memo) => ({ key: memo ?? key })),
    noticed: ['the return and the memo of another shopper confirm nobody'],
  },
  {
    what: 'takes a lost memo for a confirmation',
    authenticator: but({
      complete: async (request, back, context) =>
        back.memo === undefined && Object.keys(back.query).length === 0
          ? confirmed
          : right.complete(request, back, context),
    }),
    noticed: [
      "a shopper who can confirm does so on the issuer's page",
      "a shopper who can refuse does so on the issuer's page",
      "a shopper who can cancel does so on the issuer's page",
      'a shopper who returns without having acted ends nothing',
      'the return and the memo of another shopper confirm nobody',
      'a memo that is lost or strange confirms nobody',
      'a broken answer about a returned shopper proves nothing',
    ],
  },
  {
    what: 'understands returns by GET only',
    authenticator: but({
      complete: async (request, back, context) =>
        back.method === 'GET' ? right.complete(request, back, context) : { is: 'unavailable' },
    }),
    noticed: ['a confirmed shopper is confirmed by every kind of return'],
  },
  {
    what: 'confirms a shopper once only',
    authenticator: once(),
    noticed: [
      "a shopper who can confirm does so on the issuer's page",
      'a confirmed shopper is confirmed by every kind of return',
    ],
  },
  {
    what: 'takes a refusal of the shopper for an absence of the issuer',
    authenticator: but({
      complete: async (request, back, context) => {
        const found = await right.complete(request, back, context)
        return found.is === 'failed' || found.is === 'cancelled' ? { is: 'unavailable' } : found
      },
    }),
    noticed: [
      "a shopper who can refuse does so on the issuer's page",
      "a shopper who can cancel does so on the issuer's page",
    ],
  },
]

/** Believes some returns; asks about the others. */
function trusting(isProof: (back: ShopperReturn) => boolean): Authenticator {
  return but({
    complete: async (request, back, context) =>
      isProof(back) ? confirmed : right.complete(request, back, context),
  })
}

/** Keeps its key in the memo, and believes the memo. */
function memorising(
  asked: (request: AuthenticationRequest, memo: string | undefined) => { readonly key: string },
): Authenticator {
  return but({
    async authenticate(request, context) {
      const answer = await right.authenticate(request, context)
      return answer.is === 'shopper' ? { ...answer, memo: request.key } : answer
    },
    complete: (request, back, context) => {
      const memo = typeof back.memo === 'string' ? back.memo : undefined
      return right.complete({ ...request, ...asked(request, memo) }, back, context)
    },
  })
}

function once(): Authenticator {
  const done = new Set<string>()
  return but({
    async complete(request, back, context) {
      const found = await right.complete(request, back, context)
      if (found.is !== 'authenticated') return found
      if (done.has(request.key)) return { is: 'unavailable' }
      done.add(request.key)
      return found
    },
  })
}
