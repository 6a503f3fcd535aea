/** The authenticator whose issuer is the simulator in its own process, reached over HTTP. */
import {
  type Authentication,
  type AuthenticationRequest,
  type AuthenticatorContext,
  contractVersion,
  defineAuthenticator,
  type HttpAnswer,
  type SettingsOf,
} from '@tollgate/plugin-kit'
import { isSigned } from '../event.ts'
import { account, config, headersOf, urlAt } from '../http-settings.ts'
import { keyHeader } from '../wire.ts'
import { toAuthentication } from './answer.ts'
import { enrolmentOf } from './enrolment.ts'
import { claimsAbout } from './event.ts'
import { schemes } from './in-process.ts'
import { askedBy } from './question.ts'
import { protocolVersion } from './values.ts'
import { answerFromWire, bodyToWire } from './wire.ts'

type HttpContext = AuthenticatorContext<
  SettingsOf<typeof config.rows>,
  SettingsOf<typeof account.rows>
>

export const simulatorHttpAuthenticator = defineAuthenticator({
  name: 'simulator-http-3ds',
  title: 'Simulated 3-D Secure over HTTP',
  contract: contractVersion,
  config,
  account,
  supports: { schemes, versions: [protocolVersion], modes: ['EXTERNAL', 'LIVE'] },
  async authenticate(request, context: HttpContext) {
    const { key, amount, brand, card, isPayment, returnUrl } = request
    const body = bodyToWire({
      amount,
      brand,
      last4: card?.last4 ?? '',
      isPayment,
      at: context.clock.now().getTime(),
      ...askedBy(request),
      ...(returnUrl === undefined ? {} : { returnUrl }),
      ...(context.notifyUrl === undefined ? {} : { notifyUrl: context.notifyUrl }),
      ...(card === undefined ? {} : { number: card.number.reveal() }),
    })
    const answer = await context.http.request('POST', urlAt(context.config, '/authentications'), {
      headers: { ...headersOf(context.account), [keyHeader]: key },
      json: body,
    })
    return known(read(answer, request))
  },
  isEnrolled: ({ number }) => enrolmentOf(number.reveal(), []).enrolled,
  // The browser proves nothing, so the issuer is asked.
  complete: async (request, _back, context) => known(await present(request, context)),
  enquire: present,
  inbound: {
    verify: (message, { account }) => isSigned(message, account.secret),
    parse: claimsAbout,
  },
})

async function present(request: AuthenticationRequest, context: HttpContext) {
  const query = { key: request.key, at: String(context.clock.now().getTime()) }
  const headers = headersOf(context.account)
  const url = urlAt(context.config, '/authentications')
  return read(await context.http.get(url, query, { headers }), request)
}

/** @throws Error for an answer that cannot be read: the engine asks again */
function read(
  answer: HttpAnswer,
  { key, amount }: AuthenticationRequest,
): Authentication | { is: 'notFound' } {
  if (answer.status !== 200) throw new Error(`the issuer answered with HTTP ${answer.status}`)
  const found = answerFromWire(answer.json(), key)
  return found === 'notFound' ? { is: 'notFound' } : toAuthentication(found, amount)
}

const known = (found: Authentication | { is: 'notFound' }): Authentication =>
  found.is === 'notFound' ? { is: 'unavailable' } : found
