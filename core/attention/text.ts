/**
 * What an entry of the operators' list says, in words for people. The stored detail has the names and the
 * minor units of the code; JSON shows it as it is.
 */
import { currencyOf } from '@tollgate/schemas'
import { exactDecimal } from '../money.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { hidden, isSecretName } from '../redaction/scrub.ts'

type Detail = Readonly<Record<string, unknown>>

/** How the acquirer told its word. Other sources are steps of the engine. */
const ways: Readonly<Record<string, string>> = {
  answer: 'in its answer',
  'late-answer': 'in a late answer',
  enquiry: 'when asked',
  resend: 'when asked again with the same key',
  event: 'in a message',
  return: 'when the shopper came back',
  settlement: 'in a settlement file',
  reversal: 'when asked for a reversal',
}

const words: Readonly<Record<string, string>> = {
  notReversed: 'that the reversal failed',
  notFound: 'that it knows nothing of the operation',
  reversed: 'that the operation was reversed',
  requested: 'that the reversal is under way',
}

/** Amounts that need the currency of the entry, or of its payment. */
const amounts: Readonly<Record<string, string>> = {
  minor: 'the amount is',
  beyondMinor: 'beyond what is left by',
  leftMinor: 'what is left is',
  chargedBackMinor: 'charged back is',
}

/** @param paymentCurrency Currency of the payment that the entry is about. */
export function attentionText(detail: Detail, paymentCurrency: string | null): string {
  const { why, row, outcome, source, currency, ...others } = detail
  const known = typeof currency === 'string' ? currency : paymentCurrency
  return [
    ...(typeof why === 'string' ? [shown('why', why)] : []),
    ...standing(row, outcome, source),
    ...Object.entries(others).flatMap(([name, value]) => clause(name, value, known)),
    // The currency of an entry without an amount.
    ...(typeof currency === 'string' && !Object.keys(amounts).some((name) => name in others)
      ? [`currency ${currency}`]
      : []),
  ].join('; ')
}

function standing(row: unknown, outcome: unknown, source: unknown): string[] {
  const here = typeof row === 'string' ? [`the payment is ${row} here`] : []
  if (typeof outcome !== 'string') return here
  const told = words[outcome] ?? outcome
  const way = typeof source === 'string' ? (ways[source] ?? `(${source})`) : ''
  return [...here, `the acquirer said ${told} ${way}`.trim()]
}

function clause(name: string, value: unknown, currency: string | null): string[] {
  if (value === null || value === undefined || isEmpty(value)) return []
  const amount = amounts[name]
  if (amount !== undefined) return [`${amount} ${amountText(String(value), currency)}`]
  switch (name) {
    case 'came':
      return [`reported: ${shown(name, value)}`]
    case 'do':
      return [`what to do: ${shown(name, value)}`]
    case 'expected':
      return [`expected: ${shown(name, value)}`]
    case 'refs':
      return [`references of the acquirer: ${shown(name, value)}`]
    case 'by':
      return [`by ${shown(name, value)}`]
    default:
      return [`${spaced(name)} ${shown(name, value)}`]
  }
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

function amountText(minor: string, currency: string | null): string {
  const isKnown = currency !== null && currencyOf(currency)?.exponent != null
  if (!isKnown || !/^-?[0-9]+$/.test(minor)) return `${minor} minor units`
  return `${exactDecimal(BigInt(minor), currency)} ${currency}`
}

/** A text, or the values of a list or of an object, without account numbers and secrets. */
function shown(name: string, value: unknown): string {
  if (isSecretName(name)) return hidden
  if (Array.isArray(value)) return value.map((one) => shown(name, one)).join(', ')
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, inner]) => `${key} ${shown(key, inner)}`)
      .join(', ')
  }
  return maskCardNumbers(String(value))
}

/** `leaseUntil` -> `lease until`. */
const spaced = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
