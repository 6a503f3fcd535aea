import { askForFinality } from '../payment/finality.ts'
import { resolve } from '../payment/resolve.ts'
import { chargeOccurrences } from '../schedule/charge.ts'
import { defineJob, outsideCall } from './define.ts'

/**
 * Charges what schedules fired; and finds out what became of a payment whose request did not finish
 * it, whose time is over, or whose acquirer has yet to say its final word.
 * Safe to run twice: an occurrence takes one payment, a question comes before every act, and `settle`
 * moves the row only under the lease taken there.
 */
export const charge = defineJob<
  | { attemptKey: string; why: 'enquiry' | 'expiry' | 'finality' }
  | { merchantId: string; occurrenceIds: readonly string[]; after?: number }
>({
  name: 'charge',
  retry: outsideCall,
  concurrency: 8,
  // A merchant with many charges leaves room for the others.
  concurrencyOfGroup: 6,
  keyOf: (payload) =>
    'attemptKey' in payload ? payload.attemptKey : (payload.occurrenceIds[0] ?? ''),
  groupOf: (payload) => ('merchantId' in payload ? payload.merchantId : undefined),
  async run(payload, engine) {
    if ('occurrenceIds' in payload) {
      await chargeOccurrences(engine, payload.occurrenceIds, payload.after)
    } else if (payload.why === 'finality') await askForFinality(engine, payload.attemptKey)
    else await resolve(engine, payload.attemptKey, payload.why)
  },
})
