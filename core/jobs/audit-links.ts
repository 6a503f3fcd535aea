import { limits } from '@tollgate/schemas'
import { addNextLinks } from '../audit/chain.ts'
import { defineJob } from './define.ts'

/**
 * Gives new rows of the audit trail their links, and logs where the chain ends: a log that is kept elsewhere
 * shows when the trail was cut off. Safe to run twice: a row waits for its link until the very commit that
 * adds it, and two that add links take turns.
 */
export const auditLinks = () => {
  let loggedMs = Number.NEGATIVE_INFINITY
  return defineJob<Record<string, never>>({
    name: 'audit-links',
    retry: { limit: 0, delaySeconds: 1 },
    concurrency: 1,
    keyOf: () => 'audit-links',
    async run(_, { lanes, vault, clock, securityLog }) {
      for (;;) {
        const { added, anchor } = await addNextLinks(lanes, () => vault.chainKey())
        if (added > 0 && clock.elapsedMs() - loggedMs >= limits.alarmMs) {
          loggedMs = clock.elapsedMs()
          securityLog.info({ anchor }, 'the audit trail goes on')
        }
        if (added < limits.auditLinksAtOnce) return
      }
    },
  })
}
