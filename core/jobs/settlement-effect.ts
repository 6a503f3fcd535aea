import { applyLater } from '../settlement/retry.ts'
import { defineJob, groupOfMerchant, type OfMerchant } from './define.ts'

/**
 * Carries out the settlement records of one scope that could not take effect yet, or that an operator gave to
 * their payments.
 * Safe to run twice: the words and facts of a payment happen once.
 */
export const settlementEffect = defineJob<{ scopeId: string } & OfMerchant>({
  name: 'settlement-effect',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 2,
  // A merchant with much to do leaves room for the others.
  concurrencyOfGroup: 1,
  keyOf: ({ scopeId }) => scopeId,
  groupOf: groupOfMerchant,
  async run({ scopeId }, engine) {
    await engine.inFlight.track(applyLater(engine, scopeId))
  },
})
