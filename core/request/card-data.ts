/**
 * Refuses card data outside of its own fields, where the engine would store and show it in clear:
 * card numbers, and values whose name means authentication data.
 */
import type { Field, Format } from '@tollgate/schemas'
import { cardNumbersIn, hasDigits, isInternetAddress } from '../redaction/card-numbers.ts'
import { layersOf } from '../redaction/escapes.ts'
import { mayHoldNames, namesCardData, namesWithin } from './card-data-names.ts'

/** The reason of a refusal, without the found value. */
export const cardNumberInside =
  'must not hold a card number: card numbers belong in card.number only'
export const cardDataName =
  'must not be sent: security codes, PINs and track data belong in the fields that are made for them, and are never stored'

/**
 * Whether a text holds a card number: 13 to 19 digits in the range of a known brand with a valid
 * Luhn check digit, in any script, with up to 32 blanks and marks between two digits, also in
 * percent encoding, entities or JSON escapes.
 *
 * @param isAddress the text comes from a field for internet addresses.
 */
export const holdsCardNumber = (
  text: string,
  isAddress = false,
  layers: readonly string[] = mayHoldNumber(text) ? layersOf(text) : [],
): boolean => layers.some((layer) => isNumberIn(layer, isAddress))

/** Every notation of a digit contains a digit. */
const mayHoldNumber = (text: string) => hasDigits(text, shortest)

function isNumberIn(text: string, isAddress: boolean): boolean {
  if (!isFound(text)) return false
  return !isInternetAddress(text, isAddress) && isFound(text.replace(codes, withoutCode))
}

const addressFields = new Set(['customer.ip'])

/** Why a field's value is refused: it contains a card number, or a name of card data. */
export function cardDataIn(value: string, field: Field, isSearched: boolean): string | undefined {
  const isNumber = isSearched && mayHoldNumber(value)
  const isNamed = mayHoldNames(value)
  if (!isNumber && !isNamed) return undefined
  const layers = layersOf(value)
  if (isNumber && holdsCardNumber(value, addressFields.has(field.name), layers)) {
    return cardNumberInside
  }
  if (!isNamed) return undefined
  for (const name of namesWithin(layers)) if (namesCardData(name)) return cardDataName
  return undefined
}

/** Values that are sealed or never written, and values with a fixed meaning. */
export const isHarmless = ({ class: fieldClass, format }: Field) =>
  sealedOrUnwritten.has(fieldClass) || !takesNumbers(format)

const isFound = (text: string) => cardNumbersIn(text, 'brand').found.length > 0

/** The shortest length of a card number. */
const shortest = 13

/** Formats with a fixed meaning, which refuse other values themselves. */
const harmless: ReadonlySet<Format['kind']> = new Set([
  'letters',
  'amount',
  'decimal',
  'integer',
  'choice',
  'flag',
  'date',
  'date-time',
  'currency',
  'country',
  'country-alpha3',
  'country-numeric',
  'brand',
  'payment-type',
])

/**
 * Whether values of a field are searched. Exempt are sealed and never written values, and
 * references: a tenth of all order numbers, tickets and EANs resemble card numbers by chance.
 */
export const isSearched = (field: Field, most: number): boolean =>
  field.options.reference !== true && most >= shortest && !isHarmless(field)

const sealedOrUnwritten: ReadonlySet<string> = new Set(['pan', 'sad', 'secret'])

function takesNumbers(format: Format): boolean {
  if (format.kind === 'either') return format.of.some(takesNumbers)
  if (format.kind === 'list') return takesNumbers(format.of)
  return !harmless.has(format.kind)
}

/** UUIDs and digests: one of a thousand contains digits that resemble a card number. */
const codes =
  /(?<![0-9a-z-])(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?:[0-9a-f]{8}){4,16})(?![0-9a-z-])/gi
/**
 * Three in eight random hexadecimal digits are letters; a text with fewer than this share is a
 * number.
 */
const leastLetters = 1 / 16

function withoutCode(code: string): string {
  const letters = code.replace(/[^a-f]/gi, '').length
  return letters >= (code.includes('-') ? 1 : code.length * leastLetters) ? 'code' : code
}
