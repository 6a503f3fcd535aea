import type { Money } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { freezeWith, resolveAttention } from '../attention/store.ts'
import { otherAmount, otherAmountsOf } from '../attention/store-told.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { fitsWire } from '../money.ts'
import { amountSaid, isSameAmount, movedBy } from './amount-moved.ts'
import { isOpen, type Told } from './late-word-table.ts'
import { forgetSuccess } from './store-settle.ts'
import type { Payment } from './types.ts'

/**
 * Whether a word matches the requested amount. A channel with the setting `partialApproval` also
 * accepts an approval of an open payment for less. Amounts with more than two decimals never match.
 *
 * @param about The amount of a message, for outcomes that name no amount themselves.
 */
export async function isForWhatWasAsked(
  engine: Pick<Engine, 'directory' | 'lanes'>,
  payment: Payment,
  outcome: Told,
  about?: Money,
): Promise<boolean> {
  const amount = amountSaid(outcome, about)
  if (amount === undefined) return true
  if (outcome.is === 'reversed') return isOfOperation(engine, payment, amount)
  if (amount.currency !== payment.amount.currency) return false
  if (amount.minor === (payment.approvedMinor ?? payment.amount.minor)) return true
  if (outcome.is !== 'approved' || payment.parentId !== null || !isOpen(payment.state)) return false
  if (amount.minor > payment.amount.minor || amount.minor <= 0n) return false
  if (!fitsWire(amount.minor, amount.currency)) return false
  return (await engine.directory.settings(payment.channelId)).partialApproval === true
}

/**
 * Whether all of an operation was taken back, also of one that moved another amount than requested. Of two such
 * amounts, the reversal of one leaves the other.
 */
async function isOfOperation(
  { lanes }: Pick<Engine, 'lanes'>,
  payment: Payment,
  amount: Money,
): Promise<boolean> {
  if (isSameAmount(amount, movedBy(payment))) return true
  if (!isOpen(payment.state)) return false
  const others = await lanes.single(otherAmountsOf(payment.id))
  return others.length > 0 && others.every(({ detail }) => isThatAmount(detail, amount))
}

const isThatAmount = (
  one: { readonly minor?: string; readonly currency?: string },
  { minor, currency }: Money,
): boolean => one.minor === String(minor) && one.currency === currency

/**
 * The acquirer reports another amount than the requested one. The payment's money is frozen until
 * an operator decides or the operation is undone.
 */
export async function holdOtherAmount(
  engine: Pick<Engine, 'lanes'>,
  payment: Payment,
  amount: Money,
  is: 'approved' | 'accepted' = 'approved',
): Promise<void> {
  await engine.lanes.single(otherAmountHeld(payment, amount, is))
}

/** The same as a statement, for the commit of the outcome. */
export const otherAmountHeld = (
  payment: Payment,
  amount: Money,
  is: 'approved' | 'accepted' = 'approved',
) =>
  freezeWith(
    newId(),
    'undecided',
    payment.id,
    payment.attemptKey,
    limits.unknownAlarmMs,
    {
      why: `${is} for another amount`,
      outcome: is,
      minor: String(amount.minor),
      currency: amount.currency,
    },
    referenceOf(amount, is),
    payment.parentId ?? payment.id,
  )

const referenceOf = ({ minor, currency }: Money, is: 'approved' | 'accepted') =>
  is === 'approved'
    ? `${otherAmount} ${minor} ${currency}`
    : `${otherAmount} accepted ${minor} ${currency}`

/**
 * Another amount that was only accepted has failed: it moved nothing, and a later success is no second one beside it.
 */
export async function forgetOtherAmount(
  { lanes }: Pick<Engine, 'lanes'>,
  { id }: Payment,
  amount: Money,
): Promise<void> {
  await lanes.single(resolveAttention(id, 'undecided', 'engine', referenceOf(amount, 'accepted')))
  await lanes.single(forgetSuccess(id))
}
