/** The issuer of shoppers' cards: it answers by its view of the shopper who made the press. */
import {
  type Authentication,
  type AuthenticationRequest,
  type Authenticator,
  defineAuthenticator,
  Sensitive,
} from '@tollgate/plugin-kit'
import { type Books, referenceOf } from './books.ts'

export const issuerName = 'issuer'

export function issuerOf(books: Books): Authenticator {
  const answer = (request: AuthenticationRequest): Authentication => {
    const reference = referenceOf(request)
    switch (books.issuerOf(reference)) {
      case 'confirms':
        return {
          is: 'authenticated',
          version: '2.2.0',
          eci: '05',
          verificationId: new Sensitive('Q0FWVi1mb3ItYS10ZXN0LW9ubHk='),
        }
      case 'refuses':
        return { is: 'failed', status: 'N' }
      case 'cancelled':
        return { is: 'cancelled' }
      case 'is unavailable':
        return { is: 'unavailable' }
      case 'asks': {
        const { returnUrl } = request
        if (returnUrl !== undefined) {
          books.away.push({ sequence: reference.split('.')[0] ?? '', returnUrl })
        }
        return { is: 'shopper', next: { redirect: { url: 'https://issuer.example/challenge' } } }
      }
    }
  }
  return defineAuthenticator({
    name: issuerName,
    title: 'Issuer',
    contract: 1,
    supports: { schemes: ['VISA'], versions: ['2.2.0'] },
    authenticate: async (request) => answer(request),
    complete: async (request) => answer(request),
    enquire: async (request) => answer(request),
  })
}
