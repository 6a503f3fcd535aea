import { type Brand, brandOf, brands, rangeLibraryNames } from '@tollgate/schemas'
import cardValidator from 'card-validator'

/**
 * Properties of a card number. The ranges of the card-range library and those of Tollgate are merged into one
 * sorted index when the module loads; a look-up is a binary search.
 */

type Claim = { brand: Brand; from: number; to: number; digits: number }
/** First numbers of consecutive stretches in which the same schemes have ranges, with those schemes. */
type Ranges = {
  starts: number[]
  detected: (Brand | undefined)[]
  codes: ReadonlySet<string>[]
  /** Lengths that numbers of any of the schemes have there. */
  lengths: ReadonlySet<number>[]
}

/** Number of first digits that distinguish ranges. No card number of the API is shorter. */
const rangeDigits = 8

function claim(brand: Brand, from: string, to: string): Claim {
  const digits = from.length
  return {
    brand,
    from: Number(from.padEnd(rangeDigits, '0')),
    to: Number(to.padEnd(rangeDigits, '9')),
    digits,
  }
}

/** Tollgate's ranges come first: of two equally exact ranges, they decide. */
function allClaims(): Claim[] {
  const own = brands.flatMap((brand) => brand.ranges.map(([from, to]) => claim(brand, from, to)))
  const theirs = rangeLibraryNames.flatMap(([code, name]) => {
    const brand = brandOf(code)
    if (brand === undefined) throw new Error(`brand table without ${code}`)
    return cardValidator.creditCardType.getTypeInfo(name).patterns.map((pattern) => {
      const [from, to] = Array.isArray(pattern) ? pattern : [pattern, pattern]
      return claim(brand, String(from), String(to))
    })
  })
  return [...own, ...theirs]
}

function indexRanges(claims: readonly Claim[]): Ranges {
  const edges = new Set([0, ...claims.flatMap(({ from, to }) => [from, to + 1])])
  const starts = [...edges].sort((a, b) => a - b)
  const ranges: Ranges = { starts, detected: [], codes: [], lengths: [] }
  for (const start of starts) {
    const here = claims.filter(({ from, to }) => from <= start && start <= to)
    // The library guesses Maestro for any other 6; a scheme with a matching range takes precedence.
    const known = here.filter(({ brand, digits }) => brand.code !== 'MAESTRO' || digits > 1)
    const owners = known.length > 0 ? known : here
    const exact = owners.reduce<Claim | undefined>(
      (best, next) => (best === undefined || next.digits > best.digits ? next : best),
      undefined,
    )
    ranges.detected.push(exact?.brand)
    ranges.codes.push(new Set(owners.map(({ brand }) => brand.code)))
    ranges.lengths.push(new Set(owners.flatMap(({ brand }) => brand.numberLengths)))
  }
  return ranges
}

const claims = allClaims()
const ranges = indexRanges(claims)
const withRanges: ReadonlySet<string> = new Set(claims.map(({ brand }) => brand.code))
/** Whether the ranges of a brand are known, by brand code. */
const checkable: ReadonlySet<string> = new Set(
  brands
    .filter(({ code, hosts }) => withRanges.has(code) || hosts.some((host) => withRanges.has(host)))
    .map(({ code }) => code),
)

function rangeOf(number: string): number {
  return rangeAt(Number(number.slice(0, rangeDigits).padEnd(rangeDigits, '0')))
}

function rangeAt(first: number): number {
  let low = 0
  let high = ranges.starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (ranges.starts[middle]! <= first) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * The scheme whose range a card number lies in, the most exact one where ranges overlap. Domestic
 * brands on the ranges of an international scheme are not told apart by the number.
 */
export function detectBrand(number: string): Brand | undefined {
  return ranges.detected[rangeOf(number)]
}

/** Whether a scheme has numbers of this length that begin with these eight digits. */
export function hasKnownBrand(firstEight: number, length: number): boolean {
  return ranges.lengths[rangeAt(firstEight)]!.has(length)
}

/** Lengths of card numbers. */
export const shortestNumber = 13
export const longestNumber = 19

/** First digits by which numbers of no scheme are told apart at once. */
const prefixDigits = 4

/** For each four first digits the lengths of numbers that begin so, as bits: 1 for thirteen digits. */
const lengthsByPrefix = new Uint8Array(10 ** prefixDigits)
const perPrefix = 10 ** (rangeDigits - prefixDigits)
for (const [index, start] of ranges.starts.entries()) {
  const end = (ranges.starts[index + 1] ?? 10 ** rangeDigits) - 1
  let bits = 0
  for (const length of ranges.lengths[index]!) {
    if (length >= shortestNumber) bits |= 1 << (length - shortestNumber)
  }
  const last = Math.min(Math.floor(end / perPrefix), lengthsByPrefix.length - 1)
  for (let prefix = Math.floor(start / perPrefix); prefix <= last; prefix++) {
    lengthsByPrefix[prefix]! |= bits
  }
}

/** The lengths, as bits, that numbers with these four first digits can have at most. */
export const lengthsOf = (firstFour: number): number => lengthsByPrefix[firstFour]!

/** Whether the check digit of a number is right (ISO/IEC 7812, mod 10). Digits only. */
export function passesLuhn(number: string): boolean {
  let sum = 0
  let doubled = false
  for (let index = number.length - 1; index >= 0; index--) {
    let digit = number.charCodeAt(index) - 48
    if (doubled) {
      digit *= 2
      if (digit > 9) digit -= 9
    }
    sum += digit
    doubled = !doubled
  }
  return sum % 10 === 0
}

/** Whether a card number can be of a brand: its length, and a range of the brand or of one of its hosts. */
export function fitsBrand(number: string, brand: Brand): boolean {
  if (brand.numberLengths.length > 0 && !brand.numberLengths.includes(number.length)) return false
  if (!checkable.has(brand.code)) return true
  const codes = ranges.codes[rangeOf(number)]!
  return codes.has(brand.code) || brand.hosts.some((host) => codes.has(host))
}

/** Schemes whose ranges nobody else's numbers lie in. Maestro shares its own with domestic schemes. */
const international = ['VISA', 'MASTER', 'AMEX', 'DINERS', 'DISCOVER', 'JCB', 'UNIONPAY']

/**
 * Whether a number is one of an international scheme, and the brand neither that scheme nor one on its
 * cards. Brands without known ranges fit every number.
 */
export function isOfOtherScheme(number: string, brand: Brand): boolean {
  const codes = ranges.codes[rangeOf(number)]!
  const known = [brand.code, ...brand.hosts]
  return international.some((code) => codes.has(code)) && !known.some((code) => codes.has(code))
}
