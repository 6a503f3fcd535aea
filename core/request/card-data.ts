/**
 * What must not come in outside of its own field, because it would be stored and told in clear: card
 * numbers, and values whose name says that they are authentication data.
 */
import type { Field, Format } from '@tollgate/schemas'
import { cardNumbersIn, isInternetAddress } from '../net/card-numbers.ts'

/** Why a value or a free name is refused. It does not repeat what it found. */
export const cardNumberInside =
  'must not hold a card number: card numbers belong in card.number only'
export const cardDataName =
  'must not be sent: security codes, PINs and track data belong in the fields that are made for them, and are never stored'

/**
 * Whether a text holds a card number: 13 to 19 digits in the range of a known brand that pass the Luhn
 * check, in any script and with anything but letters between them.
 */
export function holdsCardNumber(text: string): boolean {
  if (!isFound(text)) return false
  return !isInternetAddress(text) && isFound(text.replace(codes, withoutCode))
}

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
export function isSearched({ class: fieldClass, options, format }: Field, most: number): boolean {
  if (options.reference === true || most < shortest) return false
  if (fieldClass === 'pan' || fieldClass === 'sad' || fieldClass === 'secret') return false
  return takesNumbers(format)
}

function takesNumbers(format: Format): boolean {
  if (format.kind === 'either') return format.of.some(takesNumbers)
  if (format.kind === 'list') return takesNumbers(format.of)
  return !harmless.has(format.kind)
}

const secretSegments = new Set([
  'cvv',
  'cvv2',
  'cvc',
  'cvc2',
  'csc',
  'pin',
  'track',
  'track1',
  'track2',
])

/** Whether a whole segment of a free name, between marks or humps, says card data: `card_cvv`, `cardCvv`. */
export function namesCardData(name: string): boolean {
  if (!mayName.test(name) && isAscii.test(name)) return false
  return name
    .normalize('NFKC')
    .split(segmentEnd)
    .some((segment) => secretSegments.has(segment.toLowerCase()))
}

const mayName = /cvv|cvc|csc|pin|track/i
const isAscii = /^[\0-\x7f]*$/
const segmentEnd = /[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/** UUIDs and digests: one of a thousand has digits in a row that pass for a card number. */
const codes =
  /(?<![0-9a-z-])(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?:[0-9a-f]{8}){4,16})(?![0-9a-z-])/gi
/** Of random hexadecimal digits three in eight are letters; with fewer than this it is a number. */
const leastLetters = 1 / 16

function withoutCode(code: string): string {
  const letters = code.replace(/[^a-f]/gi, '').length
  return letters >= (code.includes('-') ? 1 : code.length * leastLetters) ? 'code' : code
}
