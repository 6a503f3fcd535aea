import { settleDays } from '../settlement/simulated/days.ts'
import { defineJob } from './define.ts'

/**
 * Writes the settlement files of one channel whose institute the simulator plays.
 * Safe to run twice: each day is entered once, and the same bytes are recognised.
 */
export const settlementDay = defineJob<{ ref: string }>({
  name: 'settlement-day',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 1,
  keyOf: ({ ref }) => ref,
  async run({ ref }, engine) {
    await engine.inFlight.track(settleDays(engine, ref))
  },
})
