/** Requests and answers of the issuer over HTTP. */
import { Sensitive } from '@tollgate/plugin-kit'
import {
  millisecondsOf,
  moneyFromWire,
  moneyToWire,
  objectOf,
  only,
  optional,
  textOf,
  WireError,
  type WireMoney,
} from '../wire.ts'
import type { IssuerAnswer, PageUrls } from './answer.ts'
import type { Question } from './case.ts'
import { enrolmentOf, enrolmentParameters } from './enrolment.ts'

/** The body of POST /authentications, beside the key in its header. */
export type AuthenticationBody = Omit<Question, 'key' | 'enrolment'> & {
  readonly number?: string
  readonly parameters: readonly string[]
  /** Business time of the merchant, milliseconds since 1970. */
  readonly at: number
}

export type WireIssuerAnswer = Omit<IssuerAnswer, 'amount'> & { readonly amount: WireMoney }

/** The card's number is revealed only while writing. */
export const bodyToWire = ({ amount, number, ...rest }: AuthenticationBody) => ({
  ...rest,
  amount: moneyToWire(amount),
  ...only('number', number === undefined ? undefined : new Sensitive(number)),
})

/** @throws WireError with the name of the wrong field */
export function questionFromWire(
  key: string,
  json: unknown,
): { readonly question: Question; readonly at: number } {
  const body = objectOf(json, 'body')
  const { parameters } = body
  if (!Array.isArray(parameters)) throw new WireError('parameters must be a list')
  const unknown = parameters.find((name) => !enrolmentParameters.includes(name))
  if (unknown !== undefined) {
    throw new WireError(`parameters must be of ${enrolmentParameters.join(', ')}`)
  }
  if (typeof body.isPayment !== 'boolean') throw new WireError('isPayment must be true or false')
  return {
    question: {
      key,
      amount: moneyFromWire(body.amount, 'amount'),
      brand: textOf(body.brand, 'brand'),
      last4: typeof body.last4 === 'string' ? body.last4 : '',
      isPayment: body.isPayment,
      enrolment: enrolmentOf(optional(body.number, 'number', textOf), parameters as string[]),
      timeoutMs: millisecondsOf(body.timeoutMs, 'timeoutMs'),
      ...only('shop', optional(body.shop, 'shop', textOf)),
      ...only('language', optional(body.language, 'language', textOf)),
      ...only('returnUrl', optional(body.returnUrl, 'returnUrl', textOf)),
      ...only('notifyUrl', optional(body.notifyUrl, 'notifyUrl', textOf)),
    },
    at: millisecondsOf(body.at, 'at'),
  }
}

export const answerToWire = ({ amount, ...rest }: IssuerAnswer): WireIssuerAnswer => ({
  ...rest,
  amount: moneyToWire(amount),
})

const statuses = ['Y', 'A', 'N', 'R', 'U', 'notEnrolled', 'cancelled', 'timedOut', 'open'] as const
const texts = ['eci', 'verificationId', 'authType', 'reason'] as const

/**
 * Reads an answer about `key`. An answer with another key belongs to another cardholder.
 *
 * @throws WireError for an unreadable answer or another key
 */
export function answerFromWire(json: unknown, key: string): IssuerAnswer | 'notFound' {
  const body = objectOf(json, 'answer')
  if (body.key !== key) throw new WireError('the answer is about another key')
  if (body.status === 'notFound') return 'notFound'
  const status = statuses.find((known) => known === body.status)
  if (status === undefined) throw new WireError('status of the answer is unknown')
  const isProven = status === 'Y' || status === 'A'
  if (isProven && typeof body.verificationId !== 'string') {
    throw new WireError('verificationId is missing in a proof')
  }
  const named = texts.map((name) => only(name, optional(body[name], name, textOf)))
  return {
    key,
    amount: moneyFromWire(body.amount, 'amount'),
    status,
    version: textOf(body.version, 'version'),
    dsTransactionId: textOf(body.dsTransactionId, 'dsTransactionId'),
    acsTransactionId: textOf(body.acsTransactionId, 'acsTransactionId'),
    ...(Object.assign({}, ...named) as { [Name in (typeof texts)[number]]?: string }),
    ...only('pages', optional(body.pages, 'pages', pagesOf)),
    ...only('expiresAt', optional(body.expiresAt, 'expiresAt', millisecondsOf)),
    ...(body.deviceStep === true ? { deviceStep: true } : {}),
  }
}

function pagesOf(value: unknown, name: string): PageUrls {
  const { challenge, device } = objectOf(value, name)
  return {
    challenge: urlOf(challenge, `${name}.challenge`),
    device: urlOf(device, `${name}.device`),
  }
}

/** A browser goes there, so no other scheme will do. */
function urlOf(value: unknown, name: string): string {
  const text = textOf(value, name)
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new WireError(`${name} must be an address of http or https`)
}
