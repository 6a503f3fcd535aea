import { resolve } from '../payment/resolve.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import { takeStepsOrList } from '../payment/two-step.ts'
import { defineJob, groupOfConnector, outsideCall } from './define.ts'

/**
 * Finishes one follow-up (capture, refund, reversal) that its request did not finish, or takes the
 * second step of a payment that is authorised and captured in one request.
 * Safe to run twice: a step that exists is found by its key, and `settle` moves a row only under a lease.
 */
export const capture = defineJob<
  ({ attemptKey: string } | { authorisationId: string }) & { connector?: string | null }
>({
  name: 'capture',
  retry: outsideCall,
  concurrency: 8,
  // An acquirer that hangs leaves room for the others.
  concurrencyOfGroup: 6,
  keyOf: (payload) => ('attemptKey' in payload ? payload.attemptKey : payload.authorisationId),
  groupOf: ({ connector }) => groupOfConnector(connector),
  async run(payload, engine) {
    if ('attemptKey' in payload) {
      await resolve(engine, payload.attemptKey, 'look')
      return
    }
    const [row] = await engine.lanes.single(paymentById(payload.authorisationId, null))
    if (row !== undefined) await takeStepsOrList(engine, toPayment(row))
  },
})
