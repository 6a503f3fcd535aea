/**
 * Keeps the account number of a request out of all other fields, references included, since these
 * are stored and shown in clear.
 */
import { GatewayError } from '../errors.ts'
import { digitAt, digitsOf, hasDigits } from '../redaction/card-numbers.ts'
import { layersOf } from '../redaction/escapes.ts'
import { normalForm } from '../redaction/normal-form.ts'

type Names = readonly (readonly [name: string, value: string])[]

/** A refusal that tells something about the number. */
export class RepeatedNumber extends GatewayError {}

/** Shorter account numbers occur in other values by chance. */
const shortest = 8

/**
 * Refuses a request that repeats one of its numbers in another name or value, also with separators,
 * in escapes, or in the digits of another script. Not for numbers from the vault, where refusals
 * would confirm guesses.
 *
 * @param numbers by the full names of their fields. @throws RepeatedNumber 400 naming the field.
 */
export function refuseOwnNumber(numbers: Readonly<Record<string, string>>, names: Names): void {
  const own = Object.values(numbers).map(plain).filter(isLong)
  if (own.length === 0) return
  const ofDigits = own.filter((number) => /^[0-9]+$/.test(number))
  const others = own.filter((number) => !/^[0-9]+$/.test(number))
  const isIn = (text: string) => text.length >= shortest && layersOf(text).some(isInLayer)
  const isInLayer = (text: string) => {
    if (ofDigits.length > 0 && hasDigits(text, shortest)) {
      const digits = digitsOf(text)
      if (ofDigits.some((number) => digits.includes(number))) return true
    }
    if (others.length === 0) return false
    const letters = plain(text)
    return others.some((number) => letters.includes(number))
  }
  for (const [name, value] of names) {
    if (numbers[name] !== undefined) continue
    if (isIn(value) || (name.includes('[') && isIn(name))) throw ownNumberIn(name)
  }
}

const isLong = (text: string) => text.length >= shortest

/** Letters and digits alone, in one normal form. Numbers of cards come in this form already. */
const plain = (text: string) => (/^[0-9]*$/.test(text) ? text : normal(text))

const normal = (text: string) =>
  normalForm(text)
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/(?![0-9])\p{Nd}/gu, (digit) => String(digitAt(digit, 0)))
    .toUpperCase()

/** The refusal of a field that repeats the number. */
export const ownNumberIn = (name: string) =>
  new RepeatedNumber('200.300.404', {
    parameterErrors: [{ name, message: 'must not contain the account number of this request' }],
  })
