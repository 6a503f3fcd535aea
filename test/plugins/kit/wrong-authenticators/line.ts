/** Mistakes after a fault on the line, and with answers that are broken or about something else. */

import { simulatorHttpAuthenticator as right } from '../../../../connectors/simulator/http-connector.ts'
import { lineFaults } from '../../../../plugins/kit/testing/cases/line.ts'
import {
  but,
  catching,
  confirmed,
  refused,
  type WrongAuthenticator,
  withAnswers,
} from './changed-authenticator.ts'

const faultCases = Object.keys(lineFaults).map(
  (name) => `a fault confirms nobody and refuses nobody: ${name}`,
)

export const lineMistakes: readonly WrongAuthenticator[] = [
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
]
