import { limits } from '@tollgate/schemas'
import { deliverTo } from '../report-delivery/deliver.ts'
import { defineJob, groupOfMerchant, type OfMerchant } from './define.ts'

/**
 * Takes the waiting report files of one destination there. The tick queues the job again while a file is due.
 * Safe to run twice: one process at a time has the destination's lease, and a file that is there already is
 * recognised and not sent again.
 */
export const reportDelivery = defineJob<{ destinationId: string } & OfMerchant>({
  name: 'report-delivery',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: limits.reportDestinationsRunning,
  // Slow servers of one merchant leave room for the others, also while one file takes its longest time.
  concurrencyOfGroup: limits.reportDestinationsPerMerchant,
  expireSeconds: (limits.transferMs + 2 * limits.reportRunMs) / 1000,
  keyOf: ({ destinationId }) => destinationId,
  groupOf: groupOfMerchant,
  async run({ destinationId }, engine) {
    await engine.inFlight.track(deliverTo(engine, destinationId))
  },
})
