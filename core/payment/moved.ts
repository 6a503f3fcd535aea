/** What a payment moved: as it was approved, or of one that is over what was done all the same. Pure. */
import type { Money } from '@tollgate/plugin-kit'
import type { Payment } from './types.ts'

export function movedBy({ amount, approvedMinor, answer: { late } }: Payment): Money {
  if (approvedMinor !== null) return { minor: approvedMinor, currency: amount.currency }
  if (late?.minor === undefined || late.currency === undefined) return amount
  return { minor: BigInt(late.minor), currency: late.currency }
}
