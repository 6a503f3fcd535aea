/** The card brands as the browser needs them: a table of rows, smaller than the one of the schemas. */
import { brands } from '@tollgate/schemas'
import cardValidator from 'card-validator'

/**
 * Names of the card-range library for the brands whose ranges come from there. Of two equally long ranges the
 * one that comes first here decides, as in the engine.
 */
const libraryNames: Readonly<Record<string, string>> = {
  VISA: 'visa',
  MASTER: 'mastercard',
  AMEX: 'american-express',
  DINERS: 'diners-club',
  DISCOVER: 'discover',
  TROY: 'troy',
  JCB: 'jcb',
  UNIONPAY: 'unionpay',
  NARANJA: 'naranja',
  VERVE: 'verve',
  MAESTRO: 'maestro',
  ELO: 'elo',
  MIR: 'mir',
  HIPER: 'hiper',
  HIPERCARD: 'hipercard',
}

const names = Object.keys(libraryNames)
const placeOf = (code: string) => (names.includes(code) ? names.indexOf(code) : names.length)

function rangesOf(code: string, own: readonly (readonly [string, string])[]): string {
  const name = libraryNames[code]
  const patterns = name === undefined ? [] : cardValidator.creditCardType.getTypeInfo(name).patterns
  const theirs = patterns.map((pattern) =>
    Array.isArray(pattern) ? [String(pattern[0]), String(pattern[1])] : [String(pattern)],
  )
  // Of two equally long ranges, one of our own tables decides.
  const ours = own.map(([from, to]) => (from === to ? [`!${from}`] : [`!${from}`, to]))
  return [...ours, ...theirs].map((range) => range.join('-')).join(' ')
}

export function cardBrandsModule(): string {
  const rows = brands
    .filter(({ account }) => account === 'card')
    .sort((one, other) => placeOf(one.code) - placeOf(other.code))
    .map(({ code, numberLengths, cvvLengths, hosts, ranges }) =>
      JSON.stringify([code, numberLengths, cvvLengths, hosts, rangesOf(code, ranges)]),
    )
  return `/** Card brands: code, lengths of numbers, lengths of security codes, host brands, first digits. Generated. */
export const cardBrands: readonly (readonly [
  code: string,
  numberLengths: readonly number[],
  cvvLengths: readonly number[],
  hosts: readonly string[],
  ranges: string,
])[] = [
  ${rows.join(',\n  ')},
]
`
}

export function brandTitlesModule(): string {
  const titles = Object.fromEntries(brands.map(({ code, title }) => [code, title]))
  const accounts = brands
    .filter(({ account, accountNeeded }) => account === 'bankAccount' && accountNeeded)
    .map(({ code }) => code)
  return `/** Titles of brands by their codes, and the brands that debit a bank account. Generated. */
export const brandTitles: Readonly<Record<string, string>> = ${JSON.stringify(titles, null, 2)}

export const bankAccountBrands: readonly string[] = ${JSON.stringify(accounts)}
`
}
