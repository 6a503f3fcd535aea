/** Advances a test clock through its due times. All work of one ends before the next. */
import { limits } from '@tollgate/schemas'
import { arrive, clockById, moveOn } from '../business-time/store.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { resolve } from '../payment/resolve.ts'
import { noteExpiry } from '../registration/expiry.ts'
import { cut, seriesOf } from '../report/cut.ts'
import { chargeExecutions, executionOfAttempt } from '../schedule/charge.ts'
import { noteEnd } from '../schedule/end.ts'
import { fireOfClock } from '../schedule/fire.ts'
import { openOfClock } from '../schedule/store-fire.ts'
import { settleDays } from '../settlement/simulated/days.ts'
import { planDaysOfClock } from '../settlement/simulated/plan.ts'
import { dueOfClock, leaveClock, removeTimer, type TimerRow, toRealTime } from '../timer/store.ts'

/** Charges of one due time that are under way at once. */
const perBatch = 100

/**
 * Continues an advance from any position. Work that a dead process left is found again: executions
 * without a payment, and everything due at the position.
 *
 * @param ending leaves the rest, of one due time as well, to the next run. Every run does something, however short it is.
 */
export async function advance(
  engine: Engine,
  clockId: string,
  ending: AbortSignal = new AbortController().signal,
): Promise<void> {
  do {
    const [clock] = await engine.lanes.single(clockById(clockId))
    if (clock?.target == null) return
    if (!(await doAllAt(engine, clockId, clock.at, ending))) return
    await planDaysOfClock(engine, clockId)
    const [moved] = await engine.lanes.single(moveOn(clockId))
    if (moved === undefined) {
      await engine.lanes.single(arrive(clockId, clock.target))
      return
    }
    await faultPoint('after-clock-step', clockId)
  } while (!ending.aborted)
}

/** @returns whether nothing is left at this time. */
async function doAllAt(
  engine: Engine,
  clockId: string,
  at: Date,
  ending: AbortSignal,
): Promise<boolean> {
  await fireOfClock(engine, clockId, at)
  if (!(await chargeOpen(engine, clockId, ending))) return false
  for (;;) {
    const timers = await engine.lanes.single(dueOfClock(clockId, at, limits.timersPerClaim))
    if (timers.length === 0) return true
    for (const timer of timers) {
      await fire(engine, timer, at)
      if (ending.aborted) return false
    }
  }
}

async function chargeOpen(engine: Engine, clockId: string, ending: AbortSignal): Promise<boolean> {
  for (;;) {
    const rows = await engine.lanes.single(openOfClock(clockId, perBatch))
    if (rows.length === 0) return true
    await chargeExecutions(
      engine,
      rows.map(({ id }) => id),
    )
    if (rows.length < perBatch) return true
    if (ending.aborted) return false
  }
}

async function fire(engine: Engine, timer: TimerRow, at: Date): Promise<void> {
  switch (timer.kind) {
    case 'resubmit': {
      const [executionId = '', attempt] = timer.ref.split(' ')
      await chargeExecutions(engine, [executionId], Number(attempt))
      await engine.lanes.single(removeTimer('resubmit', timer.ref))
      return
    }
    case 'look': {
      const executionId = await executionOfAttempt(engine, timer.ref)
      await resolve(engine, timer.ref, 'look')
      if (executionId !== undefined) await chargeExecutions(engine, [executionId])
      // A payment that is still pending has its next look later on the clock.
      await engine.lanes.single(leaveClock(timer.id, at))
      return
    }
    case 'schedule-end':
      if (await noteEnd(engine, timer.ref)) return
      break
    case 'settlement-day':
      return settleDays(engine, timer.ref)
    case 'report-cut':
      if ((await cut(engine, seriesOf(timer.ref))).isDone) return
      break
    case 'expiring':
      await noteExpiry(engine, timer.ref)
      break
    case 'expire':
      await resolve(engine, timer.ref, 'expiry', 'engine', timer.id)
  }
  // Unfinished work continues in real time, because the clock must not wait for an acquirer.
  await engine.lanes.single(toRealTime([timer.id]))
}
