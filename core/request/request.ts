import { type Field, formatMessage, limits } from '@tollgate/schemas'
import { GatewayError } from '../errors.ts'
import { suggest } from '../near-name.ts'
import { cardDataIn, cardDataName, cardNumberInside, holdsCardNumber } from './card-data.ts'
import { namesCardData } from './card-data-names.ts'
import { takerOf } from './elsewhere.ts'
import type { ParameterErrors } from './parameter-errors.ts'
import type { FreeKeys, Leaf, Level, List, Plan } from './plan.ts'

/** A request inside the engine: objects without a prototype, arrays for `[n]`, strings. */
export type Nested = { [key: string]: string | Nested | Nested[] }

const control = /[\u0000-\u001f\u007f-\u009f]/
const controlExceptLines = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/
/** JavaScript's own property names are no parameter names. */
const machinery = new Set(['__proto__', 'constructor', 'prototype'])
/** Form encoders of PHP write booleans as 1 and 0, those of Python as True and False. */
const flagSpellings: ReadonlyMap<string, string> = new Map([
  ['1', 'true'],
  ['0', 'false'],
  ['True', 'true'],
  ['False', 'false'],
])

/** A null prototype: no name in a request can reach anything outside of the request. */
const emptyObject = (): Nested => Object.create(null)

/**
 * A request under construction. Values arrive one by one under their wire names and go to their
 * place in the plan; misplaced values are noted in `errors`.
 */
export class RequestBuilder {
  readonly request: Nested = emptyObject()
  /** Accepted values, in order, under documented names. */
  readonly names: [name: string, value: string][] = []
  readonly errors: ParameterErrors
  readonly plan: Plan
  /** Characters of values with text of the sender's choice. */
  textCharacters = 0
  searchedCharacters = 0
  /** Characters of names of the sender's choice, and of their values. */
  freeCharacters = 0
  readonly #lists: { name: string; elements: Nested[] }[] = []
  /** Used spellings: documented name -> name as sent. */
  readonly #spellings = new Map<string, string>()
  readonly #sentOnce = new Set<string>()
  #suggestions = 0
  #parameters = 0

  constructor(plan: Plan, errors: ParameterErrors) {
    this.plan = plan
    this.errors = errors
  }

  /** Counts a parameter. Throws beyond the limit. */
  count(): void {
    if (++this.#parameters > limits.parameters) {
      throw new GatewayError('200.300.404', {
        description: `A request may hold at most ${limits.parameters} parameters.`,
      })
    }
  }

  /** Puts a value under its flat name, `card.number` or `cart.items[3].sku`. */
  putFlat(name: string, value: string): void {
    this.note(name, this.#putFlat(name, value))
  }

  /** Notes the error of a parameter, if any. */
  note(name: string, wrong: Wrong): void {
    if (wrong !== undefined) this.errors.add(name, wrong)
  }

  #putFlat(name: string, value: string): Wrong {
    if (name.length > limits.parameterNameCharacters) return nameTooLong
    if (name.includes('[')) return this.#putIndexed(name, value)
    const leaf = this.plan.root.leaves.get(name)
    if (leaf === undefined) return this.whyRefused(name, this.plan.root, name)
    return this.put(this.request, leaf, '', name, value)
  }

