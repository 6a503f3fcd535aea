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

const entity = /&(?:#x([0-9a-f]{1,12})|#([0-9]{1,12})|(amp|apos|gt|lt|nbsp|quot));/gi
const inJson = /\\(?:u([0-9a-f]{4})|(["\\/]))/gi

/** The text with one layer of escapes taken away; the same where there is none. Linear in the text. */
export function unescaped(text: string): string {
  let result = text
  if (result.includes('&')) {
    result = result.replace(entity, (all, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? all
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : all
    })
  }
  if (result.includes('\\')) {
    result = result.replace(inJson, (_, code: string | undefined, sign: string) =>
      code === undefined ? sign : String.fromCharCode(Number.parseInt(code, 16)),
    )
  }
  return result.includes('%') ? percentDecoded(result) : result
}

/** How often a text may be escaped within another where card data is looked for: a form in a form. */
const layersSearched = 2

/** The text as it stands, and as it reads with one and with two layers of escapes taken away. */
export function layersOf(text: string): readonly string[] {
  const layers = [text]
  for (let layer = 0; layer < layersSearched; layer += 1) {
    const outer = layers[layer]!
    const inner = mayBeEscaped.test(outer) ? unescaped(outer) : outer
    if (inner === outer) break
    layers.push(inner)
  }
  return layers
}

const mayBeEscaped = /[%&\\]/

/** Bytes that follow each other are one text; what is no byte stays as it is. */
function percentDecoded(text: string): string {
  let result = ''
  let copied = 0
  for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', Math.max(copied, at + 1))) {
    let end = at
    while (text[end] === '%' && isByte(text, end + 1)) end += 3
    if (end === at) continue
    result += text.slice(copied, at) + textOfBytes(text.slice(at, end).replaceAll('%', ''))
    copied = end
  }
  return result + text.slice(copied)
}

/** One byte is most often a plain character: texts full of those are read without a buffer for each. */
function textOfBytes(hex: string): string {
  const first = Number.parseInt(hex.slice(0, 2), 16)
  return hex.length === 2 && first < 0x80
    ? String.fromCharCode(first)
    : Buffer.from(hex, 'hex').toString('utf8')
}

const isByte = (text: string, at: number) => /^[0-9a-f]{2}$/i.test(text.slice(at, at + 2))
