import { isUtf8 } from 'node:buffer'
import { limits } from '@tollgate/schemas'
import { GatewayError } from '../errors.ts'
import type { ParameterErrors } from './parameter-errors.ts'

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/**
 * Reads a JSON body. The runtime's parser silently keeps the last of two equal names, so two
 * readers of one body could see different requests; this parser notes the repetition. Throws when
 * the text is not JSON.
 */
export function readJson(bytes: Uint8Array, errors: ParameterErrors): Json {
  if (!isUtf8(bytes)) throw broken('is not UTF-8')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const reader = new JsonReader(text, errors)
  return reader.read()
}

const broken = (why: string) =>
  new GatewayError('200.100.103', { description: `The JSON body ${why}.` })

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const words: readonly [string, Json][] = [
  ['true', true],
  ['false', false],
  ['null', null],
]

/** Each error reads its name anew, and one group of a long name can have as many as a request parameters. */
const shortened = (path: string): string =>
  path.length > mostOfName ? path.slice(0, mostOfName) : path
/** A name of so many characters is refused in full as in part. */
const mostOfName = limits.parameterNameCharacters + 1

class JsonReader {
  readonly #text: string
  readonly #errors: ParameterErrors
  #at = 0
  #members = 0

  constructor(text: string, errors: ParameterErrors) {
    this.#text = text
    this.#errors = errors
  }

  read(): Json {
    const value = this.#value('', 0)
    this.#skipBlanks()
    if (this.#at < this.#text.length) throw this.#unexpected('its end')
    return value
  }

  #value(name: string, depth: number): Json {
    this.#skipBlanks()
    const first = this.#text[this.#at]
    if (first === '"') return this.#string()
    if (first === '{' || first === '[') {
      // Recursion ends here, so hostile nesting cannot exhaust the stack.
      if (depth >= limits.parameterDepth) {
        this.#errors.add(name, `nests deeper than ${limits.parameterDepth} levels`)
        throw this.#errors.refusal()
      }
      return first === '{' ? this.#object(name, depth) : this.#array(name, depth)
    }
    for (const [word, value] of words) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length
        return value
      }
    }
    number.lastIndex = this.#at
    const [digits] = number.exec(this.#text) ?? []
    if (digits === undefined) throw this.#unexpected('a value')
    this.#at += digits.length
    return Number(digits)
  }

  #object(name: string, depth: number): Json {
    const members: { [key: string]: Json } = Object.create(null)
    this.#at++
    if (this.#skips('}')) return members
    do {
      this.#skipBlanks()
      if (this.#text[this.#at] !== '"') throw this.#unexpected('a name in quotes')
      const key = this.#string()
      const path = shortened(name === '' ? key : `${name}.${key}`)
      if (!this.#skips(':')) throw this.#unexpected('":"')
      this.#count()
      const isRepeated = key in members
      const value = this.#value(path, depth + 1)
      if (isRepeated) this.#errors.add(path, 'is sent twice')
      else members[key] = value
    } while (this.#skips(','))
    if (!this.#skips('}')) throw this.#unexpected('"," or "}"')
    return members
  }

  #array(name: string, depth: number): Json {
    const elements: Json[] = []
    this.#at++
    if (this.#skips(']')) return elements
    do {
      this.#count()
      elements.push(this.#value(`${name}[${elements.length}]`, depth + 1))
    } while (this.#skips(','))
    if (!this.#skips(']')) throw this.#unexpected('"," or "]"')
    return elements
  }

  #string(): string {
    const start = this.#at + 1
    let hasEscapes = false
    for (let at = start; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at)
      if (code === 34) {
        this.#at = at + 1
        if (!hasEscapes) return this.#text.slice(start, at)
        try {
          return JSON.parse(this.#text.slice(start - 1, at + 1))
        } catch {
          throw broken(`has a wrong escape in the text at position ${start}`)
        }
      }
      if (code === 92) {
        hasEscapes = true
        at++
      } else if (code < 32) throw broken(`has a control character at position ${at}`)
    }
    throw broken('ends inside a text')
  }

  #count(): void {
    if (++this.#members > limits.parameters) {
      throw new GatewayError('200.300.404', {
        description: `A request may hold at most ${limits.parameters} parameters.`,
      })
    }
  }

  /** Skips blanks and then `character`, if present. */
  #skips(character: string): boolean {
    this.#skipBlanks()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #skipBlanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
      this.#at++
    }
  }

  /** Names the position, but never the text, which could be a card number. */
  #unexpected(expected: string): GatewayError {
    return broken(`is not JSON: expected ${expected} at position ${this.#at}`)
  }
}
