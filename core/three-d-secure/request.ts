/** The request that an authenticator gets, from a payment. */
import {
  type AuthenticationRequest,
  type Card,
  type Money,
  type RequestFields,
  Sensitive,
} from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { shortId } from '../ids.ts'
import { amountToAuthenticate } from '../request/amount.ts'
import { groupOf, textOf } from '../request/values.ts'
import type { Authenticating, AuthenticationRecord } from './types.ts'
import { is3RI, isWithoutPayment } from './wanted.ts'

/** Effects of records that ask for no money. */
const withoutMoney = new Set(['verification'])

/** @param card Absent on an enquiry. */
export function authenticationRequest(
  engine: Pick<Engine, 'returnUrl'>,
  payment: Authenticating,
  { memo }: AuthenticationRecord,
  card: Card | undefined,
): AuthenticationRequest {
  const fields = payment.request as RequestFields
  const { deviceInfo, request } = withoutDevice(fields)
  const amount = amountOf(payment)
  const returnUrl = wayBack(engine, payment)
  const isPayment =
    !isWithoutPayment(fields) && !withoutMoney.has(payment.effect) && amount.minor > 0n
  return {
    paymentId: payment.id,
    key: payment.attemptKey,
    amount,
    brand: payment.brand ?? '',
    request,
    isPayment,
    shortId: shortId(payment.shortNo),
    ...(card === undefined ? {} : { card: withoutCode(card) }),
    ...(payment.merchantTransactionId === null
      ? {}
      : { merchantTransactionId: payment.merchantTransactionId }),
    ...(returnUrl === undefined ? {} : { returnUrl }),
    ...(memo === undefined ? {} : { memo }),
    ...(deviceInfo === undefined ? {} : { deviceInfo: new Sensitive(deviceInfo) }),
  }
}

/** A challenge opens in the frame of the widget, or in the whole tab. */
const placeOf = (fields: RequestFields) =>
  textOf(fields, 'challenge') === 'frame' ? 'frame' : 'tab'

/** Where the shopper comes back to; undefined without a shopper, or without a public address. */
export function wayBack(
  engine: Pick<Engine, 'returnUrl'>,
  { id, attemptKey, request }: Pick<Authenticating, 'id' | 'attemptKey' | 'request'>,
): string | undefined {
  return is3RI(request as RequestFields)
    ? undefined
    : engine.returnUrl(id, attemptKey, placeOf(request as RequestFields))
}

/** The amount to authenticate: a named one wins over the payment's own. */
export function amountOf({ amount, request }: Pick<Authenticating, 'amount' | 'request'>): Money {
  const fields = request as RequestFields
  const currency = textOf(groupOf(fields, 'threeDSecure'), 'currency') ?? amount.currency
  return amountToAuthenticate(fields, amount.currency) ?? { ...amount, currency }
}

/** An authenticator never gets a security code. */
function withoutCode({ cvv: _, ...card }: Card): Card {
  return card
}

function withoutDevice(fields: RequestFields): {
  readonly deviceInfo: string | undefined
  readonly request: RequestFields
} {
  const secure = groupOf(fields, 'threeDSecure')
  const deviceInfo = textOf(secure, 'deviceInfo')
  if (deviceInfo === undefined) return { deviceInfo, request: fields }
  const { deviceInfo: _, ...rest } = secure!
  return { deviceInfo, request: { ...fields, threeDSecure: rest } }
}
