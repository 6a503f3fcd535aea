import { type Field, limits, maxCharactersOf, type Operation, stepsOf } from '@tollgate/schemas'
import { type Vocabulary, vocabularyOf } from '../near-name.ts'
import { isHarmless, isSearched } from './card-data.ts'

/** A name with a value. `path` leads from the request, or from the list element, to its place. */
export type Leaf = {
  readonly field: Field
  /** Name below the request or the list element, in its documented spelling. */
  readonly name: string
  readonly path: readonly string[]
  readonly maxCharacters: number
  /** Another spelling of `name`. */
  readonly isAlias: boolean
  /** Accepted for deployed clients, and dropped. */
  readonly isTolerated: boolean
  /** Whether a card number in its value is refused. */
  readonly isSearched: boolean
  /** Whether its value can hold no card data at all. */
  readonly isHarmless: boolean
}

/** A group with keys of the sender's choice, such as `customParameters[name]`. */
export type FreeKeys = {
  readonly field: Field
  readonly path: readonly string[]
  readonly pattern: RegExp
  /** Characters of a key. */
  readonly max: number
  /** Characters of a value. */
  readonly maxCharacters: number
  /** Whether a card number in its value is refused. */
  readonly isSearched: boolean
  readonly isHarmless: boolean
}

export type List = {
  readonly path: readonly string[]
  readonly maxIndex: number
  readonly item: Level
  /** All of its fields are dropped, so the list itself is dropped as well. */
  readonly isTolerated: boolean
}

/** The names below the request, or below one element of a list. */
export type Level = {
  readonly leaves: Map<string, Leaf>
  readonly lists: Map<string, List>
  readonly free: Map<string, FreeKeys>
  /** Names that contain others and take no value themselves. */
  readonly groups: Set<string>
}

/** How to read the names of one operation. Built once from the tables, used for every request. */
export type Plan = {
  readonly root: Level
  readonly vocabulary: Vocabulary
}

/**
 * Without a pattern of its own, a free key is any text that cannot be confused with another name.
 */
const anyKey = { pattern: '[^.\\[\\]\\p{Cc}]{1,64}', max: 64 }

const emptyLevel = (): Level => ({
  leaves: new Map(),
  lists: new Map(),
  free: new Map(),
  groups: new Set(),
})

export function planOf(operation: Operation): Plan {
  const root = emptyLevel()
  for (const field of operation.fields) insert(root, field, field)
  for (const field of operation.tolerated) insert(root, field, field)
  for (const field of operation.fields) {
    for (const alias of field.options.aliases ?? []) insert(root, field, { ...field, name: alias })
  }
  return { root, vocabulary: vocabularyOf(operation.fields.map((field) => field.name)) }
}

/** Adds `spelled`, which is the field itself or the field under another name. */
function insert(root: Level, field: Field, spelled: Field): void {
  const isAlias = spelled !== field
  const isTolerated = field.options.tolerated === true
  const canonical = isAlias ? placeOf(field) : undefined
  let level = root
  let name = ''
  let path: string[] = []
  const steps = stepsOf(spelled)
  const maxCharacters = maxCharactersOf(field.format)
  const leaf = (): Leaf => ({
    field,
    name: canonical?.name ?? name,
    path: canonical?.path ?? path,
    maxCharacters,
    isAlias,
    isTolerated,
    isSearched: isSearched(field, maxCharacters),
    isHarmless: isHarmless(field),
  })
  for (const [position, step] of steps.entries()) {
    const isLast = position === steps.length - 1
    if (step.kind === 'key') {
      name += step.bracketed ? `[${step.key}]` : name === '' ? step.key : `.${step.key}`
      path = [...path, step.key]
      if (!isLast) level.groups.add(name)
      else if (!level.leaves.has(name)) level.leaves.set(name, leaf())
    } else if (step.kind === 'free') {
      const { pattern, max } = field.options.key ?? anyKey
      const wholeKey = new RegExp(`^(?:${pattern})$`, 'u')
      level.free.set(name, {
        field,
        path,
        pattern: wholeKey,
        max,
        maxCharacters,
        isSearched: isSearched(field, maxCharacters),
        isHarmless: isHarmless(field),
      })
    } else {
      if (isLast) throw new Error(`${field.name}: requests have no lists of plain values`)
      const known = level.lists.get(name)
      const item: Level = known?.item ?? emptyLevel()
      const highest = field.options.maxIndex ?? limits.parameterIndex
      level.lists.set(name, {
        path,
        maxIndex: Math.max(known?.maxIndex ?? 0, highest),
        item,
        isTolerated: isTolerated && (known?.isTolerated ?? true),
      })
      level = item
      name = ''
      path = []
    }
  }
}

/** The place for the value of a field with other spellings. Lists have none. */
function placeOf(field: Field): { name: string; path: string[] } {
  const steps = stepsOf(field)
  const path = steps.flatMap((step) => (step.kind === 'key' ? [step.key] : []))
  if (path.length !== steps.length) throw new Error(`${field.name}: lists have no other spellings`)
  return { name: field.name, path }
}
