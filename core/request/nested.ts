import { limits } from '@tollgate/schemas'
import type { Level, List } from './plan.ts'
import {
  groupTakesNoValue,
  type Nested,
  nameTooLong,
  notAllowed,
  type RequestBuilder,
  wrongIndex,
} from './request.ts'

/**
 * Reads a nested object from an embedder or a JSON body.
 *
 * @param stored What an earlier request brought: its values are not searched for card data again.
 */
export function readNested(values: unknown, builder: RequestBuilder, stored?: unknown): void {
  if (!isPlainObject(values)) builder.errors.add('', 'the request must be an object of fields')
  else
    readLevel(
      values,
      { level: builder.plan.root, container: builder.request, prefix: '', within: '', stored },
      builder,
    )
}

/** An object of texts alone. */
export const isFlat = (values: unknown): values is Readonly<Record<string, string>> =>
  isPlainObject(values) && Object.values(values).every((value) => typeof value === 'string')

/** Reads texts under the names of a form, such as `card.number`. */
export function readFlat(values: Readonly<Record<string, string>>, builder: RequestBuilder): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === '') continue
    builder.count()
    const text = readText(value, name, builder)
    if (text !== undefined) builder.putFlat(name, text)
  }
}

/**
 * The position of an object in the plan: `within` names the group below `prefix`, which ends a
 * list.
 */
type Position = {
  readonly level: Level
  readonly container: Nested
  readonly prefix: string
  readonly within: string
  /** The object at the same place of an earlier request. */
  readonly stored: unknown
}

function readLevel(
  values: Readonly<Record<string, unknown>>,
  position: Position,
  builder: RequestBuilder,
): void {
  for (const key of Object.keys(values)) {
    const value = values[key]
    if (value === undefined || value === '') continue
    builder.count()
    readMember(key, value, position, builder)
  }
}

function readMember(key: string, value: unknown, at: Position, builder: RequestBuilder): void {
  const { level, container, prefix, within } = at
  const stored = (at.stored as Readonly<Record<string, unknown>> | undefined)?.[key]
  const isStored = typeof value === 'string' && value === stored
  const relative = within === '' ? key : `${within}.${key}`
  const name = prefix + relative
  if (name.length > limits.parameterNameCharacters) {
    builder.note(name, nameTooLong)
    return
  }
  const isFlatName = /[.[]/.test(key)
  const bracketed = `${within}[${key}]`
  const plainLeaf = isFlatName ? undefined : level.leaves.get(relative)
  const leaf = plainLeaf ?? level.leaves.get(bracketed)
  const free = level.free.get(within)
  const list = level.lists.get(relative)
  if (leaf !== undefined) {
    const spelled = plainLeaf === undefined ? prefix + bracketed : name
    const text = readText(value, spelled, builder)
    if (text !== undefined) {
      builder.note(spelled, builder.put(container, leaf, prefix, spelled, text, isStored))
    }
  } else if (free !== undefined) {
    const spelled = prefix + bracketed
    const text = readText(value, spelled, builder)
    if (text !== undefined) {
      builder.note(spelled, builder.putFree(container, free, key, spelled, text, isStored))
    }
  } else if (isFlatName) builder.note(name, `${notAllowed}; groups are nested objects here`)
  else if (list !== undefined) readList(value, { list, container, name, stored }, builder)
  else if (!level.groups.has(relative) && !level.free.has(relative)) {
    builder.note(name, builder.whyRefused(name, level, relative))
  } else if (isPlainObject(value)) {
    readLevel(value, { level, container, prefix, within: relative, stored }, builder)
  } else builder.note(name, groupTakesNoValue)
}

function readList(
  value: unknown,
  at: { list: List; container: Nested; name: string; stored: unknown },
  builder: RequestBuilder,
): void {
  const { list, container, name } = at
  if (!Array.isArray(value)) builder.note(name, 'must be a list')
  else if (value.length > list.maxIndex + 1) {
    builder.note(`${name}[${list.maxIndex + 1}]`, wrongIndex(list))
  } else if (value.length > 0) {
    const elements = builder.listIn(container, list, name)
    for (let index = 0; index < value.length; index++) {
      builder.count()
      const stored = Array.isArray(at.stored) ? at.stored[index] : undefined
      readElement(
        value[index],
        { list, elements, index, name: `${name}[${index}]`, stored },
        builder,
      )
    }
  }
}

function readElement(
  value: unknown,
  at: { list: List; elements: Nested[]; index: number; name: string; stored: unknown },
  builder: RequestBuilder,
): void {
  const { list, elements, index, name, stored } = at
  if (value === undefined || value === '') return
  if (isPlainObject(value)) {
    const container = builder.elementAt(elements, index)
    readLevel(
      value,
      { level: list.item, container, prefix: `${name}.`, within: '', stored },
      builder,
    )
  } else builder.note(name, groupTakesNoValue)
}

/** The text of a value. Refuses numbers, which lose digits of 19 and the zeros of `92.00`. */
function readText(value: unknown, name: string, builder: RequestBuilder): string | undefined {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return value
    builder.errors.add(name, 'holds half of a surrogate pair, which is no character')
  } else if (typeof value === 'boolean') return String(value)
  else if (value === null) builder.errors.add(name, 'must not be null; leave it out instead')
  else if (typeof value === 'object') builder.errors.add(name, 'takes a text, not a group or list')
  else builder.errors.add(name, `must be a text in quotes, not a ${typeof value}`)
  return undefined
}

/** Plain objects of any realm. A Date or a Map would otherwise count as an empty group. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object.prototype.toString.call(value) === '[object Object]'
}
