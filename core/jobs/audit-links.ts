import { limits } from '@tollgate/schemas'
import { addNextLinks, BrokenChain } from '../audit-chain/chain.ts'
import { sqlState } from '../db/database.ts'
import { defineJob } from './define.ts'

/**
 * Gives new rows of the audit trail their links. Where the chain does not let itself be gone on with, somebody
 * is woken. Safe to run twice: a row waits for its link until the very commit that adds it, and two that add
 * links take turns.
 */
export const auditLinks = defineJob<Record<string, never>>({
  name: 'audit-links',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 1,
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

/** A chain that somebody else wrote to; not a database or a key that is away for a while. */
const isBroken = (error: unknown): error is Error =>
  error instanceof BrokenChain ||
  (error instanceof Error &&
    (error.name === 'MissingKeyError' || /^(23|42)/.test(sqlState(error) ?? '')))
