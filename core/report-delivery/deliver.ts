/** Takes the waiting files of one destination there, one after the other, under the destination's lease. */
import { TransferError } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { type ReportForm, reportBytes, reportFile } from '../report/open.ts'
import { pauseMs } from '../webhook/backoff.ts'
import { deliverFile } from './attempt.ts'
import { destinationById, toDestination } from './store.ts'
import {
  endLease,
  giveUpOld,
  nextDelivery,
  noteRenaming,
  renewLease,
  takeLease,
  toWaiting,
  writeResult,
} from './store-queue.ts'
import type { Delivery, Destination, Tried } from './types.ts'

/** After these the server may have done more than its answers say. */
const lost: ReadonlySet<Tried['result']> = new Set(['timeout', 'closed', 'aborted'])
/** Failures of one file, beside which others may succeed. */
const ofFile: ReadonlySet<Tried['result']> = new Set(['name-taken', 'source'])

/** Does nothing while another process has the destination, or during its pause. */
export async function deliverTo(engine: Engine, destinationId: string): Promise<void> {
  const { lanes, clock } = engine
  const endMs = clock.elapsedMs() + limits.reportRunMs
  const [taken] = await lanes.upkeep(takeLease(destinationId, limits.reportLeaseMs))
  if (taken === undefined) return
  const { lease } = taken
  const ending = new AbortController()
  const timer = setInterval(() => {
    lanes.upkeep(renewLease(destinationId, lease, limits.reportLeaseMs)).then(
      (rows) => rows.length === 0 && ending.abort(),
      // Whether the lease still holds is asked again before the file gets its name.
      () => {},
    )
  }, limits.reportLeaseRenewMs)
  timer.unref()
  try {
    await lanes.upkeep(giveUpOld(destinationId, lease, limits.webhookDays))
    for (let count = 0; count < limits.reportFilesPerRun && !ending.signal.aborted; count += 1) {
      if (count > 0 && clock.elapsedMs() >= endMs) return
      const [row] = await lanes.upkeep(destinationById(destinationId))
      const [next] = await lanes.upkeep(nextDelivery(destinationId))
      if (row === undefined || !row.active || next === undefined) return
      const goesOn = await deliver(
        engine,
        toDestination(row),
        toWaiting(next),
        lease,
        AbortSignal.any([ending.signal, engine.inFlight.ending]),
      )
      if (!goesOn) return
    }
  } finally {
    clearInterval(timer)
    await lanes.upkeep(endLease(destinationId, lease))
  }
}

/** @returns whether the next file may follow at once. */
async function deliver(
  engine: Engine,
  destination: Destination,
  delivery: Delivery,
  lease: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { lanes } = engine
  const form: ReportForm = destination.raw ? 'raw' : 'guarded'
  const report = await reportFile(engine, delivery.fileId, form)
  let isRenamingNow = false
  const tried: Tried =
    report === undefined
      ? missing(engine)
      : await deliverFile(
          engine,
          destination,
          {
            name: report.name,
            bytes: report.bytes,
            open: () => reportBytes(engine, report, form),
            isRenaming: delivery.isRenaming,
            async renaming() {
              const [noted] = await lanes.upkeep(noteRenaming(delivery.id, destination.id, lease))
              if (noted === undefined) {
                throw new TransferError('aborted', 'another process has the destination')
              }
              isRenamingNow = true
              await faultPoint('report-renaming', delivery.id)
            },
          },
          signal,
        )
  await faultPoint('report-delivered', delivery.id)
  const isOfServer = !tried.delivered && !ofFile.has(tried.result)
  const [written] = await lanes.upkeep(
    writeResult({
      ...tried,
      deliveryId: delivery.id,
      destinationId: destination.id,
      lease,
      attemptId: newId(),
      // After a plain refusal of the name the next attempt may write the file anew.
      isRenaming: isRenamingNow ? lost.has(tried.result) : delivery.isRenaming,
      isOfServer,
      pauseMs: tried.delivered ? 0 : pauseMs(delivery.attempts + 1),
    }),
  )
  return written !== undefined && !isOfServer
}

const missing = ({ clock }: Engine): Tried => ({
  at: new Date(clock.realMs()),
  durationMs: 0,
  result: 'source',
  message: 'the stored bytes of the file are gone',
  delivered: false,
})
