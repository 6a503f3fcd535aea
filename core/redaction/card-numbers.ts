/**
 * The one detector of card numbers in text: merchants' requests are refused, acquirers' texts
 * masked. Ignores separators between digits, and recognises digits of other scripts. A text with
 * fewer digits than a card number costs one look at each character.
 */
import { isIP } from 'node:net'
import { hasKnownBrand } from './card-number.ts'

/** Lengths of card numbers. */
const shortest = 13
const longest = 19
/** Code units without letter or digit that still join two digits to one number: a column of a table. */
const widestGap = 32
/** The most code units that a card number is found in; a digit of some scripts has two. */
export const longestWritten = 2 * longest + (longest - 1) * widestGap
/** Blanks or hyphens in a row that people write between the groups of a number. */
const widestPlainGap = 3

/** A stretch of text with the digits of a card number; those of overlapping numbers are one stretch. */
export type Stretch = {
  readonly start: number
  readonly end: number
  /** First and behind the last of its digits in `Digits`. */
  readonly from: number
  readonly to: number
}

/** The digits of a text. */
export type Digits = {
  readonly values: readonly number[]
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** The separator between a digit and the previous one. */
const gap = { none: 0, plain: 1, wide: 2, break: 3 } as const

/**
 * Stretches with 13 to 19 digits that pass the Luhn check.
 *
 * @param accept `brand`: only in the range and with the length of a known brand. `any`: also others, where
 * nothing but blanks and hyphens is between the groups.
 */
export function cardNumbersIn(
  text: string,
  accept: 'brand' | 'any',
): { readonly found: readonly Stretch[]; readonly digits: Digits } {
  if (!hasDigits(text, shortest)) return nothing
  const { values, starts, ends, gaps } = read(text)
  const found: Stretch[] = []
  for (let first = 0; first + shortest <= values.length; first++) {
    if (gaps[first] === gap.none) continue
    // Luhn sums of the digits so far, with the last one counted once and counted double.
    let sum = 0
    let other = 0
    let isPlain = true
    let firstEight = 0
    const limit = Math.min(values.length, first + longest)
    for (let next = first; next < limit; next++) {
      if (next > first) {
        if (gaps[next] === gap.break) break
        if (gaps[next] === gap.wide) isPlain = false
      }
      const digit = values[next]!
      const length = next - first + 1
      if (length <= 8) firstEight = firstEight * 10 + digit
      const before = sum
      sum = other + digit
      other = before + (digit > 4 ? digit * 2 - 9 : digit * 2)
      const isWhole = next + 1 === values.length || gaps[next + 1] !== gap.none
      if (!isWhole || length < shortest || sum % 10 !== 0) continue
      if (!(accept === 'any' && isPlain) && !hasKnownBrand(firstEight, length)) continue
      const previous = found.at(-1)
      if (previous !== undefined && first < previous.to) {
        const to = Math.max(previous.to, next + 1)
        found[found.length - 1] = { ...previous, to, end: ends[to - 1]! }
      } else {
        found.push({ start: starts[first]!, end: ends[next]!, from: first, to: next + 1 })
      }
    }
  }
  return { found, digits: { values, starts, ends } }
}

const nothing = { found: [], digits: { values: [], starts: [], ends: [] } }

/**
 * Whether a whole text is an address of the internet: the groups of one may pass for a card number. So may a
 * card number for an address, with colons between its groups. Beside a field for addresses it is one only with
 * a letter among its digits.
 */
export const isInternetAddress = (text: string, isExpected: boolean): boolean =>
  isIP(text) !== 0 && (isExpected || /[a-f]/i.test(text))

/** Whether a text has at least so many digits. */
export function hasDigits(text: string, least: number): boolean {
  if (text.length < least) return false
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80 ? code >= zero && code <= nine : digitAt(text, at) !== undefined) count++
    if (count === least) return true
  }
  return false
}

/** Whether a text has so many digits with nothing but blanks and marks between them. */
export function hasRowOfDigits(text: string, least: number): boolean {
  if (!hasDigits(text, least)) return false
  let count = 0
  for (const one of read(text).gaps) {
    count = one === gap.break ? 1 : count + 1
    if (count === least) return true
  }
  return false
}

/** All digits of a text in ASCII, without the characters between them. */
export function digitsOf(text: string): string {
  let digits = ''
  for (let at = 0; at < text.length; at++) digits += digitAt(text, at) ?? ''
  return digits
}

function read(text: string) {
  const values: number[] = []
  const starts: number[] = []
  const ends: number[] = []
  const gaps: number[] = []
  let end = 0
  for (let at = 0; at < text.length; at++) {
    const value = digitAt(text, at)
    if (value === undefined) continue
    gaps.push(values.length === 0 ? gap.break : between(text, end, at))
    values.push(value)
    starts.push(at)
    if (isHighSurrogate(text.charCodeAt(at))) at++
    end = at + 1
    ends.push(end)
  }
  return { values, starts, ends, gaps }
}

function between(text: string, from: number, to: number): number {
  if (from === to) return gap.none
  if (to - from > widestGap) return gap.break
  let isPlain = to - from <= widestPlainGap
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x20 || code === 0x2d) continue
    isPlain = false
    const isWord =
      code < 0x80
        ? (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
        : word.test(String.fromCodePoint(text.codePointAt(at)!))
    if (isWord) return gap.break
    if (isHighSurrogate(code)) at++
  }
  return isPlain ? gap.plain : gap.wide
}

const word = /[\p{L}\p{N}]/u
const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff
const zero = 0x30
const nine = 0x39

/** The digit at this place, in any script, also in a circle or raised; undefined for anything else. */
function digitAt(text: string, at: number): number | undefined {
  const code = text.charCodeAt(at)
  if (code < 0x80) return code >= zero && code <= nine ? code - zero : undefined
  // Most letters that are not ASCII lie where there are no digits.
  if (code < 0x660 && code !== 0xb2 && code !== 0xb3 && code !== 0xb9) return undefined
  const point = text.codePointAt(at)!
  const known = foreign.get(point)
  if (known !== undefined) return known === none ? undefined : known
  const value = foreignDigit(point)
  // Bounded: there are fewer digits than this, and a text cannot fill it with others.
  if (value !== undefined) foreign.set(point, value)
  else if (foreign.size < 4096) foreign.set(point, none)
  return value
}

const none = -1
const foreign = new Map<number, number>()

/** First of the digits 1 to 9 that Unicode does not derive from plain ones, in circles of some kind. */
const circled = [0x24f5, 0x2776, 0x2780, 0x278a]
const circledZeros = [0x24ff, 0x1f10b, 0x1f10c]

function foreignDigit(point: number): number | undefined {
  const character = String.fromCodePoint(point)
  if (/\p{Nd}/u.test(character)) {
    // Digits stand in tens from zero to nine, some tens right behind others.
    let first = point
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--
    return (point - first) % 10
  }
  if (circledZeros.includes(point)) return 0
  const start = circled.find((one) => one <= point && point < one + 9)
  if (start !== undefined) return point - start + 1
  if (!/\p{No}/u.test(character)) return undefined
  const plain = /^[^\p{L}\p{N}]?([0-9])[^\p{L}\p{N}]?$/u.exec(character.normalize('NFKC'))
  return plain === null ? undefined : Number(plain[1])
}
