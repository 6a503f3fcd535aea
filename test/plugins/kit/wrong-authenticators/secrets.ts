/** Leaks of card data, credentials and proofs. */
import type { Http } from '@tollgate/plugin-kit'
import { simulatorHttpAuthenticator as right } from '../../../../connectors/simulator/http-connector.ts'
import { but, type WrongAuthenticator } from './changed-authenticator.ts'

export const secretMistakes: readonly WrongAuthenticator[] = [
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
]
