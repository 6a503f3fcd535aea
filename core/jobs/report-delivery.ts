import { limits } from '@tollgate/schemas'
import { deliverTo } from '../report-delivery/deliver.ts'
import { defineJob } from './define.ts'

/**
 * Takes the waiting report files of one destination there. The tick queues the job again while a file is due.
 * Safe to run twice: one process at a time has the destination's lease, and a file that is there already is
 * recognised and not sent again.
 */
export const reportDelivery = defineJob<{ destinationId: string }>({
  name: 'report-delivery',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: limits.reportDestinationsRunning,
  keyOf: ({ destinationId }) => destinationId,
  async run({ destinationId }, engine) {
    await engine.inFlight.track(deliverTo(engine, destinationId))
  },
})
