import { type Currency, currencyOf } from '@tollgate/schemas'
import { GatewayError } from './errors.ts'

/** Wire names of an amount and of its currency, for the refusal to point at. */
export type AmountNames = { readonly amount: string; readonly currency: string }

const mainNames: AmountNames = { amount: 'amount', currency: 'currency' }

/** Digits, then none or exactly two decimals. The longest field has ten digits before the point. */
const wireAmount = /^([0-9]{1,10})(?:\.([0-9]{2}))?$/

/** Amount fields have this many decimals in every currency. */
const wireDecimals = 2

const scaleOf = [1n, 10n, 100n, 1000n, 10_000n] as const

function unknownCurrency(name: string, code: string): GatewayError {
  return new GatewayError('100.550.401', {
    parameterErrors: [
      { name, value: code, message: 'must be an ISO 4217 currency that amounts can be given in' },
    ],
  })
}

function exponentOf(currency: Currency | undefined): number {
  if (currency?.exponent == null)
    throw new RangeError('a currency without minor units holds no money')
  return currency.exponent
}

/**
 * Reads an amount of the wire into integer minor units: `'92.00'` EUR is 9200n, `'92.00'` JPY is 92n,
 * `'9.25'` KWD is 9250n. Withdrawn currencies are read too, because refunds of old payments are.
 *
 * @throws GatewayError 200.300.404 for another spelling, 100.550.401 for a code that is no currency
 * with minor units, 100.550.303 for decimals that the currency does not have (`'92.50'` JPY).
 */
export function parseAmount(text: string, code: string, names: AmountNames = mainNames): bigint {
  const currency = currencyOf(code)
  if (currency === undefined || currency.exponent === null)
    throw unknownCurrency(names.currency, code)
  const parts = wireAmount.exec(text)
  if (parts === null) {
    throw new GatewayError('200.300.404', {
      parameterErrors: [{ name: names.amount, message: `must match ${wireAmount.source}` }],
    })
  }
  const whole = parts[1] as string
  const cents = parts[2] ?? '00'
  if (currency.exponent >= wireDecimals) {
    return BigInt(whole + cents) * scaleOf[currency.exponent - wireDecimals]!
  }
  if (cents !== '00') {
    throw new GatewayError('100.550.303', {
      parameterErrors: [
        {
          name: names.amount,
          value: text,
          message: `${code} has no decimals: send ${whole} or ${whole}.00`,
        },
      ],
    })
  }
  return BigInt(whole)
}

/**
 * Whether two decimals can represent this amount. Currencies with three or four decimals can have
 * other amounts, from an acquirer and never from a request.
 */
export function fitsWire(minor: bigint, code: string): boolean {
  const exponent = exponentOf(currencyOf(code))
  return exponent <= wireDecimals || minor % scaleOf[exponent - wireDecimals]! === 0n
}

/**
 * Formats minor units for amount fields, always with two decimals: 9200n EUR and 92n JPY are
 * `'92.00'`. Settlement lines may be negative.
 *
 * @throws RangeError for a currency without minor units, and for an amount with a third decimal,
 * since rounding would show a sum that does not exist. Check `fitsWire` first for such amounts.
 */
export function formatAmount(minor: bigint, code: string): string {
  const exponent = exponentOf(currencyOf(code))
  if (!fitsWire(minor, code))
    throw new RangeError(`two decimals cannot show this amount of ${code}`)
  const hundredths =
    exponent >= wireDecimals
      ? minor / scaleOf[exponent - wireDecimals]!
      : minor * scaleOf[wireDecimals - exponent]!
  const sign = hundredths < 0n ? '-' : ''
  const digits = (hundredths < 0n ? -hundredths : hundredths).toString().padStart(3, '0')
  return `${sign}${digits.slice(0, -wireDecimals)}.${digits.slice(-wireDecimals)}`
}

/** The same for an acquirer's amount with more decimals: the rest is cut. */
export function shownAmount(minor: bigint, code: string): string {
  const exponent = exponentOf(currencyOf(code))
  if (exponent <= wireDecimals) return formatAmount(minor, code)
  const scale = scaleOf[exponent - wireDecimals]!
  return formatAmount((minor / scale) * scale, code)
}

/** All decimals of the currency: 9255n KWD is `'9.255'`. */
export function exactDecimal(minor: bigint, code: string): string {
  const exponent = exponentOf(currencyOf(code))
  const digits = (minor < 0n ? -minor : minor).toString().padStart(exponent + 1, '0')
  const sign = minor < 0n ? '-' : ''
  if (exponent === 0) return `${sign}${digits}`
  return `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`
}
