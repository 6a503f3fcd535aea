import type { Money, RequestFields } from '@tollgate/plugin-kit'
import { type Currency, currencyOf, isPayable } from '@tollgate/schemas'
import { type AmountNames, parseAmount } from '../money.ts'
import { groupOf, refuse, textOf } from './values.ts'

export type AmountOptions = {
  /** Business time of the channel. */
  readonly now: Date
  /**
   * A follow-up uses the currency of its payment, even after the currency was withdrawn: a refund
   * in lev is owed in lev. The follow-up itself checks that the currencies match.
   */
  readonly followUp: boolean
}

const main: AmountNames = { amount: 'amount', currency: 'currency' }

function currencyFor(code: string, name: string, { now, followUp }: AmountOptions): Currency {
  const currency = currencyOf(code)
  if (currency === undefined || currency.exponent === null) {
    throw refuse(
      '100.550.401',
      name,
      'must be an ISO 4217 currency that amounts can be given in',
      code,
    )
  }
  const isDated = currency.from !== undefined || currency.to !== undefined
  if (isDated && !followUp && !isPayable(currency, now.toISOString().slice(0, 10))) {
    const instead = currency.successor === undefined ? '' : `: use ${currency.successor}`
    throw refuse('100.550.401', name, `${code} is not in use on this day${instead}`, code)
  }
  return currency
}

/** Amounts that are part of the main one, in its currency. */
const parts = ['taxAmount', 'discountAmount'] as const
/** Groups with their own amount; without a currency of their own, the main one applies. */
const groups = ['forex', 'threeDSecure', 'risk'] as const

function checkFurtherAmounts(fields: RequestFields, code: string, options: AmountOptions): void {
  for (const name of parts) {
    const text = textOf(fields, name)
    if (text !== undefined) parseAmount(text, code, { amount: name, currency: 'currency' })
  }
  for (const name of groups) {
    const group = groupOf(fields, name)
    if (group === undefined) continue
    const own = textOf(group, 'currency')
    if (own !== undefined) currencyFor(own, `${name}.currency`, options)
    const text = textOf(group, 'amount')
    if (text === undefined) continue
    parseAmount(text, own ?? code, { amount: `${name}.amount`, currency: `${name}.currency` })
  }
  amountToAuthenticate(fields, code)
}

/**
 * Reads the amount that the issuer is asked about: `threeDSecure.amount`, or else `risk.amount`.
 *
 * @returns undefined when neither is there: the issuer is asked about the payment's own amount.
 * @throws GatewayError naming the field, for an amount that its currency cannot have.
 */
export function amountToAuthenticate(fields: RequestFields, code: string): Money | undefined {
  const secure = groupOf(fields, 'threeDSecure')
  const currency = textOf(secure, 'currency') ?? code
  const named = textOf(secure, 'amount')
  const text = named ?? textOf(groupOf(fields, 'risk'), 'amount')
  if (text === undefined) return undefined
  const amount = named === undefined ? 'risk.amount' : 'threeDSecure.amount'
  const minor = parseAmount(text, currency, { amount, currency: 'threeDSecure.currency' })
  return { minor, currency }
}

/**
 * The amount of a request in minor units, after the checks of all its amounts. Amount 0 is valid
 * only for a preauthorisation that creates a registration.
 *
 * @throws GatewayError, naming the field: 100.550.300 missing or 0, 100.550.303 more decimals than
 * the currency has, 100.550.400 currency missing, 100.550.401 no currency or withdrawn.
 */
export function checkAmount(fields: RequestFields, options: AmountOptions): Money {
  const text = textOf(fields, 'amount')
  if (text === undefined) throw refuse('100.550.300', main.amount, 'required')
  const code = textOf(fields, 'currency')
  if (code === undefined) throw refuse('100.550.400', main.currency, 'required')
  currencyFor(code, main.currency, options)
  const minor = parseAmount(text, code)
  const mayBeZero =
    !options.followUp &&
    textOf(fields, 'paymentType') === 'PA' &&
    textOf(fields, 'createRegistration') === 'true'
  if (minor === 0n && !mayBeZero) {
    throw refuse(
      '100.550.300',
      main.amount,
      'must be more than 0, except for a PA that creates a registration',
      text,
    )
  }
  checkFurtherAmounts(fields, code, options)
  return { minor, currency: code }
}
