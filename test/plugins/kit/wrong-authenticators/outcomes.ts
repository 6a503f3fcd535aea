/** Mistakes in the answers of an authenticator, in their proofs and with their keys. */
import { Sensitive } from '@tollgate/plugin-kit'
import { simulatorHttpAuthenticator as right } from '../../../../connectors/simulator/http-connector.ts'
import {
  but,
  confirmed,
  type Found,
  saying,
  type WrongAuthenticator,
} from './changed-authenticator.ts'

let count = 0

export const outcomeMistakes: readonly WrongAuthenticator[] = [
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
]
