/** Mistakes in the facts and the settings of an authenticator. */
import { simulatorHttpAuthenticator as right } from '../../../../connectors/simulator/http-connector.ts'
import { but, type WrongAuthenticator } from './changed-authenticator.ts'

export const factMistakes: readonly WrongAuthenticator[] = [
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
]
