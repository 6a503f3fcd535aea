/** The amount that a payment moved: its approved amount, or the amount of a late success. Pure. */
import type { Money } from '@tollgate/plugin-kit'
import type { Told } from './late-word-table.ts'
import type { Payment } from './types.ts'

export function movedBy({ amount, approvedMinor, answer: { late } }: Payment): Money {
  if (approvedMinor !== null) return { minor: approvedMinor, currency: amount.currency }
  if (late?.minor === undefined || late.currency === undefined) return amount
  return { minor: BigInt(late.minor), currency: late.currency }
}

/** @param about The amount of the message, for outcomes that name no amount themselves. */
export const amountSaid = (outcome: Told, about: Money | undefined): Money | undefined =>
  (outcome.is === 'approved' ? outcome.amount : undefined) ?? about

export const isSameAmount = (one: Money, other: Money): boolean =>
  one.minor === other.minor && one.currency === other.currency
