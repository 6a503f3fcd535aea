import { limits } from '@tollgate/schemas'
import { advancing } from '../business-time/store.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { overdue } from '../payment/store-settle.ts'
import type { Enqueue, EnqueueWithin } from '../queue/types.ts'
import { noteExpiry } from '../registration/expiry.ts'
import { seriesOf } from '../report/cut.ts'
import { dueDestinations } from '../report-delivery/store-queue.ts'
import { noteEnd } from '../schedule/end.ts'
import { batchesOf, fireDue } from '../schedule/fire.ts'
import { forgotten } from '../schedule/store-fire.ts'
import { retryOf } from '../settlement/retry.ts'
import { dueScopes } from '../settlement/store-file.ts'
import {
  type ClaimedRow,
  claimDue,
  connectorsOf,
  type TimerKind,
  type TimerRow,
} from '../timer/store.ts'
import { callShopperResult } from '../webhook/callbacks.ts'
import { advanceClock } from './advance-clock.ts'
import { capture } from './capture.ts'
import { charge } from './charge.ts'
import { defineJob } from './define.ts'
import { ofExecutions, ofScopes, withMerchants } from './merchants.ts'
import { reconciliation } from './reconciliation.ts'
import { reportCut } from './report-cut.ts'
import { reportDelivery } from './report-delivery.ts'
import { settlementDay } from './settlement-day.ts'
import { settlementEffect } from './settlement-effect.ts'
import { settlementFetch } from './settlement-fetch.ts'
import { settlementRetry } from './settlement-retry.ts'

const firstKinds = new Set(['authorize', 'debit', 'credit', 'verify'])

/**
 * Turns due work into jobs: attempts of dead processes, timers, waiting acquirers' events, and
 * schedules. Safe to run twice: a claimed timer is postponed instead of deleted, jobs are unique by
 * key, and each job checks before it acts.
 *
 * @param workOnEvents An event can wait for an acquirer's answer, and no other due work waits for it.
 */
export const scheduleTick = (
  enqueue: Enqueue,
  enqueueWithin: EnqueueWithin,
  workOnEvents: () => Promise<void>,
) =>
  defineJob<{ processId: string }>({
    name: 'schedule-tick',
    retry: { limit: 0, delaySeconds: 1 },
    concurrency: 1,
    sharedBecause: 'it only finds due work, in bounded statements, and leaves it to other jobs',
    keyOf: ({ processId }) => processId,
    async run(_, engine) {
      await faultPoint('before-sweep', engine.name)
      void workOnEvents()
      const parts = [
        () => sweep(engine, enqueue),
        () => fireTimers(engine, enqueue),
        () => fireDue(engine, (client, batches) => enqueueWithin(client, charge, batches)),
        () => remember(engine, enqueue),
        () => reconcile(engine, enqueue),
        () => deliverReports(engine, enqueue),
      ]
      // A failure of one schedule must not stop the others.
      const errors: unknown[] = []
      for (const part of parts) await part().catch((error: unknown) => errors.push(error))
      if (errors.length > 0) throw errors[0]
    },
  })

async function sweep(engine: Engine, enqueue: Enqueue): Promise<void> {
  const rows = await engine.lanes.single(overdue(limits.timersPerClaim))
  await enqueue(
    charge,
    rows
      .filter((row) => firstKinds.has(row.kind))
      .map(({ key, connector }) => ({ attemptKey: key, why: 'look' as const, connector })),
  )
  await enqueue(
    capture,
    rows
      .filter((row) => !firstKinds.has(row.kind))
      .map(({ key, connector }) => ({ attemptKey: key, connector })),
  )
}

/** The reason of a timer's look at an attempt. */
const questions: { readonly [Kind in TimerKind]?: 'look' | 'expiry' | 'queued' } = {
  look: 'look',
  queued: 'queued',
  expire: 'expiry',
}

async function claimTimers(engine: Engine): Promise<ClaimedRow[]> {
  const claimed = await engine.lanes.single(claimDue(limits.timersPerClaim, limits.timerAgainMs))
  if (claimed.length === 0) return []
  const connectors = await engine.lanes.single(connectorsOf(claimed))
  const connectorOf = new Map(connectors.map(({ ref, connector }) => [ref, connector]))
  return claimed.map((timer) => ({ ...timer, connector: connectorOf.get(timer.ref) ?? null }))
}

