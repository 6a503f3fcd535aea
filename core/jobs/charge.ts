import { carryOutQueued } from '../payment/carry-out-queued.ts'
import { resolve } from '../payment/resolve.ts'
import { chargeExecutions, executionOfAttempt } from '../schedule/charge.ts'
import { defineJob, groupOfConnector, outsideCall } from './define.ts'

/**
 * Charges fired executions, sends queued payments, and resolves payments whose request did not finish, whose time is
 * over, or whose acquirer still owes the final word. The execution of a schedule's payment
 * continues from there. Safe to run twice: an execution takes one payment, one process takes a queued
 * payment, an enquiry precedes every other action, and `settle` moves the row only under the lease
 * taken there.
 */
export const charge = defineJob<
  | {
      attemptKey: string
      why: 'look' | 'expiry' | 'queued'
      connector?: string | null
      timerId?: string
    }
  | { merchantId: string; occurrenceIds: readonly string[]; after?: number }
>({
  name: 'charge',
  retry: outsideCall,
  concurrency: 8,
  // A merchant with many charges leaves room for the others, and so does an acquirer that hangs.
  concurrencyOfGroup: 6,
  keyOf: (payload) =>
    'attemptKey' in payload ? payload.attemptKey : (payload.occurrenceIds[0] ?? ''),
  groupOf: (payload) =>
    'merchantId' in payload ? payload.merchantId : groupOfConnector(payload.connector),
  async run(payload, engine) {
    if ('occurrenceIds' in payload) {
      await chargeExecutions(engine, payload.occurrenceIds, payload.after)
    } else if (payload.why === 'queued') {
      await carryOutQueued(engine, payload.attemptKey)
    } else {
      const executionId = await executionOfAttempt(engine, payload.attemptKey)
      const { attemptKey, why, timerId } = payload
      await resolve(engine, attemptKey, why, 'engine', timerId)
      if (executionId !== undefined) await chargeExecutions(engine, [executionId])
    }
  },
})
