/** The second commit of an attempt as data: its row and the timers after it. */
import { storable } from '../db/json.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { addTimer } from '../timer/store.ts'
import type { AttemptContext } from './attempt-context.ts'
import { type Decision, ownBalance } from './decide.ts'
import { leaseMs } from './lease.ts'
import { notifies, type PaymentEvent, storedEvent } from './payment-event.ts'
import type { SettleFirstRow } from './store-first.ts'
import type { Held, Payment, Source } from './types.ts'

/** The part of an attempt that settling needs. An operator's decision has no connector to call. */
export type Settling = Pick<AttemptContext, 'payment' | 'lease' | 'begun' | 'returns' | 'trial'>

/** The step after an approved authorisation is due from the approving commit on. */
function nextTimer(
  engine: Engine,
  { payment }: Settling,
  decision: Decision,
  source: Source,
): { kind: string; ref: string; afterMs: number } | null {
  if (decision.lookAfterMs !== null) {
    return { kind: 'look', ref: payment.attemptKey, afterMs: decision.lookAfterMs }
  }
  if (decision.state !== 'approved' || payment.chainId === null) return null
  // The sending process continues by itself; after its death, another process takes the step.
  const afterMs = source === 'answer' ? leaseMs(2 * engine.connectorTimeoutMs) : 0
  return { kind: 'continue', ref: payment.id, afterMs }
}

/** The same timer beside a look at the attempt, whose own timer occupies the row. */
export function secondStep(payment: Payment, decision: Decision): Sql[] {
  const isDue =
    decision.state === 'approved' && decision.lookAfterMs !== null && payment.chainId !== null
  return isDue ? [addTimer(newId(), 'continue', payment.id, 0)] : []
}

/** The payment as its end leaves it, for a late word in the same commit. */
export const heldAfter = (
  { payment, lease }: Settling,
  { state, attemptState, resultCode, answer }: Decision,
  settledBy: Source,
  enquiries: number,
): Held => ({
  payment: { ...payment, state, resultCode, approvedMinor: null, answer },
  attempt: { state: attemptState, lease, leaseUntil: null, enquiries, settledBy, stage: 'money' },
})

/** The row of the second commit. */
export function rowOf(
  engine: Engine,
  work: Settling,
  decision: Decision,
  event: PaymentEvent,
  source: Source,
  atOnce: boolean,
): SettleFirstRow {
  const { payment } = work
  const own =
    decision.state === 'approved'
      ? ownBalance(payment, payment.effect, decision.approvedMinor ?? payment.amount.minor)
      : null
  const isOver = decision.state === 'declined' || decision.state === 'expired'
  const timer = nextTimer(engine, work, decision, source)
  return {
    id: payment.id,
    attempt_key: payment.attemptKey,
    lease: work.lease,
    attempt_state: decision.attemptState,
    source,
    state: decision.state,
    result_code: decision.resultCode,
    approved_minor: decision.approvedMinor,
    final_by: decision.finalBy,
    answer: storable(decision.answer),
    event_id: event.id,
    event_type: event.type,
    event_data: storedEvent(event).data,
    balance_kind: own?.kind ?? null,
    authorised: own?.authorised ?? null,
    captured: own?.captured ?? null,
    max_captures: own?.maxCaptures ?? null,
    erase_instrument: isOver,
    timer_id: timer === null ? null : newId(),
    timer_kind: timer?.kind ?? null,
    timer_ref: timer?.ref ?? payment.attemptKey,
    timer_after_ms: timer === null ? null : atOnce ? 0 : Math.ceil(timer.afterMs),
    expire_id: decision.expiresAt === null ? null : newId(),
    expire_at: decision.expiresAt,
    notifies: notifies(payment),
    listeners: listenersOf(engine, payment),
  }
}

/** The entities whose webhooks get events of the payment, as an array literal; null where not known now. */
function listenersOf({ directory }: Engine, { channelId }: Payment): string | null {
  const path = directory.knownPath(channelId)
  return path === undefined ? null : `{${path.join()}}`
}
