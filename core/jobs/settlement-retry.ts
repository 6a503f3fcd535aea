import { type Reach, retryScope } from '../settlement/retry.ts'
import { defineJob, groupOfMerchant, type OfMerchant } from './define.ts'

/**
 * Compares the undecided settlement records of one scope with payments again.
 * Safe to run twice: the lease of the scope fences every commit, and a record with the same result keeps its
 * version.
 */
export const settlementRetry = defineJob<{ scopeId: string; reach: Reach } & OfMerchant>({
  name: 'settlement-retry',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 2,
  // A merchant with much to do leaves room for the others.
  concurrencyOfGroup: 1,
  keyOf: ({ scopeId }) => scopeId,
  groupOf: groupOfMerchant,
  async run({ scopeId, reach }, engine) {
    await engine.inFlight.track(retryScope(engine, scopeId, reach))
  },
})
