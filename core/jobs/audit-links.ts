import { limits } from '@tollgate/schemas'
import { addNextLinks, BrokenChain } from '../audit-chain/chain.ts'
import { sqlState } from '../db/database.ts'
import { defineJob } from './define.ts'

/**
 * Gives new rows of the audit trail their links, and logs where the chain ends: a log that is kept elsewhere
 * shows when the trail was cut off. Where the chain does not let itself be gone on with, somebody is woken. Safe to run twice: a row waits for its link until the very commit that
 * adds it, and two that add links take turns.
 */
export const auditLinks = () => {
  let loggedMs = Number.NEGATIVE_INFINITY
  return defineJob<Record<string, never>>({
    name: 'audit-links',
    retry: { limit: 0, delaySeconds: 1 },
    concurrency: 1,
    keyOf: () => 'audit-links',
    async run(_, { lanes, vault, clock, securityLog, alarm }) {
      for (;;) {
        const { added, anchor } = await addNextLinks(lanes, (id) => vault.chainKey(id)).catch(
          (error: unknown) => {
            if (isBroken(error)) alarm('audit-trail', { subject: 'chain', why: error.message })
            throw error
          },
        )
        if (added > 0 && clock.elapsedMs() - loggedMs >= limits.alarmMs) {
          loggedMs = clock.elapsedMs()
          securityLog.info({ anchor }, 'the audit trail goes on')
        }
        if (added < limits.auditLinksAtOnce) return
      }
    },
  })
}

/** A chain that somebody else wrote to; not a database or a key that is away for a while. */
const isBroken = (error: unknown): error is Error =>
  error instanceof BrokenChain ||
  (error instanceof Error &&
    (error.name === 'MissingKeyError' || /^(23|42)/.test(sqlState(error) ?? '')))