  #putIndexed(name: string, value: string): Wrong {
    let level = this.plan.root
    let container = this.request
    for (let from = 0; ; ) {
      const rest = name.slice(from)
      const leaf = level.leaves.get(rest)
      if (leaf !== undefined) return this.put(container, leaf, name.slice(0, from), name, value)
      const open = rest.indexOf('[')
      const close = rest.indexOf(']', open)
      if (open === -1 || close === -1) return this.whyRefused(name, level, rest)
      const head = rest.slice(0, open)
      const list = level.lists.get(head)
      if (list === undefined) {
        const free = level.free.get(head)
        return free !== undefined && rest.endsWith(']')
          ? this.putFree(container, free, rest.slice(open + 1, -1), name, value)
          : this.whyRefused(name, level, rest)
      }
      const index = readIndex(rest, open + 1, close, list.maxIndex)
      if (index === undefined) return wrongIndex(list)
      const elements = this.listIn(container, list, name.slice(0, from + open))
      if (close === rest.length - 1) return groupTakesNoValue
      if (rest[close + 1] !== '.') return this.whyRefused(name, level, rest)
      container = this.elementAt(elements, index)
      level = list.item
      from += close + 2
    }
  }

  /**
   * Puts a value in its place below `container`, which stands for the name `prefix`.
   *
   * @param isStored The value came with an earlier request, which was searched for card data.
   */
  put(
    container: Nested,
    leaf: Leaf,
    prefix: string,
    name: string,
    sent: string,
    isStored = false,
  ): Wrong {
    if (leaf.isTolerated) return this.#onlyOnce(name)
    const bare = sent.trim()
    if (bare === '') return undefined
    const isFlag = leaf.field.format.kind === 'flag'
    const value = isFlag ? (flagSpellings.get(bare) ?? bare) : bare
    const wrong = whyUnreadable(leaf.field, leaf.maxCharacters, value)
    if (wrong !== undefined) return wrong
    const cardData = isStored ? undefined : this.#cardDataIn(value, leaf)
    if (cardData !== undefined) return cardData
    const last = leaf.path.length - 1
    let at = container
    for (let step = 0; step < last; step++) {
      const key = leaf.path[step] as string
      let next = at[key]
      if (next === undefined) {
        next = emptyObject()
        at[key] = next
      }
      at = next as Nested
    }
    const key = leaf.path[last] as string
    const earlier = at[key]
    if (leaf.isAlias) return this.#putAlias(at, key, prefix + leaf.name, name, value)
    if (earlier === undefined) {
      at[key] = value
      this.names.push([name, value])
      return undefined
    }
    const spelled = this.#spellings.get(name)
    if (spelled === undefined) return sentTwice
    this.#spellings.delete(name)
    return earlier === value ? undefined : differs(spelled)
  }

  /** Puts a value sent under another spelling than the `documented` one. */
  #putAlias(at: Nested, key: string, documented: string, name: string, value: string): Wrong {
    const repeated = this.#onlyOnce(name)
    if (repeated !== undefined) return repeated
    const earlier = at[key]
    if (earlier !== undefined) return earlier === value ? undefined : differs(documented)
    at[key] = value
    this.names.push([documented, value])
    this.#spellings.set(documented, name)
    return undefined
  }

  putFree(
    container: Nested,
    free: FreeKeys,
    key: string,
    name: string,
    value: string,
    isStored = false,
  ): Wrong {
    if (machinery.has(key)) return notAllowed
    // The exact count of characters matters only near the limit.
    const isTooLong = key.length > free.max && [...key].length > free.max
    if (isTooLong || !free.pattern.test(key)) {
      return `its key must match ${free.pattern.source} and have up to ${free.max} characters`
    }
    if (control.test(key) || !key.isWellFormed()) return unprintable
    const wrong = whyUnreadable(free.field, free.maxCharacters, value)
    if (wrong !== undefined) return wrong
    this.freeCharacters += name.length + value.length
    // Refused as a whole, and so not searched.
    if (this.freeCharacters > limits.ownNamesBytes) return undefined
    if (!isStored) {
      if (namesCardData(key)) return cardDataName
      if (holdsCardNumber(key)) return cardNumberInside
      const cardData = this.#cardDataIn(value, free)
      if (cardData !== undefined) return cardData
    }
    const group = this.#groupAt(container, free.path)
    if (group[key] !== undefined) return sentTwice
    group[key] = value
    this.names.push([name, value])
    return undefined
  }

  /** The search is the dearest step, so a request beyond the limit, which is refused, is searched no further. */
  #cardDataIn(value: string, { field, isSearched, isHarmless }: Leaf | FreeKeys): Wrong {
    if (isHarmless) return undefined
    this.textCharacters += value.length
    if (this.textCharacters > limits.textCharacters) return undefined
    this.searchedCharacters += value.length
    return cardDataIn(value, field, isSearched)
  }

  /** The array of a list, made when its first element arrives. */
  listIn(container: Nested, list: List, name: string): Nested[] {
    if (list.isTolerated) return []
    const group = this.#groupAt(container, list.path.slice(0, -1))
    const key = list.path.at(-1) as string
    const existing = group[key]
    if (existing !== undefined) return existing as Nested[]
    const elements: Nested[] = []
    group[key] = elements
    this.#lists.push({ name, elements })
    return elements
  }

  elementAt(elements: Nested[], index: number): Nested {
    const existing = elements[index]
    if (existing !== undefined) return existing
    const element = emptyObject()
    elements[index] = element
    return element
  }

  /**
   * Runs after the last value. Refuses gaps in a list: closing a gap would renumber the elements in
   * the response.
   */
  finish(): void {
    for (const { name, elements } of this.#lists) {
      // An element whose values were all refused is no gap.
      if (this.errors.hasBelow(`${name}[`)) continue
      const gap = elements.findIndex(isEmpty)
      if (gap !== -1) this.errors.add(`${name}[${gap}]`, missingElement)
    }
  }

  /** The error of a name that takes no value here. */
  whyRefused(name: string, level: Level, rest: string): string {
    if (level.groups.has(rest) || level.lists.has(rest) || level.free.has(rest)) {
      return groupTakesNoValue
    }
    if ((name.match(/[.[]/g)?.length ?? 0) >= limits.parameterDepth) {
      return `nests deeper than ${limits.parameterDepth} levels`
    }
    // A suggestion takes as long as a thousand values, so the first wrong names get one.
    if (this.errors.has(name) || ++this.#suggestions > limits.suggestedNames) return notAllowed
    const taker = takerOf(name)
    if (taker !== undefined) return `is not taken here; it belongs to ${taker}`
    const meant = suggest(name, this.plan.vocabulary)
    return meant === undefined ? notAllowed : `${notAllowed}; did you mean ${meant}?`
  }

  #groupAt(container: Nested, path: readonly string[]): Nested {
    let at = container
    for (const key of path) {
      at[key] ??= emptyObject()
      at = at[key] as Nested
    }
    return at
  }

  #onlyOnce(name: string): Wrong {
    if (this.#sentOnce.has(name)) return sentTwice
    this.#sentOnce.add(name)
    return undefined
  }
}

