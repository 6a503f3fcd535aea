/** Values of a request by the class of their fields: what a step log may show of them. */
import { type FieldClass, fieldClasses, limits } from '@tollgate/schemas'
import { createScrubber } from './scrub.ts'

type Named = {
  readonly name: string
  readonly value: string
  readonly class: FieldClass | undefined
}

/** Every text of a nested request with its full name and the class that the tables give it. */
export function* namedValues(value: unknown, name = '', pattern = ''): Generator<Named> {
  if (typeof value === 'string') yield { name, value, class: classOf(pattern) }
  if (typeof value !== 'object' || value === null) return
  const isList = Array.isArray(value)
  for (const [key, inner] of Object.entries(value)) {
    if (isList) yield* namedValues(inner, `${name}[${key}]`, `${pattern}[n]`)
    else if (Object.hasOwn(fieldClasses, `${pattern}[name]`) && typeof inner === 'string') {
      yield* namedValues(inner, `${name}[${key}]`, `${pattern}[name]`)
    } else {
      const dot = name === '' ? '' : '.'
      yield* namedValues(inner, `${name}${dot}${key}`, `${pattern}${dot}${key}`)
    }
  }
}

const classOf = (name: string): FieldClass | undefined =>
  Object.hasOwn(fieldClasses, name) ? fieldClasses[name] : undefined

/** Below this many characters a personal value, a country or an initial, is part of other words. */
const shortest = 4

/**
 * Personal values of a request, to be found in exchanges with acquirers. Null: too many to search
 * for.
 */
export function personalValues(request: unknown, holder?: string): readonly string[] | null {
  const values = new Set<string>()
  for (const { value, class: fieldClass } of namedValues(request)) {
    if (fieldClass === 'person' && value.length >= shortest) values.add(value)
  }
  if (holder !== undefined && holder.length >= shortest) values.add(holder)
  return values.size > limits.personalValues ? null : [...values]
}

/** The same texts without what of them belongs to the person of this request. */
export function withoutPersons(
  texts: Readonly<Record<string, string>>,
  request: unknown,
): Record<string, string> {
  const persons = personalValues(request)
  const scrubber = createScrubber()
  scrubber.know(persons ?? [])
  const shown = (text: string) => (persons === null ? '[withheld]' : scrubber.scrub(text))
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [shown(name), shown(text)]))
}

/**
 * The fields of a stored request that a step shows: values of class none, and a note about others.
 */
export function shownFields(request: unknown): Record<string, string> {
  const shown: Record<string, string> = {}
  let left: number = limits.shownFields
  for (const { name, value, class: fieldClass } of namedValues(request)) {
    if (left-- === 0) break
    shown[name] =
      fieldClass === 'none'
        ? value.slice(0, limits.shownValueCharacters)
        : `[${fieldClass ?? 'hidden'}]`
  }
  return shown
}
