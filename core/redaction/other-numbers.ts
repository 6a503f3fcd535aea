/** Numbers that resemble card numbers by chance, and are known by their form as something else. */
import { maskIbans } from './bank-accounts.ts'

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

/** With a plus sign in front; the longest has fifteen digits, fewer than most card numbers. */
const phones = /(?<![^\s(:,;/])\+[1-9](?:[ ()./-]{0,3}[0-9]){6,14}(?![ ()./-]{0,3}[0-9])/g

/** Fourteen digits for trade units, said to be that, with the check digit of articles. */
const articles = /((?:\b(?:GTIN|EAN)(?:-?14)?|\(01\)):?\s?)([0-9]{14})(?![0-9])/gi

function withoutArticle(all: string, name: string, number: string): string {
  let sum = 0
  for (let at = 0; at < number.length; at++) sum += Number(number[at]) * (at % 2 === 0 ? 3 : 1)
  return sum % 10 === 0 ? `${name}article` : all
}

/** Sixteen letters and digits behind the mark of a carrier. */
const parcels = /\b1Z[0-9A-Z]{16}\b/g

/** The text without them: linear in the text, for the few texts in which something resembles a card number. */
export const withoutOtherNumbers = (text: string): string =>
  maskIbans(
    text
      .replace(codes, withoutCode)
      .replace(parcels, 'parcel')
      .replace(phones, 'phone')
      .replace(articles, withoutArticle),
  )
