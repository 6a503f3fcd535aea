import type { Money, Outcome } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { freezeWith, otherAmount } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { fitsWire } from '../money.ts'
import { amountSaid } from './amount-moved.ts'
import { isOpen } from './late-words.ts'
import type { Payment } from './types.ts'

/**
 * Whether a word is about what was asked; an approval of an open payment also for less, on a channel whose
 * setting `partialApproval` allows that. An amount that two decimals cannot say is nobody's wish.
 *
 * @param about The amount of a message, where the outcome itself names none.
 */
export async function isForWhatWasAsked(
  engine: Pick<Engine, 'directory'>,
  payment: Payment,
  outcome: Outcome,
  about?: Money,
): Promise<boolean> {
  const amount = amountSaid(outcome, about)
  if (amount === undefined) return true
  if (amount.currency !== payment.amount.currency) return false
  if (amount.minor === (payment.approvedMinor ?? payment.amount.minor)) return true
  if (outcome.is !== 'approved' || payment.parentId !== null || !isOpen(payment.state)) return false
  if (amount.minor > payment.amount.minor || amount.minor <= 0n) return false
  if (!fitsWire(amount.minor, amount.currency)) return false
  return (await engine.directory.settings(payment.channelId)).partialApproval === true
}

/**
 * Done for another amount, as somebody says: until that is undone or decided nothing more is done with
 * the same money.
 */
export async function holdOtherAmount(
  engine: Pick<Engine, 'lanes'>,
  payment: Payment,
  { minor, currency }: Money,
): Promise<void> {
  await engine.lanes.single(
    freezeWith(
      newId(),
      'undecided',
      payment.id,
      payment.attemptKey,
      limits.unknownAlarmMs,
      { why: 'approved for another amount', minor: String(minor), currency },
      `${otherAmount} ${minor} ${currency}`,
      payment.parentId ?? payment.id,
    ),
  )
}