/** The error of a parameter, in words; undefined without one. */
export type Wrong = string | undefined

export const notAllowed = 'is not an allowed parameter'
export const groupTakesNoValue = 'is a group of fields and takes no value itself'
export const nameTooLong = `is longer than ${limits.parameterNameCharacters} characters`
const sentTwice = 'is sent twice'
/** The documented patterns that begin so take line breaks, too. */
const anyCharacter = '[\\s\\S]'
const unprintable = 'must not hold control characters'
const missingElement =
  'is missing: indexes start at 0 and leave none out, and elements are not empty'

const differs = (other: string) => `differs from ${other}, which means the same; send one of them`
export const wrongIndex = (list: List) => `its index must be a number from 0 to ${list.maxIndex}`

/**
 * Why a value cannot reach validation. Far too long values stop here, so that no pattern reads
 * megabytes; a character takes at most two code units.
 */
function whyUnreadable(field: Field, maxCharacters: number, value: string): Wrong {
  if (value.length > 2 * maxCharacters) return formatMessage(field.format)
  const { format } = field
  const isMultiline =
    (format.kind === 'text' && format.multiline === true) ||
    (format.kind === 'pattern' && format.pattern.startsWith(anyCharacter))
  return (isMultiline ? controlExceptLines : control).test(value) ? unprintable : undefined
}

/** True for a hole, too: `findIndex` visits holes. */
function isEmpty(element: Nested | undefined): boolean {
  for (const _ in element) return false
  return true
}

/** The number between `from` and `to`, in plain decimal and at most `max`; otherwise undefined. */
function readIndex(text: string, from: number, to: number, max: number): number | undefined {
  if (to === from || to - from > 4 || (to - from > 1 && text[from] === '0')) return undefined
  let index = 0
  for (let position = from; position < to; position++) {
    const digit = text.charCodeAt(position) - 48
    if (digit < 0 || digit > 9) return undefined
    index = index * 10 + digit
  }
  return index <= max ? index : undefined
}
