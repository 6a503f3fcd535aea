import { limits } from '@tollgate/schemas'
import { makePartitions } from '../process/partitions.ts'
import { purgeIdempotency } from '../process/store.ts'
import { dropSteps, purgeSteps } from '../step/store.ts'
import { dropDeliveries } from '../webhook/store.ts'
import { defineJob } from './define.ts'

const batch = 5000

/**
 * Makes the partitions of the months ahead and removes idempotency keys, delivery logs and steps that are
 * past their time. Safe to run twice: partitions that exist are left alone, and what is removed is removed.
 */
export const housekeeping = defineJob<Record<string, never>>({
  name: 'housekeeping',
  retry: { limit: 3, delaySeconds: 60 },
  concurrency: 1,
  keyOf: () => 'housekeeping',
  async run(_, engine) {
    await makePartitions(engine.lanes, engine.log)
    for (;;) {
      const purged = await engine.lanes.upkeep(purgeIdempotency(limits.idempotencyDays, batch))
      if (purged.length < batch) break
    }
    await engine.lanes.upkeep(dropDeliveries(limits.deliveryDays))
    const days = engine.steps.days === 0 ? limits.stepDays : engine.steps.days
    await engine.lanes.upkeep(dropSteps(days))
    for (;;) {
      const purged = await engine.lanes.upkeep(purgeSteps(days, batch))
      if (purged.length < batch) return
    }
  },
})
