/** Mistakes in enquiries about an authentication. */
import { simulatorHttpAuthenticator as right } from '../../../../connectors/simulator/http-connector.ts'
import { but, type Found, refused, type WrongAuthenticator } from './changed-authenticator.ts'

const sawFirst = new Map<string, Found>()

export const enquiryMistakes: readonly WrongAuthenticator[] = [
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
]
