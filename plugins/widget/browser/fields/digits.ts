/** Decimal digits of every script, because phones type and paste the digits of their language. */
const decimal = /\p{Nd}/u

/** The digits of a text as 0 to 9, without everything else. */
export function digitsOf(text: string): string {
  let digits = ''
  for (const character of text.normalize('NFKC')) digits += digitOf(character)
  return digits
}

/** The value of a decimal digit as 0 to 9; nothing for any other character. */
function digitOf(character: string): string {
  if (character >= '0' && character <= '9') return character
  if (!decimal.test(character)) return ''
  // Scripts have their ten digits in a row, from zero on.
  let before = 0
  const code = character.codePointAt(0)!
  while (decimal.test(String.fromCodePoint(code - before - 1))) before++
  return String(before % 10)
}
