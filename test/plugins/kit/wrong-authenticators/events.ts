/** Mistakes with events of the server. */
import { simulatorHttpAuthenticator as right } from '../../../../connectors/simulator/http-connector.ts'
import { but, type WrongAuthenticator } from './changed-authenticator.ts'

export const eventMistakes: readonly WrongAuthenticator[] = [
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
        async parse(message, context) {
          const claims = await right.inbound!.parse(message, context)
          return claims.map(({ eventId }) => ({ eventId, key: eventId }))
        },
      },
    }),
    noticed: ['an event of the server names its authentication'],
  },
]
