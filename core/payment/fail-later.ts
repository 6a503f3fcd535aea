import type { Outcome } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { announce, eventOf } from './announce.ts'
import { decide } from './decide.ts'
import { failAccepted } from './store-settle.ts'
import type { Payment } from './types.ts'

/**
 * An operation that counted as done, but not for good, failed: it becomes declined and its sums are
 * given back.
 */
export async function failLater(engine: Engine, payment: Payment, outcome: Outcome): Promise<void> {
  const decision = decide(payment, outcome, 0, engine.clock.businessAt(payment.channelId))
  if (decision.state !== 'declined') return
  const refunded = payment.effect === 'refund' ? payment.amount.minor : 0n
  const event = eventOf(newId(), payment, 'declined', decision.resultCode)
  const [moved] = await engine.lanes.single(
    failAccepted(
      {
        id: payment.id,
        resultCode: decision.resultCode,
        answer: JSON.stringify(decision.answer),
        eventId: event.id,
        eventType: event.type,
        eventData: JSON.stringify(event.data),
      },
      refunded === 0n ? null : payment.parentId,
      refunded,
    ),
  )
  if (moved !== undefined) announce(engine, payment, event, moved.seq)
}
