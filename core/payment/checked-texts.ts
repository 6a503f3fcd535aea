/** Limits the form, number and length of texts from acquirers. */
import { type Refs, Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { longestWritten } from '../redaction/card-numbers.ts'
import { maskCardNumbers } from '../redaction/mask.ts'

export const isTexts = (value: unknown): value is Refs =>
  typeof value === 'object' &&
  value !== null &&
  !Sensitive.is(value) &&
  Object.values(value).every((text) => typeof text === 'string')

/** JavaScript accepts NUL and lone surrogates in text; Postgres rejects both. */
export const wellFormed = (text: string): string =>
  text.toWellFormed().replaceAll('\u0000', '\ufffd')

/**
 * A text for people, masked and cut to length. The cut comes first because masking costs time per
 * character. The cut never splits a number, since the mask does not recognise half a number.
 */
export const maskedText = (text: string, most: number): string =>
  wellFormed(maskCardNumbers(text.slice(0, most + longestWritten)).slice(0, most))

/** Named texts that merchants see. Other values are dropped. */
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

/** Tells operators about dropped references; no acquirer uses this name. */
const note = 'tollgate.cut'

/**
 * References within the limits of number and length. The money moved, so an excess is no reason for
 * doubt: the surplus is dropped, and a note among the references says so.
 *
 * @param leftOut Other parts of the outcome that were left out.
 */
export function boundedRefs(given: Refs, leftOut = 0): Refs {
  const all = Object.entries(given)
  const { refs: most, refNameCharacters, refCharacters } = limits
  const isWhole = ([name, text]: readonly [string, string]) =>
    name.length <= refNameCharacters && text.length <= refCharacters
  if (leftOut === 0 && all.length <= most && all.every(isWhole))
    return Object.fromEntries(all.map(clean))
  const kept = all.filter(([name]) => name !== note).slice(0, most - 1)
  const cut = kept.filter((ref) => !isWhole(ref)).length + all.length - kept.length + leftOut
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
