import { limits } from '@tollgate/schemas'
import { purgeEvents, purgeUnverified } from '../acquirer-events/store.ts'
import { purgeCheckouts, purgeSecrets } from '../checkout/store.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { purgeProposals } from '../four-eyes/store-proposal.ts'
import { purgeSessions } from '../operator-access/store.ts'
import { purgeFailures } from '../operator-access/store-login.ts'
import { makePartitions } from '../process/partitions.ts'
import { purgeIdempotency } from '../process/store.ts'
import { purgeDrafts } from '../report/store-cut.ts'
import { purgeDestinations, purgeReportDeliveries } from '../report-delivery/store-queue.ts'
import { purgeParts } from '../settlement/store-file.ts'
import { dropSteps, purgeSteps } from '../transcript/store.ts'
import { purgeReplays } from '../wallet/store.ts'
import { dropDeliveries, purgeEndpoints } from '../webhook/store.ts'
import { defineJob } from './define.ts'

const batch = 5000
/** Parts of settlement files, a MiB each. */
const partBatch = 200
/** Report files that were not published, any size. */
const draftBatch = 1

/**
 * Creates the partitions of the coming months, and deletes expired rows: idempotency keys, tokens of wallets, messages
 * of acquirers, checkouts without a payment, sealed numbers of checkouts, bytes of settlement files, unpublished report files, delivery logs, removed webhook endpoints and report destinations, steps, sessions, failed logins and
 * proposals. Safe to run twice: existing partitions and deleted rows need no work.
 */
export const housekeeping = defineJob<Record<string, never>>({
  name: 'housekeeping',
  retry: { limit: 3, delaySeconds: 60 },
  concurrency: 1,
  sharedBecause: 'it deletes what has expired, of all merchants alike, and nobody waits for it',
  keyOf: () => 'housekeeping',
  async run(_, engine) {
    await makePartitions(engine.lanes, engine.log)
    await inBatches(engine, () => purgeIdempotency(limits.idempotencyDays, batch))
    await inBatches(engine, () => purgeUnverified(limits.unverifiedEventDays, batch))
    await inBatches(engine, () => purgeEvents(limits.eventDays, batch))
    const ago = (ms: number) => new Date(engine.clock.realMs() - ms)
    await inBatches(engine, () => purgeReplays(ago(0), batch))
    await inBatches(engine, () => purgeSessions(ago(limits.sessionMs), batch))
    await inBatches(engine, () => purgeFailures(ago(limits.loginForgottenMs), batch))
    await inBatches(engine, () => purgeProposals(ago(2 * limits.proposalMs), batch))
    await inBatches(engine, () => purgeSecrets(ago(limits.checkoutSecretMs), batch))
    await inBatches(engine, () => purgeCheckouts(ago(limits.checkoutMs), batch))
    await inBatches(engine, () => purgeParts(limits.settlementPartDays, partBatch), partBatch)
    await inBatches(engine, () => purgeDrafts(limits.reportDraftDays, draftBatch), draftBatch)
    await inBatches(engine, () => purgeReportDeliveries(limits.reportDeliveryDays, batch))
    await inBatches(engine, () => purgeDestinations(limits.reportDeliveryDays, batch))
    await engine.lanes.upkeep(dropDeliveries(limits.deliveryDays))
    await inBatches(engine, () => purgeEndpoints(limits.deliveryDays, batch))
    const days = engine.steps.days === 0 ? limits.stepDays : engine.steps.days
    await engine.lanes.upkeep(dropSteps(days))
    await inBatches(engine, () => purgeSteps(days, batch))
  },
})

async function inBatches(engine: Engine, purge: () => Sql, size = batch): Promise<void> {
  for (;;) {
    const purged = await engine.lanes.upkeep(purge())
    if (purged.length < size) return
  }
}
