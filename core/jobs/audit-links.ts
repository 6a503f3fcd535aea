import { limits } from '@tollgate/schemas'
import { addNextLinks, BrokenChain } from '../audit-chain/chain.ts'
import { sqlState } from '../db/database.ts'
import { defineJob } from './define.ts'

/**
 * Adds links to new rows of the audit trail, and raises an alarm for a broken chain.
 * Safe to run twice: a row waits for its link until the commit that adds it, and two processes take
 * turns.
 */
export const auditLinks = defineJob<Record<string, never>>({
  name: 'audit-links',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 1,
  sharedBecause: 'the trail is one chain, and each commit adds a bounded number of links',
  keyOf: () => 'audit-links',
  async run(_, { lanes, vault, alarm }) {
    for (;;) {
      const added = await addNextLinks(lanes, (id) => vault.chainKey(id)).catch(
        (error: unknown) => {
          if (isBroken(error)) alarm('audit-trail', { subject: 'chain', why: error.message })
          throw error
        },
      )
      if (added < limits.auditLinksAtOnce) return
    }
  },
})

/** Another writer changed the chain; a database or key outage does not count. */
const isBroken = (error: unknown): error is Error =>
  error instanceof BrokenChain ||
  (error instanceof Error &&
    (error.name === 'MissingKeyError' || /^(23|42)/.test(sqlState(error) ?? '')))
