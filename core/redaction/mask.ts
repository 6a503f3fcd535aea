import { cardNumbersIn, longestWritten } from './card-numbers.ts'
import { escapedWidth, layersOf } from './escapes.ts'

/** Digits of a card number that may be shown. */
const shown = 4

/**
 * Replaces card numbers in `text` by asterisks, all digits but the last four. A card number is a run of 13
 * to 19 digits that passes the Luhn check, also with blanks or hyphens between its groups; where anything
 * else is between them, it also lies in the range of a known brand. The length of the text stays. The time
 * is linear in the length of the text.
 */
export function maskCardNumbers(text: string): string {
  const { found, digits } = cardNumbersIn(text, 'any')
  let result = ''
  let copied = 0
  for (const { from, to } of found) {
    for (let digit = from; digit < to - shown; digit++) {
      const start = digits.starts[digit]!
      const end = digits.ends[digit]!
      result += text.slice(copied, start) + '*'.repeat(end - start)
      copied = end
    }
  }
  return copied === 0 ? text : result + text.slice(copied)
}

/**
 * The same for a text in which characters may be written as escapes, such as a URL. One that shows a card
 * number only without them is given back without them.
 */
export function maskEscapedNumbers(text: string): string {
  for (const layer of layersOf(text)) {
    const masked = maskCardNumbers(layer)
    if (masked !== layer) return layersOf(masked).some(holdsNumber) ? withoutDigits(masked) : masked
  }
  return text
}

/**
 * The first characters of a text, masked as above. The mask sees so much more of it that a card number at the end
 * is whole, also in escapes: nobody recognises half a number.
 */
export const maskedStart = (text: string, most: number): string =>
  maskEscapedNumbers(text.slice(0, escapedWidth * (most + longestWritten))).slice(0, most)

const holdsNumber = (text: string) => cardNumbersIn(text, 'any').found.length > 0

/** Where one number stands in clear and another in escapes, nothing of either is worth keeping. */
const withoutDigits = (text: string) => text.replace(/[0-9]/g, '*')
