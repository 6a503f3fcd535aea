/** Texts that an acquirer gave, in a form and a number that can be kept. */
import { type Refs, Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { longestWritten } from '../redaction/card-numbers.ts'
import { maskCardNumbers } from '../redaction/mask.ts'

export const isTexts = (value: unknown): value is Refs =>
  typeof value === 'object' &&
  value !== null &&
  !Sensitive.is(value) &&
  Object.values(value).every((text) => typeof text === 'string')

/** NUL and half a surrogate pair are text to JavaScript and an error to Postgres. */
export const wellFormed = (text: string): string =>
  text.toWellFormed().replaceAll('\u0000', '\ufffd')

/**
 * A text for people: card numbers masked, cut to its length. Cut before it is masked, for masking costs
 * time with every character, and not in a number, for half of one is not recognised.
 */
export const maskedText = (text: string, most: number): string =>
  wellFormed(maskCardNumbers(text.slice(0, most + longestWritten)).slice(0, most))

/** Texts by name that are shown to merchants. What is no text is left out. */
export function shownTexts(given: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  if (Sensitive.is(given) || Array.isArray(given)) return undefined
  const { shownTexts: most, shownTextNameCharacters, shownTextCharacters } = limits
  const all = Object.entries(given).flatMap(([name, text]): [string, string][] =>
    typeof text === 'string'
      ? [[maskedText(name, shownTextNameCharacters), maskedText(text, shownTextCharacters)]]
      : [],
  )
  return all.length === 0 ? undefined : Object.fromEntries(all.slice(0, most))
}

/** Tells operators that something is missing; no acquirer's reference is called so. */
const note = 'tollgate.cut'

/**
 * References in the number and length that are kept. Money moved, so what is too much is no reason to
 * doubt it: it is cut, and noted among them.
 */
export function boundedRefs(given: Refs): Refs {
  const all = Object.entries(given)
  const { refs: most, refNameCharacters, refCharacters } = limits
  const isWhole = ([name, text]: readonly [string, string]) =>
    name.length <= refNameCharacters && text.length <= refCharacters
  if (all.length <= most && all.every(isWhole)) return Object.fromEntries(all.map(clean))
  const kept = all.filter(([name]) => name !== note).slice(0, most - 1)
  const cut = kept.filter((ref) => !isWhole(ref)).length + all.length - kept.length
  return Object.fromEntries([
    ...kept.map(([name, text]) =>
      clean([name.slice(0, refNameCharacters), text.slice(0, refCharacters)]),
    ),
    [note, `${cut} cut or left out`],
  ])
}

const clean = ([name, text]: readonly [string, string]): [string, string] => [
  wellFormed(name),
  wellFormed(text),
]
