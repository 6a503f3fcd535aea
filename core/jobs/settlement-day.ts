import { settleDays } from '../settlement/simulated/days.ts'
import { defineJob, groupOfMerchant, type OfMerchant } from './define.ts'

/**
 * Writes the settlement files of one channel whose institute the simulator plays.
 * Safe to run twice: each day is entered once, and the same bytes are recognised.
 */
export const settlementDay = defineJob<{ ref: string } & OfMerchant>({
  name: 'settlement-day',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 2,
  // A merchant with much to do leaves room for the others.
  concurrencyOfGroup: 1,
  keyOf: ({ ref }) => ref,
  groupOf: groupOfMerchant,
  async run({ ref }, engine) {
    await engine.inFlight.track(settleDays(engine, ref))
  },
})
