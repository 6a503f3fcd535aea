import { applyLater } from '../settlement/retry.ts'
import { defineJob } from './define.ts'

/**
 * Carries out the settlement records of one scope that could not take effect yet, or that an operator gave to
 * their payments.
 * Safe to run twice: the words and facts of a payment happen once.
 */
export const settlementEffect = defineJob<{ scopeId: string }>({
  name: 'settlement-effect',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 1,
  keyOf: ({ scopeId }) => scopeId,
  async run({ scopeId }, engine) {
    await engine.inFlight.track(applyLater(engine, scopeId))
  },
})
