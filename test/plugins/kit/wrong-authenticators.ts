/**
 * The simulated issuer's authenticator with one mistake at a time, as real ones have them. Beside each
 * are the cases that must notice it, and no others may.
 */
import {
  type Authentication,
  type AuthenticationRequest,
  type Authenticator,
  type AuthenticatorContext,
  type Http,
  Sensitive,
  type ShopperReturn,
} from '@tollgate/plugin-kit'
import { simulatorHttpAuthenticator as right } from '../../../connectors/simulator/http-connector.ts'
import { lineFaults } from '../../../plugins/kit/testing/cases/line.ts'

export type WrongAuthenticator = {
  /** The mistake, as the rest of "an authenticator that …". */
  readonly what: string
  readonly authenticator: Authenticator
  /** Names of the cases that must fail. */
  readonly noticed: readonly string[]
  /** Its handlers never end, so the suite waits in vain. */
  readonly isEndless?: true
}

type Found = Authentication | { is: 'notFound' }

const but = (parts: Partial<Authenticator>): Authenticator => ({ ...right, ...parts })

/** Every answer changed, of whichever function. */
const saying = (change: (answer: Found, request: AuthenticationRequest) => Found): Authenticator =>
  but({
    authenticate: async (request, context) =>
      change(await right.authenticate(request, context), request) as Authentication,
    complete: async (request, back, context) =>
      change(await right.complete(request, back, context), request) as Authentication,
    enquire: async (request, context) => change(await right.enquire(request, context), request),
  })

