/** Amounts in the words of an acquirer: units or decimals, with its own number of digits behind the point. */
import { currencyOf } from '@tollgate/schemas'
import type { Money } from './outcome.ts'

/** Digits behind the point where an acquirer has others than ISO 4217, by currency: `{ ISK: 2, HUF: 0 }`. */
export type Exponents = Readonly<Record<string, number>>

/**
 * The amount in the acquirer's smallest units: 92 `ISK` are 9200n with `{ ISK: 2 }`.
 *
 * @throws RangeError when the amount has a part that the acquirer has no unit for, such as 0.50 `HUF` with `{ HUF: 0 }`,
 * or a currency without minor units. Nothing is sent then, and the payment is declined.
 */
export function unitsOf({ minor, currency }: Money, exponents: Exponents = {}): bigint {
  const { own, iso } = digitsOf(currency, exponents) ?? {}
  const units = own === undefined ? undefined : scaled(minor, iso!, own)
  if (units !== undefined) return units
  throw new RangeError(`the acquirer has no unit for this amount of ${currency}`)
}

/** The money of an answer in the acquirer's units; undefined where Tollgate has no minor unit for it. */
export function moneyOf(
  units: bigint,
  currency: string,
  exponents: Exponents = {},
): Money | undefined {
  const { own, iso } = digitsOf(currency, exponents) ?? {}
  const minor = own === undefined ? undefined : scaled(units, own, iso!)
  return minor === undefined ? undefined : { minor, currency }
}

/** `92.00`: the amount as a decimal number. @throws RangeError as `unitsOf`. */
export function decimalOf(money: Money, exponents: Exponents = {}): string {
  const own = digitsOf(money.currency, exponents)?.own ?? 0
  const digits = String(unitsOf(money, exponents)).padStart(own + 1, '0')
  return own === 0 ? digits : `${digits.slice(0, -own)}.${digits.slice(-own)}`
}

/** The money of a decimal number; undefined unless it has exactly the digits behind the point that it should. */
export function moneyOfDecimal(
  text: string,
  currency: string,
  exponents: Exponents = {},
): Money | undefined {
  const [, whole = '', decimals = ''] = /^([0-9]{1,15})(?:\.([0-9]{1,4}))?$/.exec(text) ?? []
  const isExact = whole !== '' && digitsOf(currency, exponents)?.own === decimals.length
  return isExact ? moneyOf(BigInt(whole + decimals), currency, exponents) : undefined
}

function digitsOf(currency: string, exponents: Exponents) {
  const iso = currencyOf(currency)?.exponent
  if (iso == null) return undefined
  return { iso, own: Object.hasOwn(exponents, currency) ? exponents[currency]! : iso }
}

/** Undefined where a part is lost. */
function scaled(amount: bigint, from: number, to: number): bigint | undefined {
  if (to >= from) return amount * 10n ** BigInt(to - from)
  const step = 10n ** BigInt(from - to)
  return amount % step === 0n ? amount / step : undefined
}
