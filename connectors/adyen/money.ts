/** Amounts in minor units, as Adyen counts them. */
import { currencyOf, type Money } from '@tollgate/plugin-kit'

/** Decimals where Adyen's list of currencies differs from ISO 4217. */
const differing: Readonly<Record<string, number>> = { CLP: 2, CVE: 0, IDR: 0, ISK: 2 }

/** Currencies whose decimals in Adyen's list are known here. */
// biome-ignore format: a list reads best in the order of its source.
export const currencies = [
  'AED', 'ALL', 'AMD', 'AOA', 'ARS', 'AUD', 'AWG', 'AZN', 'BAM', 'BBD', 'BDT', 'BHD', 'BMD', 'BND', 'BOB', 'BRL', 'BSD',
  'BWP', 'BYN', 'BZD', 'CAD', 'CHF', 'CLP', 'CNY', 'COP', 'CRC', 'CVE', 'CZK', 'DJF', 'DKK', 'DOP', 'DZD', 'EGP', 'EUR',
  'FJD', 'GBP', 'GEL', 'GTQ', 'HKD', 'HNL', 'HUF', 'IDR', 'ILS', 'INR', 'ISK', 'JMD', 'JOD', 'JPY', 'KES', 'KRW', 'KWD',
  'KZT', 'LBP', 'LKR', 'MAD', 'MKD', 'MUR', 'MXN', 'MYR', 'NGN', 'NOK', 'NZD', 'OMR', 'PAB', 'PEN', 'PHP', 'PKR', 'PLN',
  'PYG', 'QAR', 'RON', 'RSD', 'SAR', 'SEK', 'SGD', 'THB', 'TND', 'TRY', 'TTD', 'TWD', 'TZS', 'UAH', 'USD', 'UYU', 'VND',
  'XAF', 'XCD', 'XOF', 'XPF', 'ZAR', 'ZMW',
] as const

export type AdyenAmount = { readonly value: number; readonly currency: string }

/**
 * @throws Error before anything is sent, for an amount that Adyen cannot carry: a part of the smallest unit there, or
 * more than a JSON number holds exactly.
 */
export function amountFor({ minor, currency }: Money): AdyenAmount {
  const shift = shiftOf(currency)
  const unit = 10n ** BigInt(Math.abs(shift))
  if (shift < 0 && minor % unit !== 0n) {
    throw new Error(`amounts in ${currency} must be whole units at Adyen`)
  }
  const value = shift < 0 ? minor / unit : minor * unit
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('the amount is too large for Adyen')
  return { value: Number(value), currency }
}

/** The money of an answer or a message; undefined for anything else. */
export function moneyOf(given: unknown): Money | undefined {
  const { value, currency } = Object(given) as {
    readonly value?: unknown
    readonly currency?: unknown
  }
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) return undefined
  if (typeof currency !== 'string' || currencyOf(currency)?.exponent == null) return undefined
  const shift = shiftOf(currency)
  const unit = 10n ** BigInt(Math.abs(shift))
  const minor = BigInt(value)
  if (shift > 0 && minor % unit !== 0n) return undefined
  return { minor: shift > 0 ? minor / unit : minor * unit, currency }
}

export const isSame = (one: Money, other: Money): boolean =>
  one.minor === other.minor && one.currency === other.currency

/** Digits that Adyen has more than ISO 4217. */
const shiftOf = (currency: string): number =>
  (differing[currency] ?? exponentOf(currency)) - exponentOf(currency)

const exponentOf = (currency: string): number => currencyOf(currency)?.exponent ?? 2
