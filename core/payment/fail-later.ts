import type { Outcome } from '@tollgate/plugin-kit'
import { sqlState } from '../db/database.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { addAttention } from '../operator/store.ts'
import { businessNow } from '../test-clock/time.ts'
import { announce, eventOf, notifies } from './announce.ts'
import { decide, takenBack } from './decide.ts'
import { referencedBy, undoOf } from './rebuild.ts'
import { storable } from './storable.ts'
import { failAccepted } from './store-settle.ts'
import type { Payment } from './types.ts'

/**
 * An operation that counted as done, but not for good, failed: it becomes declined and its sums are
 * given back. What cannot be given back, because others built on it, is for operators.
 */
export async function failLater(engine: Engine, payment: Payment, outcome: Outcome): Promise<void> {
  const now = await businessNow(engine, payment.channelId, payment.clockId)
  const decision = decide(payment, outcome, 0, now)
  if (decision.state !== 'declined') return
  const event = eventOf(newId(), payment, 'declined', decision.resultCode)
  const undo = undoOf(payment, await referencedBy(engine, payment))
  const row = {
    id: payment.id,
    attemptKey: payment.attemptKey,
    parentId: payment.parentId,
    resultCode: decision.resultCode,
    answer: storable(decision.answer),
    notifies: notifies(payment),
    event: { id: event.id, type: event.type, data: JSON.stringify(event.data) },
  }
  try {
    const move = takenBack(payment.effect, payment.amount.minor, undo)
    const [moved] = await engine.lanes.inOrder(payment.parentId ?? payment.id, () =>
      engine.lanes.single(failAccepted(row, move)),
    )
    if (moved !== undefined) announce(engine, payment, event, moved.seq)
  } catch (error) {
    if (sqlState(error) !== '23514') throw error
    await engine.lanes.single(
      addAttention(newId(), 'late-failure', payment.id, payment.attemptKey, 0, {
        why: 'it failed after it counted as done, and later operations used what it gave',
        code: decision.resultCode,
      }),
    )
  }
}
