import { limits } from '@tollgate/schemas'
import { workOnScope } from '../settlement/work.ts'
import { defineJob } from './define.ts'

/**
 * Works on the settlement files of one scope. The tick queues the job again while a file is due.
 * Safe to run twice: every commit checks the leases of the scopes that the file names, and a step that did
 * not commit begins anew.
 */
export const reconciliation = defineJob<{ scopeId: string }>({
  name: 'reconciliation',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: limits.bulkConnections,
  keyOf: ({ scopeId }) => scopeId,
  async run({ scopeId }, engine) {
    await engine.inFlight.track(workOnScope(engine, scopeId))
  },
})