/** Timers whose work is one statement, without a job. */
async function tell(engine: Engine, { kind, ref }: ClaimedRow): Promise<void> {
  if (kind === 'expiring') await noteExpiry(engine, ref)
  if (kind === 'schedule-end') await noteEnd(engine, ref)
  if (kind === 'callback') await callShopperResult(engine, ref)
}

async function fireTimers(engine: Engine, enqueue: Enqueue): Promise<void> {
  const due = await claimTimers(engine)
  for (const timer of due) {
    // One that fails is due again; the others, such as looks at payments, must not wait for it.
    await tell(engine, timer).catch((error: unknown) => {
      const { kind, ref } = timer
      const { name } = error instanceof Error ? error : { name: typeof error }
      engine.log.warn(
        { timer: kind, ref, error: name },
        'a timer failed, and is due again in a minute',
      )
    })
  }
  const ending = new Set(due.filter(({ kind }) => kind === 'expire').map(({ ref }) => ref))
  await enqueue(
    charge,
    due.flatMap(({ id, kind, ref, connector }) => {
      // Only one job of an attempt is queued at a time, and the end of its time begins with a look.
      if (kind === 'look' && ending.has(ref)) return []
      const why = questions[kind]
      return why === undefined ? [] : [{ attemptKey: ref, why, connector, timerId: id }]
    }),
  )
  await enqueue(
    charge,
    await ofExecutions(
      engine,
      due
        .filter((timer) => timer.kind === 'execution' || timer.kind === 'resubmit')
        .map(executionOf),
    ),
  )
  await enqueue(
    capture,
    due
      .filter((timer) => timer.kind === 'continue')
      .map(({ ref, connector }) => ({ authorisationId: ref, connector })),
  )
  await enqueue(
    settlementFetch,
    due
      .filter((timer) => timer.kind === 'settlement-fetch')
      .map(({ ref, connector }) => ({ accountId: ref, connector })),
  )
  await enqueue(
    settlementEffect,
    await ofScopes(
      engine,
      due
        .filter((timer) => timer.kind === 'settlement-effect')
        .map(({ ref }) => ({ scopeId: ref })),
    ),
  )
  await enqueue(
    settlementRetry,
    await ofScopes(
      engine,
      due.filter((timer) => timer.kind === 'settlement-retry').map(({ ref }) => retryOf(ref)),
    ),
  )
  await enqueue(
    settlementDay,
    await withMerchants(
      engine,
      due.filter((timer) => timer.kind === 'settlement-day').map(({ ref }) => ({ ref })),
      ({ ref }) => ref.split(' ')[1] ?? ref,
    ),
  )
  await enqueue(
    reportCut,
    await withMerchants(
      engine,
      due.filter((timer) => timer.kind === 'report-cut').map(({ ref }) => ({ ref })),
      ({ ref }) => seriesOf(ref).entityId,
    ),
  )
}

async function reconcile(engine: Engine, enqueue: Enqueue): Promise<void> {
  const scopes = await engine.lanes.single(dueScopes(limits.timersPerClaim))
  await enqueue(
    reconciliation,
    await ofScopes(
      engine,
      scopes.map(({ id }) => ({ scopeId: id })),
    ),
  )
}

async function deliverReports(engine: Engine, enqueue: Enqueue): Promise<void> {
  const destinations = await engine.lanes.single(dueDestinations(limits.timersPerClaim))
  await enqueue(
    reportDelivery,
    destinations.map((row) => ({ destinationId: row.id, merchantId: row.merchant_id })),
  )
}

/** Jobs that ran out of tries, or were lost with a queue, leave executions behind. */
async function remember(engine: Engine, enqueue: Enqueue): Promise<void> {
  const rows = await engine.lanes.single(
    forgotten(limits.forgottenExecutionMs, limits.timersPerClaim),
  )
  await enqueue(charge, batchesOf(rows.map((row) => ({ id: row.id, merchantId: row.merchant_id }))))
  const clocks = await engine.lanes.single(advancing(limits.timersPerClaim))
  await enqueue(
    advanceClock,
    clocks.map((row) => ({ clockId: row.id, merchantId: row.merchant_id })),
  )
}

/** An execution to look at again, or the attempt of one whose decline waited long enough. */
function executionOf({ kind, ref }: TimerRow) {
  const [executionId = '', attempt] = ref.split(' ')
  const payload = { occurrenceIds: [executionId] }
  return kind === 'resubmit' ? { ...payload, after: Number(attempt) } : payload
}
