/** The authenticator inside the process: the issuer's cases live in `context.records`. */
import {
  type Authentication,
  type AuthenticationRequest,
  type Authenticator,
  type AuthenticatorContext,
  contractVersion,
  defineAuthenticator,
} from '@tollgate/plugin-kit'
import { secretOf } from '../keep.ts'
import { pageUrlsOf } from '../pages/challenge.ts'
import { answerOf, toAuthentication } from './answer.ts'
import type { Case } from './case.ts'
import { enrolmentOf } from './enrolment.ts'
import { authenticatorName, beginCase, caseAt, merchantInside } from './keep.ts'
import { askedBy } from './question.ts'
import { protocolVersion } from './values.ts'

export const schemes = ['VISA', 'MASTER', 'AMEX', 'DINERS', 'JCB', 'CARTEBANCAIRE'] as const

export function createAuthenticator(): Authenticator {
  return defineAuthenticator({
    name: authenticatorName,
    title: 'Simulated 3-D Secure',
    contract: contractVersion,
    supports: { schemes, versions: [protocolVersion], modes: ['INTERNAL'] },
    async authenticate(request, context) {
      const { key, amount, brand, card, isPayment, returnUrl } = request
      const { parameters, ...asked } = askedBy(request)
      const enrolment = enrolmentOf(card?.number.reveal(), parameters)
      const question = {
        key,
        amount,
        brand,
        last4: card?.last4 ?? '',
        isPayment,
        enrolment,
        ...asked,
        ...(returnUrl === undefined ? {} : { returnUrl }),
      }
      const now = { business: context.clock.now().getTime(), machine: Date.now() }
      const found = await beginCase(context.records, question, now)
      return read(found, request, context)
    },
    isEnrolled: ({ number }) => enrolmentOf(number.reveal(), []).enrolled,
    // The browser proves nothing: the case says what the cardholder did.
    async complete(request, _back, context) {
      const found = await present(request, context)
      return found.is === 'notFound' ? { is: 'unavailable' } : found
    },
    enquire: present,
  })
}

async function present(request: AuthenticationRequest, context: AuthenticatorContext) {
  const now = context.clock.now().getTime()
  const found = await caseAt(context.records, request.key, now)
  return found === undefined ? ({ is: 'notFound' } as const) : read(found, request, context)
}

async function read(
  found: Case,
  { key, amount }: AuthenticationRequest,
  { records, pagesUrl }: AuthenticatorContext,
): Promise<Authentication> {
  const secret = await secretOf(records)
  const pages =
    pagesUrl === undefined
      ? undefined
      : pageUrlsOf(pagesUrl, { merchantId: merchantInside, key }, secret)
  return toAuthentication(answerOf(found, secret, pages), amount)
}
