import { fetchFiles } from '../settlement/fetch.ts'
import { defineJob, groupOfConnector } from './define.ts'

/**
 * Fetches the settlement files of one account.
 * Safe to run twice: the bytes of a file that is stored already are recognised, and the cursor moves after
 * its file.
 */
export const settlementFetch = defineJob<{ accountId: string; connector: string | null }>({
  name: 'settlement-fetch',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 4,
  // An acquirer that hangs leaves room for the others.
  concurrencyOfGroup: 2,
  keyOf: ({ accountId }) => accountId,
  groupOf: ({ connector }) => groupOfConnector(connector),
  run: ({ accountId }, engine) => fetchFiles(engine, accountId),
})
