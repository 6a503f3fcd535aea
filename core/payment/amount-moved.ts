/** The amount that a payment moved: its approved amount, or the amount of a late success. Pure. */
import type { Money } from '@tollgate/plugin-kit'
import { consuming } from './balance-rules.ts'
import type { Told } from './late-word-table.ts'
import type { Payment } from './types.ts'

export function movedBy({ amount, approvedMinor, answer: { late } }: Payment): Money {
  if (approvedMinor !== null) return { minor: approvedMinor, currency: amount.currency }
  if (late?.minor === undefined || late.currency === undefined) return amount
  return { minor: BigInt(late.minor), currency: late.currency }
}

/**
 * Minor units that a payment holds on the balance of its reservation. A late success told for more than was
 * asked for holds that amount, so that nobody uses money that is gone.
 */
export function heldBy({ effect, amount }: Payment, told: Money | undefined): bigint {
  const isMore =
    consuming.has(effect) && told?.currency === amount.currency && told.minor > amount.minor
  return isMore ? told.minor : amount.minor
}

/** @param about The amount of the message, for outcomes that name no amount themselves. */
export const amountSaid = (outcome: Told, about: Money | undefined): Money | undefined =>
  (outcome.is === 'approved' ? outcome.amount : undefined) ?? about

export const isSameAmount = (one: Money, other: Money): boolean =>
  one.minor === other.minor && one.currency === other.currency
