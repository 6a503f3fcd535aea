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
 * Whether a word matches the requested amount. A channel with the setting `partialApproval` also
 * accepts an approval of an open payment for less. Amounts with more than two decimals never match.
 *
 * @param about The amount of a message, for outcomes that name no amount themselves.
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
 * The acquirer reports another amount than the requested one. The payment's money is frozen until
 * an operator decides or the operation is undone.
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