/** Errors turned into an answer, of the named functions. */
const catching = (
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

const confirmed: Authentication = {
  is: 'authenticated',
  version: '2.2.0',
  eci: '05',
  verificationId: new Sensitive('AAECAwQFBgcICQoLDA0ODxAREhM='),
}
const refused: Authentication = { is: 'failed', status: 'N' }

const faultCases = Object.keys(lineFaults).map(
  (name) => `a fault confirms nobody and refuses nobody: ${name}`,
)

const sawFirst = new Map<string, Found>()
let count = 0

export const wrongAuthenticators: readonly WrongAuthenticator[] = [
  {
    what: 'has a name in capitals',
    authenticator: but({ name: 'Simulator' }),
    noticed: ['the declaration of the authenticator is complete'],
  },
  {
    what: 'knows a scheme that does not exist',
    authenticator: but({ supports: { ...right.supports, schemes: ['VISA', 'FANTASY'] } }),
    noticed: ['the declaration of the authenticator is complete'],
  },
  {
    what: 'declares its secret as an ordinary setting',
    authenticator: but({
      account: {
        ...right.account!,
        fields: right.account!.fields.map((field) => ({ ...field, class: 'none' as const })),
      },
    }),
    noticed: ['credentials of an authenticator are settings of class secret'],
  },
  {
    what: 'takes every authentication that did not fail for one that succeeded',
    authenticator: saying((answer) =>
      answer.is === 'unavailable' || answer.is === 'attempted' || answer.is === 'notEnrolled'
        ? { ...confirmed, ...answer, is: 'authenticated' as const, version: '2.2.0' }
        : answer,
    ),
    noticed: ['each scene ends as expected'],
  },
  {
    what: 'takes a card without 3-D Secure for an issuer that is away',
    authenticator: saying((answer) =>
      answer.is === 'notEnrolled' ? { ...answer, is: 'unavailable' as const } : answer,
    ),
    noticed: ['each scene ends as expected'],
  },
  {
    what: 'gives a card without 3-D Secure a proof',
    authenticator: saying((answer) =>
      answer.is === 'notEnrolled' ? ({ ...answer, eci: '05' } as Found) : answer,
    ),
    noticed: ['an answer that confirms nothing has no proof'],
  },
  {
    what: 'confuses the indicators of schemes',
    authenticator: saying((answer) =>
      'eci' in answer && answer.eci === '02' ? { ...answer, eci: '05' } : answer,
    ),
    noticed: ['each scene ends as expected'],
  },
  {
    what: 'returns the verification id in hexadecimal',
    authenticator: saying((answer) =>
      'verificationId' in answer && answer.verificationId !== undefined
        ? {
            ...answer,
            verificationId: new Sensitive(
              Buffer.from(answer.verificationId.reveal(), 'base64').toString('hex'),
            ),
          }
        : answer,
    ),
    noticed: ['a confirmation has its proof: eci, verification id, version and numbers'],
  },
  {
    what: 'names its version 2.2',
    authenticator: saying((answer) =>
      'version' in answer ? ({ ...answer, version: '2.2' } as Found) : answer,
    ),
    noticed: ['a confirmation has its proof: eci, verification id, version and numbers'],
  },
  {
    what: 'returns the verification id as plain text',
    authenticator: saying((answer) =>
      'verificationId' in answer && answer.verificationId !== undefined
        ? ({ ...answer, verificationId: answer.verificationId.reveal() } as unknown as Found)
        : answer,
    ),
    noticed: [
      'each scene ends as expected',
      'the same key at once is one authentication',
      'a known key confirms no other amount',
      'an enquiry finds an authentication whose answer was lost',
      "a shopper who can confirm does so on the issuer's page",
      'the return and the memo of another shopper confirm nobody',
      'a confirmed shopper is confirmed by every kind of return',
    ],
  },
  {
    what: 'gives a refusal a proof',
    authenticator: saying((answer) =>
      answer.is === 'failed' ? ({ ...answer, eci: '05' } as Found) : answer,
    ),
    noticed: ['an answer that confirms nothing has no proof'],
  },
  {
    what: 'begins a new authentication at each call',
    authenticator: but({
      authenticate: (request, context) => {
        count += 1
        const key = `${request.key.slice(0, 20)}${String(count).padStart(12, '0')}`
        return right.authenticate({ ...request, key }, context)
      },
    }),
    noticed: [
      // The server has no event about a key that never reached it.
      'an event of the server names its authentication',
      'a forged event of the server is not proven',
      'the same key is one authentication',
      'the same key at once is one authentication',
      'a known key confirms no other amount',
      'an enquiry finds the same answer, with its proof',
      'an enquiry about an open challenge still wants the shopper',
      'an enquiry finds an authentication whose answer was lost',
      "a shopper who can confirm does so on the issuer's page",
      "a shopper who can refuse does so on the issuer's page",
      "a shopper who can cancel does so on the issuer's page",
      'a shopper who returns without having acted ends nothing',
      'the return and the memo of another shopper confirm nobody',
      'a confirmed shopper is confirmed by every kind of return',
    ],
  },
  {
    what: 'sends every authentication twice, under two keys',
    authenticator: but({
      async authenticate(request, context) {
        count += 1
        const key = `${request.key.slice(0, 20)}${String(count).padStart(12, '0')}`
        await right.authenticate({ ...request, key }, context)
        return right.authenticate(request, context)
      },
    }),
    noticed: [
      'the same key is one authentication',
      'the same key at once is one authentication',
      'an enquiry finds an authentication whose answer was lost',
      'a confirmation of another amount states that amount',
    ],
  },
  {
    what: 'takes a confirmation for one of the asked amount',
    authenticator: saying((answer) => {
      if (!('amount' in answer)) return answer
      const { amount: _other, ...rest } = answer
      return rest as Found
    }),
    noticed: [
      'a known key confirms no other amount',
      'a confirmation of another amount states that amount',
    ],
  },
  {
    what: 'finds no proof later',
    authenticator: but({
      enquire: async (request, context) => {
        const found = await right.enquire(request, context)
        if (!('verificationId' in found)) return found
        const { verificationId: _gone, ...rest } = found
        return rest as Found
      },
    }),
    noticed: [
      'an enquiry finds the same answer, with its proof',
      "a shopper who can confirm does so on the issuer's page",
    ],
  },
  {
    what: 'takes an unknown key for a refused shopper',
    authenticator: but({
      enquire: async (request, context) => {
        const found = await right.enquire(request, context)
        return found.is === 'notFound' ? refused : found
      },
    }),
    noticed: ['an enquiry about an unused key returns notFound, and begins nothing'],
  },
  {
    what: 'begins an authentication to enquire',
    authenticator: but({
      enquire: async (request, context) => {
        const found = await right.enquire(request, context)
        if (found.is === 'notFound') await right.authenticate(request, context)
        return found
      },
    }),
    noticed: ['an enquiry about an unused key returns notFound, and begins nothing'],
  },
  {
    what: 'answers an enquiry from its own memory',
    authenticator: but({
      async authenticate(request, context) {
        const answer = await right.authenticate(request, context)
        sawFirst.set(request.key, answer)
        return answer
      },
      enquire: async (request) => sawFirst.get(request.key) ?? { is: 'notFound' },
    }),
    noticed: [
      'an enquiry finds an authentication whose answer was lost',
      'a broken answer to an enquiry proves nothing',
      "a shopper who can confirm does so on the issuer's page",
      "a shopper who can refuse does so on the issuer's page",
      "a shopper who can cancel does so on the issuer's page",
    ],
  },
  {
    what: 'takes a broken answer for a confirmation',
    authenticator: catching(confirmed, 'authenticate', 'enquire', 'complete'),
    noticed: [
      ...faultCases,
      'an enquiry finds an authentication whose answer was lost',
      'the answer to another authentication is not accepted',
      'a confirmation without its proof is no confirmation',
    ],
  },
  {
    what: 'takes a broken answer for a refusal',
    authenticator: catching(refused, 'authenticate'),
    noticed: [...faultCases],
  },
  {
    what: 'takes a broken enquiry for a refusal',
    authenticator: catching(refused, 'enquire'),
    noticed: ['a broken answer to an enquiry proves nothing'],
  },
  {
    what: 'takes a broken answer about a returned shopper for a refusal',
    authenticator: catching(refused, 'complete'),
    noticed: ['a broken answer about a returned shopper proves nothing'],
  },
  {
    what: 'never gives up',
    authenticator: but({
      async authenticate(request, context) {
        try {
          return await right.authenticate(request, context)
        } catch {
          return new Promise<never>(() => {})
        }
      },
    }),
    isEndless: true,
    noticed: [
      ...faultCases,
      'an enquiry finds an authentication whose answer was lost',
      'the answer to another authentication is not accepted',
      'a confirmation without its proof is no confirmation',
      'a shopper is sent to addresses of http and https only',
      'nothing after a fault contains card data or credentials',
    ],
  },
  {
    what: 'does not look at the key of an answer',
    authenticator: but({
      authenticate: (request, context) =>
        right.authenticate(
          request,
          withAnswers(context, (body) => ({ ...body, key: request.key })),
        ),
    }),
    noticed: ['the answer to another authentication is not accepted'],
  },
  {
    what: 'invents a proof that is missing',
    authenticator: but({
      authenticate: (request, context) =>
        right.authenticate(
          request,
          withAnswers(context, (body) => ({
            ...body,
            verificationId: body.verificationId ?? 'AAECAwQFBgcICQoLDA0ODxAREhM=',
          })),
        ),
    }),
    noticed: ['a confirmation without its proof is no confirmation'],
  },
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
  {
    what: 'logs the card',
    authenticator: but({
      authenticate: (request, context) => {
        context.log.info(
          { number: request.card?.number.reveal() ?? '' },
          'an authentication begins',
        )
        return right.authenticate(request, context)
      },
    }),
    noticed: [
      'no answer, record or log contains card data, credentials or a proof',
      'nothing after a fault contains card data or credentials',
    ],
  },
  {
    what: 'keeps the proof in its records',
    authenticator: but({
      async authenticate(request, context) {
        const answer = await right.authenticate(request, context)
        if ('verificationId' in answer && answer.verificationId !== undefined) {
          const proof = answer.verificationId.reveal()
          await context.records.swap(`proof/${request.key}`, undefined, proof)
        }
        return answer
      },
    }),
    noticed: ['no answer, record or log contains card data, credentials or a proof'],
  },
  {
    what: 'quotes the answer of the server in its error',
    authenticator: but({
      async authenticate(request, context) {
        let body = ''
        const http: Http = {
          ...context.http,
          async request(method, url, options) {
            const answer = await context.http.request(method, url, options)
            body = answer.text()
            return answer
          },
        }
        try {
          return await right.authenticate(request, { ...context, http })
        } catch {
          throw new Error(`the answer cannot be read: ${body}`)
        }
      },
    }),
    noticed: ['nothing after a fault contains card data or credentials'],
  },
  {
    what: 'sends the card number in the address',
    authenticator: but({
      authenticate: (request, context) =>
        right.authenticate(request, {
          ...context,
          http: {
            ...context.http,
            request: (method, url, options) =>
              context.http.request(method, `${url}?pan=${request.card?.number.reveal()}`, options),
          },
        }),
    }),
    noticed: ['card data is sent where a transcript can omit it'],
  },
  {
    what: 'believes every message',
    authenticator: but({ inbound: { ...right.inbound!, verify: () => true } }),
    noticed: ['a forged event of the server is not proven'],
  },
  {
    what: 'names the authentication by the id of its event',
    authenticator: but({
      inbound: {
        ...right.inbound!,
        parse: (message) =>
          right.inbound!.parse(message).map(({ eventId }) => ({ eventId, key: eventId })),
      },
    }),
    noticed: ['an event of the server names its authentication'],
  },
]

/** The context with every JSON answer changed. */
function withAnswers(
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
