/**
 * What must not come in outside of its own field, because it would be stored and told in clear: card
 * numbers, and values whose name says that they are authentication data.
 */
import type { Field, Format } from '@tollgate/schemas'
import { cardNumbersIn, hasDigits, isInternetAddress } from '../redaction/card-numbers.ts'
import { layersOf } from '../redaction/escapes.ts'
import { namesCardData, namesWithin } from './card-data-names.ts'

/** Why a value or a free name is refused. It does not repeat what it found. */
export const cardNumberInside =
  'must not hold a card number: card numbers belong in card.number only'
export const cardDataName =
  'must not be sent: security codes, PINs and track data belong in the fields that are made for them, and are never stored'

/**
 * Whether a text holds a card number: 13 to 19 digits in the range of a known brand that pass the Luhn
 * check, in any script, with up to 32 blanks and marks between two of them, also written in percent signs,
 * entities or escapes of JSON.
 *
 * @param isAddress the text stands in a field for addresses of the internet.
 */
export function holdsCardNumber(text: string, isAddress = false): boolean {
  // Every way to write a digit has a digit in it.
  return hasDigits(text, shortest) && layersOf(text).some((layer) => isNumberIn(layer, isAddress))
}

function isNumberIn(text: string, isAddress: boolean): boolean {
  if (!isFound(text)) return false
  return !isInternetAddress(text, isAddress) && isFound(text.replace(codes, withoutCode))
}

const addressFields = new Set(['customer.ip'])

/** Why the value of a field is refused: for a card number in it, or a name in it that says card data. */
export function cardDataIn(value: string, field: Field, isSearched: boolean): string | undefined {
  if (isSearched && holdsCardNumber(value, addressFields.has(field.name))) return cardNumberInside
  if (isHarmless(field)) return undefined
  for (const name of namesWithin(value)) if (namesCardData(name)) return cardDataName
  return undefined
}

/** Values that are sealed or never written, and those with a meaning of their own. */
const isHarmless = ({ class: fieldClass, format }: Field) =>
  sealedOrUnwritten.has(fieldClass) || !takesNumbers(format)

const isFound = (text: string) => cardNumbersIn(text, 'brand').found.length > 0

/** Shortest number of digits that a card number has. */
const shortest = 13

/** Formats with a meaning of their own: what is no such value is refused for that. */
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
 * Whether values of a field are searched. Not those that are sealed or never written, and not references:
 * a tenth of all order numbers, tickets and EANs pass for card numbers by chance.
 */
export const isSearched = (field: Field, most: number): boolean =>
  field.options.reference !== true && most >= shortest && !isHarmless(field)

const sealedOrUnwritten: ReadonlySet<string> = new Set(['pan', 'sad', 'secret'])

function takesNumbers(format: Format): boolean {
  if (format.kind === 'either') return format.of.some(takesNumbers)
  if (format.kind === 'list') return takesNumbers(format.of)
  return !harmless.has(format.kind)
}

/** UUIDs and digests: one of a thousand has digits in a row that pass for a card number. */
const codes =
  /(?<![0-9a-z-])(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?:[0-9a-f]{8}){4,16})(?![0-9a-z-])/gi
/** Of random hexadecimal digits three in eight are letters; with fewer than this it is a number. */
const leastLetters = 1 / 16

function withoutCode(code: string): string {
  const letters = code.replace(/[^a-f]/gi, '').length
  return letters >= (code.includes('-') ? 1 : code.length * leastLetters) ? 'code' : code
}
