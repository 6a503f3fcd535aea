/**
 * The one detector of card numbers in text: merchants' requests are refused, acquirers' texts
 * masked. Ignores separators between digits, and recognises digits of other scripts. A text with
 * fewer digits than a card number costs one look at each character.
 */
import { isIP } from 'node:net'
import { hasKnownBrand, lengthsOf, longestNumber, shortestNumber } from './card-number.ts'

/** Code units without letter or digit that still join two digits to one number: a column of a table. */
const widestGap = 32
/** The most code units that a card number is found in; a digit of some scripts has two. */
export const longestWritten = 2 * longestNumber + (longestNumber - 1) * widestGap
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

/** Where the digits of a text begin and end, until the next text is searched. */
export type Digits = {
  readonly starts: ArrayLike<number>
  readonly ends: ArrayLike<number>
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
  const found: Stretch[] = []
  if (!hasDigits(text, shortestNumber)) return { found, digits: room }
  const read = readDigits(text)
  const { count, values, gaps, sums } = read
  let rowEnd = 0
  let plainEnd = 0
  for (let first = 0; first + shortestNumber <= count; first++) {
    if (gaps[first] === gap.none) continue
    if (rowEnd <= first) rowEnd = endOf(read, first, gap.wide)
    const most = Math.min(rowEnd - first, longestNumber)
    if (most < shortestNumber) continue
    if (accept === 'any' && plainEnd <= first) plainEnd = endOf(read, first, gap.plain)
    const plain = plainEnd - first
    const lengths = plain < shortestNumber ? lengthsOf(numberAt(values, first, 4)) : allLengths
    for (let length = shortestNumber; length <= most; length++) {
      if ((lengths & (1 << (length - shortestNumber))) === 0) continue
      const end = first + length
      if (end < count && gaps[end] === gap.none) continue
      const sum = sums[(end - 1) & 1]!
      if ((sum[end]! - sum[first]!) % 10 !== 0) continue
      if (length > plain && !hasKnownBrand(numberAt(values, first, 8), length)) continue
      add(found, first, end, read)
    }
  }
  return { found, digits: read }
}

/** The bits of all lengths from 13 to 19. */
const allLengths = 0x7f

function numberAt(values: Uint8Array, first: number, length: number): number {
  let number = 0
  for (let at = first; at < first + length; at++) number = number * 10 + values[at]!
  return number
}

/** Behind the last digit that follows `first` with no wider separator. */
function endOf({ gaps, count }: Read, first: number, widest: number): number {
  let end = first + 1
  while (end < count && gaps[end]! <= widest) end++
  return end
}

function add(found: Stretch[], from: number, to: number, { starts, ends }: Digits): void {
  const previous = found.at(-1)
  if (previous === undefined || from >= previous.to) {
    found.push({ start: starts[from]!, end: ends[to - 1]!, from, to })
  } else if (to > previous.to) {
    found[found.length - 1] = { ...previous, to, end: ends[to - 1]! }
  }
}

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
  const read = readDigits(text)
  for (let first = 0; first + least <= read.count; ) {
    const end = endOf(read, first, gap.wide)
    if (end - first >= least) return true
    first = end
  }
  return false
}

/** All digits of a text in ASCII, without the characters between them. */
export function digitsOf(text: string): string {
  const { values, count } = readDigits(text)
  return Buffer.from(values.subarray(0, count).map((value) => value + zero)).toString('latin1')
}

/** The digits of a text, with what the search needs of them; room for those of most texts is made once. */
type Read = Digits & {
  count: number
  readonly values: Uint8Array
  readonly gaps: Uint8Array
  readonly starts: Int32Array
  readonly ends: Int32Array
  /**
   * Luhn sums of the digits before each place: in the first one the digits at even places count once and the others
   * doubled, in the second one the other way round.
   */
  readonly sums: readonly [Int32Array, Int32Array]
}

const roomFor = (digits: number): Read => ({
  count: 0,
  values: new Uint8Array(digits),
  gaps: new Uint8Array(digits),
  starts: new Int32Array(digits),
  ends: new Int32Array(digits),
  sums: [new Int32Array(digits + 1), new Int32Array(digits + 1)],
})

const room = roomFor(4096)

function readDigits(text: string): Read {
  const read = text.length <= room.values.length ? room : roomFor(text.length)
  const { values, gaps, starts, ends, sums } = read
  let count = 0
  let since: number = gap.break
  let end = 0
  for (let at = 0; at < text.length; at++) {
    const value = digitAt(text, at)
    if (value === undefined) {
      if (since !== gap.break) since = widened(since, text, at, end)
      continue
    }
    const doubled = value > 4 ? 2 * value - 9 : 2 * value
    const isEven = (count & 1) === 0
    sums[0][count + 1] = sums[0][count]! + (isEven ? value : doubled)
    sums[1][count + 1] = sums[1][count]! + (isEven ? doubled : value)
    values[count] = value
    gaps[count] = since
    starts[count] = at
    if (isHighSurrogate(text.charCodeAt(at))) at++
    end = at + 1
    ends[count++] = end
    since = gap.none
  }
  read.count = count
  return read
}

/** The separator since the last digit, with one more character. */
function widened(since: number, text: string, at: number, end: number): number {
  const code = text.charCodeAt(at)
  const width = at + 1 - end
  if (width > widestGap) return gap.break
  if (code === 0x20 || code === 0x2d) {
    return since !== gap.wide && width <= widestPlainGap ? gap.plain : gap.wide
  }
  const isWord =
    code < 0x80
      ? (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
      : word.test(String.fromCodePoint(text.codePointAt(at)!))
  return isWord ? gap.break : gap.wide
}

const word = /[\p{L}\p{N}]/u
const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff
const zero = 0x30
const nine = 0x39

/** The digit at this place, in any script, also in a circle or raised; undefined for anything else. */
export function digitAt(text: string, at: number): number | undefined {
  const code = text.charCodeAt(at)
  if (code < 0x80) return code >= zero && code <= nine ? code - zero : undefined
  // Most letters that are not ASCII lie where there are no digits.
  if (code < 0x660 && code !== 0xb2 && code !== 0xb3 && code !== 0xb9) return undefined
  const point = text.codePointAt(at)!
  const known = foreign[point]!
  if (known !== unseen) return known === none ? undefined : known - 1
  const value = foreignDigit(point)
  foreign[point] = value === undefined ? none : value + 1
  return value
}

const unseen = 0
const none = -1
/** Each code point that was looked at: `none`, or the value of the digit and one. Senders choose which ones, so all have room. */
const foreign = new Int8Array(0x110000)
/** Digits that are not ASCII; those of Chinese, plain and as on cheques, are letters for Unicode. */
for (const digits of ['〇一二三四五六七八九', '零壹贰叁肆伍陆柒捌玖', '零壹貳參肆伍陸柒捌玖']) {
  for (const [value, digit] of [...digits].entries()) foreign[digit.codePointAt(0)!] = value + 1
}

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
