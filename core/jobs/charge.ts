import { resolve } from '../payment/resolve.ts'
import { defineJob, outsideCall } from './define.ts'

/**
 * Finds out what became of a payment whose request did not finish it, or whose time is over.
 * Safe to run twice: it asks before it acts, and `settle` moves the row only under the lease taken there.
 */
export const charge = defineJob<{ attemptKey: string; why: 'enquiry' | 'expiry' }>({
  name: 'charge',
  retry: outsideCall,
  concurrency: 8,
  keyOf: ({ attemptKey }) => attemptKey,
  async run({ attemptKey, why }, engine) {
    await resolve(engine, attemptKey, why)
  },
})
