/** Values of an authentication. They derive from its data, so an enquiry finds the same ones. */
import { createHmac } from 'node:crypto'
import { indicators } from '../rules.ts'
import type { Case } from './case.ts'

export const protocolVersion = '2.2.0'

/** Brands whose indicators are those of Mastercard; all others have Visa's. */
const likeMastercard: readonly string[] = ['MASTER', 'MAESTRO']

/** Authenticated and attempted. No other status has an indicator. */
export function eciOf({ brand, status }: Case): string | undefined {
  if (status !== 'Y' && status !== 'A') return undefined
  return indicators[status][likeMastercard.includes(brand) ? 'MASTER' : 'VISA']
}

function bytesOf({ key, amount, brand, last4, status }: Case, name: string, secret: string) {
  return createHmac('sha256', secret)
    .update(
      [name, key, String(amount.minor), amount.currency, brand, last4, status ?? ''].join(' '),
    )
    .digest()
}

/** The proof for the acquirer: 20 bytes as 28 characters of base64. */
export const verificationIdOf = (found: Case, secret: string): string =>
  bytesOf(found, 'verification', secret).subarray(0, 20).toString('base64')

/** The number of the authentication at the directory or the issuer, a UUID of version 4 in form. */
export function transactionIdOf(found: Case, party: 'directory' | 'issuer', secret: string) {
  const { status: _changes, ...same } = found
  const bytes = bytesOf(same, party, secret).subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [8, 12, 16, 20, 32]
    .map((end, index, ends) => hex.slice(ends[index - 1] ?? 0, end))
    .join('-')
}
