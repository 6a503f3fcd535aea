/** The card brands as the browser needs them: a table of rows, smaller than the one of the schemas. */
import { brands, rangeLibraryNames } from '@tollgate/schemas'
import cardValidator from 'card-validator'

const names = new Map(rangeLibraryNames)
const codes = [...names.keys()]
const placeOf = (code: string) => (names.has(code) ? codes.indexOf(code) : codes.length)

function rangesOf(code: string, own: readonly (readonly [string, string])[]): string {
  const name = names.get(code)
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
