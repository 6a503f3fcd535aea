import { cardBrands } from '../../generated/card-brands.ts'

export type CardBrand = {
  readonly code: string
  readonly numberLengths: readonly number[]
  readonly cvvLengths: readonly number[]
  /** Brands whose ranges also contain this one. */
  readonly hosts: readonly string[]
}

/** A stretch of first digits that belongs to one brand; both ends are equally long. */
type Range = { readonly brand: string; readonly from: string; readonly to: string }

type Row = (typeof cardBrands)[number]

const byCode: ReadonlyMap<string, Row> = new Map(cardBrands.map((row) => [row[0], row]))

/** Ranges of our own tables come first: of two equally long ones they decide. */
const ranges: readonly Range[] = cardBrands
  .flatMap(([brand, , , , text]) =>
    text === '' ? [] : text.split(' ').map((range) => ({ brand, range })),
  )
  .sort((one, other) => Number(other.range[0] === '!') - Number(one.range[0] === '!'))
  .map(({ brand, range }) => {
    const [from = '', to = from] = range.replace('!', '').split('-')
    return { brand, from, to }
  })

export const longestNumber = 19

export function cardBrand(code: string): CardBrand {
  const row = byCode.get(canonical(code))
  return { code, numberLengths: row?.[1] ?? [], cvvLengths: row?.[2] ?? [], hosts: row?.[3] ?? [] }
}

export const isCardBrand = (code: string) => byCode.has(canonical(code))

function canonical(code: string): string {
  if (code === 'AMERICAN_EXPRESS') return 'AMEX'
  if (code === 'DINERS_CLUB') return 'DINERS'
  return code === 'TARJETANARANJA' ? 'NARANJA' : code
}

/** How the first digits of a number and a range meet: the whole number lies in it, or may still do. */
function meets(range: Range, number: string): 'in' | 'maybe' | 'not' {
  const known = Math.min(range.from.length, number.length)
  const start = number.slice(0, known)
  if (start < range.from.slice(0, known) || start > range.to.slice(0, known)) return 'not'
  return number.length >= range.from.length ? 'in' : 'maybe'
}

/** The scheme whose range a number lies in, the most exact one where ranges overlap. */
export function schemeOf(number: string): string | null {
  let best: Range | null = null
  for (const range of ranges) {
    if (meets(range, number) !== 'in') continue
    if (best === null || range.from.length > best.from.length) best = range
  }
  return best?.brand ?? null
}

/**
 * The accepted brands that a number is of, or may become while it is typed; the most likely first.
 * A card of two brands has both: a domestic one on the range of an international scheme.
 */
export function brandsOf(
  number: string,
  accepted: readonly string[],
  priority: readonly string[] = [],
): string[] {
  if (number === '') return []
  const known = ranges.filter((range) => meets(range, number) === 'in')
  // The table guesses Maestro for any 6; schemes with a longer range take precedence.
  const exact = known.filter(({ brand, from }) => brand !== 'MAESTRO' || from.length > 1)
  const certain = exact.length > 0 ? exact : known
  const possible = certain.length > 0 ? certain : ranges.filter((r) => meets(r, number) === 'maybe')
  const schemes = new Set(possible.map(({ brand }) => brand))
  const scheme = schemeOf(number)
  const fitting = accepted.filter((code) => {
    const row = byCode.get(canonical(code))
    if (row === undefined) return false
    return schemes.has(row[0]) || row[3].some((host) => schemes.has(host))
  })
  const rank = (code: string) => {
    const chosen = priority.indexOf(code)
    if (chosen >= 0) return chosen - 1_000
    return canonical(code) === scheme ? 0 : 1 + accepted.indexOf(code)
  }
  return fitting.sort((one, other) => rank(one) - rank(other))
}

/** Places of the blanks in a card number. */
export function gapsOf(number: string): readonly number[] {
  const scheme = schemeOf(number)
  if (scheme === 'AMEX') return [4, 10]
  if (scheme === 'DINERS' && number.length <= 14) return [4, 10]
  return [4, 8, 12, 16]
}

export function longestOf(number: string): number {
  const scheme = schemeOf(number)
  const lengths = scheme === null ? [] : cardBrand(scheme).numberLengths
  return lengths.length === 0 ? longestNumber : Math.max(...lengths)
}
