/** Card numbers of which somebody knows the first six and the last four digits. */

/** The number with its check digit. */
export function withCheckDigit(digits: string): string {
  let sum = 0
  for (const [index, digit] of [...digits].reverse().entries()) {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1)
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return `${digits}${(10 - (sum % 10)) % 10}`
}

/** Valid numbers with the same first six and last four digits. */
export function sameEnds(count: number): string[] {
  const found: string[] = []
  for (let no = 0; found.length < count; no += 1) {
    const number = withCheckDigit(`420000${String(no).padStart(6, '0')}123`)
    if (number.endsWith('1234')) found.push(number)
  }
  return found
}
