import { askForFinality } from '../payment/finality.ts'
import { resolve } from '../payment/resolve.ts'
import { defineJob, outsideCall } from './define.ts'

/**
 * Finds out what became of a payment whose request did not finish it, whose time is over, or whose
 * acquirer has yet to say its final word.
 * Safe to run twice: it asks before it acts, and `settle` moves the row only under the lease taken there.
 */
export const charge = defineJob<{ attemptKey: string; why: 'enquiry' | 'expiry' | 'finality' }>({
  name: 'charge',
  retry: outsideCall,
  concurrency: 8,
  keyOf: ({ attemptKey }) => attemptKey,
  async run({ attemptKey, why }, engine) {
    if (why === 'finality') await askForFinality(engine, attemptKey)
    else await resolve(engine, attemptKey, why)
  },
})
