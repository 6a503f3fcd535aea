/**
 * XML for connectors: `@tollgate/plugin-kit/xml`. Documents are read without declarations and entities of
 * their own, and written with every text escaped. This module alone loads the parser.
 */
import { SaxesParser } from 'saxes'
import { Sensitive } from './sensitive.ts'

/** An element that was read. Names keep their prefix, `soap:Body` say. */
export type XmlElement = {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  /** The texts directly within the element, joined; white space is kept. */
  readonly text: string
}

export type XmlReadOptions = {
  /** Deepest nesting of elements. Default 64. */
  readonly depth?: number
  /** Most elements. Default 100,000. */
  readonly elements?: number
}

/**
 * Reads a whole document.
 *
 * @throws Error for a text that is no well-formed XML 1.0, declares anything in a document type, has an unknown entity,
 * or exceeds a limit. A document type that only names an address is left out: nothing is fetched. The message quotes nothing, because anybody can send a message.
 */
export function readXml(
  document: Buffer | string,
  { depth = 64, elements = 100_000 }: XmlReadOptions = {},
): XmlElement {
  const text = typeof document === 'string' ? document : decoded(document)
  const parser = new SaxesParser({ position: false })
  const path: Reading[] = []
  let root: Reading | undefined
  let count = 0
  parser.on('error', () => {
    throw unreadable('it is not well-formed')
  })
  parser.on('doctype', (type) => {
    if (!external.test(type)) throw unreadable('it has a document type with more than an address')
  })
  parser.on('opentag', ({ name, attributes }) => {
    count += 1
    if (count > elements) throw unreadable(`it has more than ${elements} elements`)
    if (path.length >= depth) throw unreadable(`it is nested deeper than ${depth} elements`)
    // Without namespaces, which the parser would resolve, attributes are texts.
    const texts = attributes as Readonly<Record<string, string>>
    const element: Reading = { name, attributes: texts, children: [], text: '' }
    path.at(-1)?.children.push(element)
    root ??= element
    path.push(element)
  })
  parser.on('closetag', () => void path.pop())
  const add = (more: string) => {
    const within = path.at(-1)
    if (within !== undefined) within.text += more
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.write(text).close()
  if (root === undefined) throw unreadable('it has no element')
  return root
}

/** A document type elsewhere, which nobody fetches. Declarations of its own could name files, and grow without end. */
const external = /^\s*[^\s[<>"']+\s+(SYSTEM|PUBLIC\s+("[^"]*"|'[^']*'))\s*("[^"[<]*"|'[^'[<]*')\s*$/

type Reading = {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Reading[]
  text: string
}

const unreadable = (why: string) => new Error(`The XML cannot be read: ${why}.`)

/** UTF-8, or UTF-16 with its mark; another encoding is refused and never guessed. */
function decoded(bytes: Buffer): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? 'utf-16le'
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? 'utf-16be'
        : 'utf-8'
  const declared = /^\s*<\?xml[^>]{0,80}?\sencoding\s*=\s*["']([\w.-]{1,40})["']/.exec(
    bytes.subarray(0, 200).toString('latin1'),
  )?.[1]
  const label = encoding === 'utf-8' && declared !== undefined ? declared : encoding
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    throw unreadable('its characters are not those of its encoding')
  }
}

/**
 * The text of the only element at a path below `from`, without white space around it; undefined where there is
 * none. Names are compared without their prefix.
 *
 * @throws Error when the path leads to several elements: which one counts would be a guess.
 */
export function xmlText(from: XmlElement, ...path: readonly string[]): string | undefined {
  return xmlElement(from, ...path)?.text.trim()
}

/** The only element at a path below `from`, as `xmlText` finds it. */
export function xmlElement(from: XmlElement, ...path: readonly string[]): XmlElement | undefined {
  let found: XmlElement | undefined = from
  for (const name of path) {
    const fitting: readonly XmlElement[] =
      found?.children.filter((child) => localName(child.name) === name) ?? []
    if (fitting.length > 1) throw unreadable(`it has ${fitting.length} elements ${name}`)
    found = fitting[0]
  }
  return found
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** Content of an element that is written. Absent values (`undefined`) write no element. */
export type XmlContent =
  | string
  | number
  | bigint
  | Sensitive
  | undefined
  | readonly XmlContent[]
  | XmlNode

/** `{ Name: content }`; attributes stand under `@name`, the text of an element with attributes under `#text`. */
export type XmlNode = { readonly [name: string]: XmlContent }

/**
 * Writes a document with one root element, for `body` of a request:
 *
 * ```ts
 * http.request('POST', url, {
 *   moves: true,
 *   headers: { 'content-type': 'text/xml; charset=utf-8' },
 *   body: writeXml({ Sale: { '@version': '2', Card: instrument.number, Order: 'A & B' } }),
 * })
 * ```
 *
 * A list writes one element for each of its members. `Sensitive` values become parts of their own, which `http` reveals
 * while it sends and keeps out of transcripts.
 *
 * @throws Error for a name that is none, a control character, which XML cannot hold, or another number of roots
 * than one.
 */
export function writeXml(root: XmlNode): (string | Sensitive)[] {
  const writing = new Parts()
  writing.add('<?xml version="1.0" encoding="UTF-8"?>')
  const names = Object.keys(root)
  if (names.length !== 1 || Array.isArray(root[names[0]!])) {
    throw new Error('an XML document has exactly one root element')
  }
  writeElement(writing, names[0]!, root[names[0]!])
  return writing.all
}

class Parts {
  readonly all: (string | Sensitive)[] = []

  add(part: string | Sensitive): void {
    const last = this.all.at(-1)
    if (typeof part === 'string' && typeof last === 'string') {
      this.all[this.all.length - 1] = last + part
    } else this.all.push(part)
  }
}

function writeElement(to: Parts, name: string, content: XmlContent): void {
  if (!isName(name)) throw new Error(`"${name}" is no name of an XML element`)
  if (content === undefined) return
  if (isList(content)) {
    for (const one of content) writeElement(to, name, one)
    return
  }
  to.add(`<${name}`)
  if (typeof content !== 'object' || Sensitive.is(content)) {
    to.add('>')
    writeText(to, content)
  } else {
    const entries = Object.entries(content as XmlNode)
    for (const [key, value] of entries) if (key.startsWith('@')) writeAttribute(to, key, value)
    to.add('>')
    for (const [key, value] of entries) {
      if (key === '#text') writeText(to, value)
      else if (!key.startsWith('@')) writeElement(to, key, value)
    }
  }
  to.add(`</${name}>`)
}

const isList = (content: XmlContent): content is readonly XmlContent[] => Array.isArray(content)

function writeAttribute(to: Parts, key: string, value: XmlContent): void {
  const name = key.slice(1)
  if (!isName(name)) throw new Error(`"${name}" is no name of an XML attribute`)
  if (value === undefined) return
  to.add(` ${name}="`)
  writeText(to, value)
  to.add('"')
}

function writeText(to: Parts, value: XmlContent): void {
  if (value === undefined) return
  if (Sensitive.is(value)) to.add(new Sensitive(escapeXml(String(value.reveal()))))
  else if (typeof value === 'object') throw new Error('a text of XML must be text or a number')
  else to.add(escapeXml(String(value)))
}

const isName = (name: string): boolean => /^[A-Za-z_][\w.-]*(:[A-Za-z_][\w.-]*)?$/.test(name)

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/**
 * A text for an element or an attribute. Line breaks and tabs keep their form also in attributes.
 *
 * @throws Error for a control character or half a surrogate pair, which XML 1.0 cannot hold, without quoting the text.
 */
export function escapeXml(text: string): string {
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(text) || !text.isWellFormed()) {
    throw new Error('the text has a character that XML cannot hold')
  }
  return text.replace(/[&<>"'\t\n\r]/g, (character) => escapes[character]!)
}
