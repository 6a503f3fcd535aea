/** Ways to write a character that stand for it in XML, JSON and URLs. */

/** Of the named ones of XML; others mean nothing without a document type. */
const named: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  nbsp: ' ',
  quot: '"',
}

/** The longest that a character is written: `&#x0000000041;` and such. Longer numbers are not read. */
export const escapedWidth = 16

/** The text with one layer of escapes taken away; the same where there is none. Linear in the text. */
export function unescaped(text: string): string {
  return withoutMark(withoutMark(withoutMark(text, '&', entityAt), '\\', inJsonAt), '%', bytesAt)
}

/** What stands for an escape, and where it ends; undefined where none begins. */
type Escape = { readonly means: string; readonly end: number }

function withoutMark(
  text: string,
  mark: string,
  escapeAt: (text: string, at: number) => Escape | undefined,
): string {
  let at = text.indexOf(mark)
  if (at === -1) return text
  let result = ''
  let copied = 0
  while (at !== -1) {
    const read = escapeAt(text, at)
    if (read !== undefined) {
      result += text.slice(copied, at) + read.means
      copied = read.end
    }
    at = text.indexOf(mark, read?.end ?? at + 1)
  }
  return copied === 0 ? text : result + text.slice(copied)
}

/** The most digits of a number in an entity. */
const entityDigits = 12

function entityAt(text: string, at: number): Escape | undefined {
  if (text[at + 1] !== '#') return namedAt(text, at)
  const isHex = text[at + 2] === 'x' || text[at + 2] === 'X'
  const from = at + (isHex ? 3 : 2)
  let end = from
  let code = 0
  for (; end < from + entityDigits; end++) {
    const digit = hexAt(text, end)
    if (digit === none || (!isHex && digit > 9)) break
    code = code * (isHex ? 16 : 10) + digit
  }
  if (end === from || text[end] !== ';' || code > 0x10ffff) return undefined
  return { means: String.fromCodePoint(code), end: end + 1 }
}

const longestName = Math.max(...Object.keys(named).map((name) => name.length))

function namedAt(text: string, at: number): Escape | undefined {
  let end = at + 1
  while (end <= at + longestName && text[end] !== ';') end++
  const means = text[end] === ';' ? named[text.slice(at + 1, end).toLowerCase()] : undefined
  return means === undefined ? undefined : { means, end: end + 1 }
}

function inJsonAt(text: string, at: number): Escape | undefined {
  const sign = text[at + 1]
  if (sign === '"' || sign === '\\' || sign === '/') return { means: sign, end: at + 2 }
  if (sign !== 'u' && sign !== 'U') return undefined
  let code = 0
  for (let digit = at + 2; digit < at + 6; digit++) {
    const value = hexAt(text, digit)
    if (value === none) return undefined
    code = code * 16 + value
  }
  return { means: String.fromCharCode(code), end: at + 6 }
}

/** Bytes that follow each other are one text; what is no byte stays as it is. */
function bytesAt(text: string, at: number): Escape | undefined {
  const first = byteAt(text, at)
  if (first === none) return undefined
  const bytes = [first]
  let end = at + 3
  for (let byte = byteAt(text, end); byte !== none; byte = byteAt(text, end)) {
    bytes.push(byte)
    end += 3
  }
  const means =
    bytes.length === 1 && first < 0x80
      ? String.fromCharCode(first)
      : Buffer.from(bytes).toString('utf8')
  return { means, end }
}

function byteAt(text: string, at: number): number {
  if (text[at] !== '%') return none
  const [high, low] = [hexAt(text, at + 1), hexAt(text, at + 2)]
  return high === none || low === none ? none : 16 * high + low
}

const none = -1

/** The value of a hexadecimal digit; `none` for anything else, and behind the text. */
function hexAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : none
}

/** How often a text may be escaped within another where card data is looked for: a form in a form. */
const layersSearched = 2

/** The text as it stands, as it reads with one and with two layers of escapes taken away, and as in an e-mail. */
export function layersOf(text: string): readonly string[] {
  const layers = [text]
  for (let layer = 0; layer < layersSearched; layer += 1) {
    const outer = layers[layer]!
    const inner = mayBeEscaped.test(outer) ? unescaped(outer) : outer
    if (inner === outer) break
    layers.push(inner)
  }
  // An equals sign has a meaning of its own in most texts, so only digits behind it are read as escapes.
  if (text.includes('=3')) layers.push(text.replace(/=3([0-9])/g, '$1'))
  return layers
}

const mayBeEscaped = /[%&\\]/
