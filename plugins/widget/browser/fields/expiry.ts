import { digitsOf } from './digits.ts'

export type Expiry = { readonly month: string; readonly year: string }

/** Reads `1230`, `12/30`, `1/30`, `01/2030`, `2030-01` and their like; null for anything else. */
export function readExpiry(text: string): Expiry | null {
  const parts = text
    .normalize('NFKC')
    .split(/[^\p{Nd}]+/u)
    .map(digitsOf)
    .filter((part) => part !== '')
  const [first = '', second = ''] = parts.length === 1 ? splitTogether(parts[0]!) : parts
  if (parts.length > 2) return null
  const [month, year] = first.length === 4 ? [second, first] : [first, second]
  if (month.length < 1 || month.length > 2 || (year.length !== 2 && year.length !== 4)) return null
  const count = Number(month)
  if (count < 1 || count > 12) return null
  return { month: month.padStart(2, '0'), year: year.length === 2 ? `20${year}` : year }
}

function splitTogether(digits: string): [string, string] {
  if (digits.length === 3) return [digits.slice(0, 1), digits.slice(1)]
  if (digits.length === 6 && Number(digits.slice(0, 4)) > 1912)
    return [digits.slice(4), digits.slice(0, 4)]
  return [digits.slice(0, 2), digits.slice(2)]
}

/** Cards are valid to the end of their month, and at most twenty years ahead. */
export function expiryFault({ month, year }: Expiry, today: Date): 'expired' | 'invalid' | null {
  const months = Number(year) * 12 + Number(month) - 1
  const now = today.getFullYear() * 12 + today.getMonth()
  if (months < now) return 'expired'
  return months > now + 20 * 12 ? 'invalid' : null
}

/** The text of the field while it is typed: `MM / YY`. Deleting leaves the text as it is. */
export function formatExpiry(text: string, isDeleting: boolean): string {
  const plain = text.normalize('NFKC')
  const whole = readExpiry(plain)
  // Pasted and filled in at once, with a year of four digits or before the month.
  if (whole !== null && /\p{Nd}{4}/u.test(plain) && /[^\p{Nd}\s]/u.test(plain.trim())) {
    return `${whole.month} / ${whole.year.slice(2)}`
  }
  const digits = digitsOf(plain)
  if (isDeleting && digits.length < 3) return digits
  if (/^\s*\p{Nd}\s*[/.-]/u.test(plain) && digits.length >= 1 && digits[0] !== '0') {
    return `0${digits[0]} / ${shownYear(digits.slice(1, 5))}`
  }
  if (digits === '') return ''
  if (Number(digits[0]) > 1) return `0${digits[0]} / ${shownYear(digits.slice(1, 5))}`
  if (digits.length === 1) return digits
  // A 1 that no 0, 1 or 2 follows is January.
  if (Number(digits.slice(0, 2)) > 12) return `0${digits[0]} / ${shownYear(digits.slice(1, 5))}`
  return `${digits.slice(0, 2)} / ${shownYear(digits.slice(2, 6))}`
}

/** Two digits; a year that begins with 20 may be typed with four. */
function shownYear(digits: string): string {
  if (!digits.startsWith('20') || digits.length < 3) return digits.slice(0, 2)
  return digits.length === 4 ? digits.slice(2) : digits
}
