/** A simulated acquirer lives in the time of its payments: it decides when their test clock gets there. */
import type { Outcome } from '@tollgate/plugin-kit'
import { businessNow } from '../business-time/time.ts'
import type { Engine } from '../engine.ts'
import { lookOnClock } from './store-settle.ts'
import type { Payment } from './types.ts'

/**
 * Moves the next look at a pending payment with `testMode=INTERNAL` to its test clock, where it has one. Acquirers
 * outside keep real time. Safe to lose in a crash: the look then comes in real time, and moves the next one.
 */
export async function followClock(
  engine: Pick<Engine, 'lanes' | 'clock'>,
  { mode, state, clockId, channelId, attemptKey }: Payment,
  outcome: Outcome,
): Promise<void> {
  if (clockId === null || mode !== 'INTERNAL' || state !== 'pending') return
  if (outcome.is !== 'pending' || typeof outcome.next !== 'object' || !('poll' in outcome.next)) {
    return
  }
  const now = await businessNow(engine, channelId, clockId)
  const at = new Date(now.getTime() + Math.ceil(outcome.next.poll))
  await engine.lanes.single(lookOnClock(attemptKey, clockId, at))
}
