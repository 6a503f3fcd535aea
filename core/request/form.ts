import { isUtf8 } from 'node:buffer'
import type { RequestBuilder } from './request.ts'

/** Reads an `application/x-www-form-urlencoded` body. */
export function readForm(bytes: Uint8Array, builder: RequestBuilder): void {
  const buffer = withBlanks(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  if (isUtf8(buffer)) readPairs(buffer.toString('utf8'), (text) => text, builder)
  // The bytes are split before decoding, so that the error can name the broken parameter.
  else readPairs(buffer.toString('latin1'), textOfLatin1, builder)
}

/**
 * Reads the query of a URL, without its question mark. Node returns the bytes of a request line as
 * Latin-1 characters; a query with other characters is text already.
 */
export function readQuery(query: string, builder: RequestBuilder): void {
  const isText = /[^\u0000-\u00ff]/.test(query)
  if (isText && !query.isWellFormed()) builder.note('', brokenText)
  else readForm(Buffer.from(query, isText ? 'utf8' : 'latin1'), builder)
}

/**
 * Replaces plus signs by blanks. On bytes the largest body takes a few ms; on a text of plus signs,
 * a second.
 */
function withBlanks(buffer: Buffer): Buffer {
  let plus = buffer.indexOf(0x2b)
  if (plus === -1) return buffer
  const copy = Buffer.from(buffer)
  for (; plus < copy.length; plus++) if (copy[plus] === 0x2b) copy[plus] = 0x20
  return copy
}

const brokenText = 'is not UTF-8'
const brokenEncoding =
  'has a broken percent-encoding; it must be UTF-8, each byte as % and two digits'

/** Decodes bytes in Latin-1 characters as UTF-8, or undefined. */
function textOfLatin1(latin1: string): string | undefined {
  const bytes = Buffer.from(latin1, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

function readPairs(
  text: string,
  toText: (part: string) => string | undefined,
  builder: RequestBuilder,
): void {
  // The position of the next "=" persists across pairs: a search in each pair would read the rest
  // of a body without "=" once per pair.
  let equals = text.indexOf('=')
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('&', start)
    if (end === -1) end = text.length
    if (equals !== -1 && equals < start) equals = text.indexOf('=', start)
    builder.count()
    // A name without a value and an empty value count as absent.
    if (equals !== -1 && equals < end - 1) {
      readPair(text.slice(start, equals), text.slice(equals + 1, end), toText, builder)
    }
    start = end + 1
  }
}

function readPair(
  rawName: string,
  rawValue: string,
  toText: (part: string) => string | undefined,
  builder: RequestBuilder,
): void {
  const name = toText(rawName)
  const value = toText(rawValue)
  if (name === undefined || value === undefined) {
    builder.note(name ?? rawName, brokenText)
    return
  }
  const plainName = percentDecoded(name)
  const plainValue = percentDecoded(value)
  if (plainName === undefined || plainValue === undefined) {
    builder.note(plainName ?? name, brokenEncoding)
  } else builder.putFlat(plainName, plainValue)
}

/** Undefined when the encoding is broken. */
function percentDecoded(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
