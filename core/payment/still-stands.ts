/** Before an operation is sent that was reserved earlier, or sent without an answer: its payment may have changed. */
import type { Engine } from '../engine.ts'
import { held } from './late-word-move.ts'
import { referencedBy } from './rebuild-attempt.ts'
import { balanceById } from './store-read.ts'
import { toldAsGone } from './store-take-back.ts'
import type { Payment } from './types.ts'
import { isBesideChargeback, mayBeChargedBack } from './waiting-dispute.ts'

/**
 * Whether the engine would still begin this operation; the referenced payment may have changed
 * since. Money that may be back already, by a chargeback, also one that waits, or by a word of the acquirer, is not
 * given back.
 */
export async function stillStands(engine: Engine, payment: Payment): Promise<boolean> {
  if (payment.effect === 'undo') {
    const undoes = await referencedBy(engine, payment)
    if (undoes === undefined || (await mayBeChargedBack(engine, undoes))) return false
    if ((await engine.lanes.single(toldAsGone(undoes.id))).length > 0) return false
    return (await held(engine, undoes.attemptKey))?.attempt.state === 'late'
  }
  // Before the balance, which has a chargeback that is recorded from now on.
  if (await isBesideChargeback(engine, payment.effect, payment.referencedId)) return false
  const [balance] =
    payment.parentId === null ? [] : await engine.lanes.single(balanceById(payment.parentId))
  if (balance === undefined) return false
  const isClosed = balance.closed_by !== null && balance.closed_by !== payment.id
  // A reversed sale is not charged anew.
  if (payment.effect === 'sale' && balance.reversing + balance.reversed > 0n) return false
  const isWhole = balance.charged_back === 0n && balance.excess === 0n
  return !isClosed && !balance.is_frozen && isWhole
}
