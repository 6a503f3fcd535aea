import { limits } from '@tollgate/schemas'
import { maskEscapedNumbers } from '../redaction/mask.ts'

const longDigitRun = new RegExp(`\\p{Nd}{${limits.unknownNameMaskedDigits},}`, 'gu')
const accountRun = /\p{Nd}(?:[\p{P}\p{S}\p{Z}\p{Cf}]?\p{Nd}){12,}/gu
/** A moment in a schedule's format has fourteen digits and is no account. */
const moment = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d{1,2}(?:Z|[+-]\d\d:?\d\d)?$/
const unprintable = /[\p{Cc}\p{Cs}]/gu
const echoedValueCharacters = 128

/**
 * A parameter name for errors and logs: at most 64 characters, printable, and without a run of
 * digits long enough for an account. The mask comes before the cut, because a cut run would look
 * short.
 */
export function printableName(name: string): string {
  return cut(name.slice(0, 4 * limits.parameterNameCharacters), limits.unknownNameEchoCharacters)
}

/** A harmless value for errors and logs: short, and without possible card numbers. */
export function printableValue(value: string): string {
  const shown = value.slice(0, 1024)
  const masked = (moment.test(value) ? shown : shown.replace(accountRun, '***')).replace(
    unprintable,
    '?',
  )
  return [...maskEscapedNumbers(masked)].slice(0, echoedValueCharacters).join('')
}

function cut(name: string, characters: number): string {
  const masked = name.replace(longDigitRun, '***').replace(unprintable, '?')
  return [...maskEscapedNumbers(masked)].slice(0, characters).join('')
}
