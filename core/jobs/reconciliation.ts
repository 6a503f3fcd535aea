import { limits } from '@tollgate/schemas'
import { workOnScope } from '../settlement/work.ts'
import { defineJob, groupOfMerchant, type OfMerchant } from './define.ts'

/**
 * Works on the settlement files of one scope. The tick queues the job again while a file is due.
 * Safe to run twice: every commit checks the leases of the scopes that the file names, and a step that did
 * not commit begins anew.
 */
export const reconciliation = defineJob<{ scopeId: string } & OfMerchant>({
  name: 'reconciliation',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: limits.bulkConnections,
  // A merchant with many files leaves room for the others.
  concurrencyOfGroup: limits.bulkConnections - 1,
  keyOf: ({ scopeId }) => scopeId,
  groupOf: groupOfMerchant,
  async run({ scopeId }, engine) {
    await engine.inFlight.track(workOnScope(engine, scopeId))
  },
})
