import { limits } from '@tollgate/schemas'
import { advance } from '../test-clock/advance.ts'
import { defineJob, groupOfMerchant, type OfMerchant } from './define.ts'

/**
 * Moves a test clock towards its target, doing everything that is due on the way, and leaves the rest to the next
 * job after a while: the tick queues one again until the clock has arrived.
 * Safe to run twice: each step is found again from the clock's position, and each charge takes its
 * own slot.
 */
export const advanceClock = defineJob<{ clockId: string } & OfMerchant>({
  name: 'advance-clock',
  retry: { limit: 20, delaySeconds: 1 },
  concurrency: limits.clocksRunning,
  // A merchant with many long advances leaves room for the others.
  concurrencyOfGroup: limits.clocksPerMerchant,
  keyOf: ({ clockId }) => clockId,
  groupOf: groupOfMerchant,
  async run({ clockId }, engine, signal) {
    const ends = [AbortSignal.timeout(limits.clockSliceMs), engine.inFlight.ending]
    await advance(engine, clockId, AbortSignal.any(signal === undefined ? ends : [...ends, signal]))
  },
})
