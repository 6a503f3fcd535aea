/**
 * The stored form of names in settlement files: of records, payouts, orders and files. One in ten long numbers has
 * the check digit of a card number and is masked; a digest keeps it distinct, and finds its payment.
 */
import { type Digest, maskedAccounts } from '../redaction/references.ts'
import { folded } from './record-key.ts'

/** Hexadecimal digits of a digest. */
const digestCharacters = 16

/** A name that was masked: its shown part and its digest. */
export const maskedName = new RegExp(`^(.*)#[0-9a-f]{${digestCharacters}}$`, 's')

/** The name as it came, unless a part of it is masked. At most `most` characters. */
export function storedName(name: string, most: number, digest: Digest): string {
  if (maskedAccounts(name) === name) return name
  const trimmed = name.trim()
  const shown = maskedAccounts(trimmed)
  if (shown === trimmed) return shown
  const start = [...shown].slice(0, most - digestCharacters - 1).join('')
  return `${start}#${digest(folded(trimmed)).slice(0, digestCharacters)}`
}
