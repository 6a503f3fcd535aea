/** Charges executions: each is an ordinary payment on the registration, at most one at a time. */
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { waitForRestoration } from '../payment/restoration.ts'
import type { Payment } from '../payment/types.ts'
import { removeTimer } from '../timer/store.ts'
import { misfireOf, resubmissionOf } from './policy.ts'
import { attemptsOf, byConnector, type Loaded, load, pay, prepared } from './prepare.ts'
import { neverMadeInRow, repeatAt, wasNeverMade } from './repeat.ts'
import { resubmitAt } from './resubmission.ts'
import {
  type ChargeRow,
  endedBefore,
  executionsById,
  failExecution,
  lookAfterAttempt,
  lookAgain,
  missExecution,
  resubmitAfter,
} from './store-charge.ts'

/** Concurrent charges of one job at one connector. */
const atOnce = 32
/** Refusals that say nothing about the charge itself: the charge is repeated. */
const passing = new Set([429, 503])
const lookAgainMs = 60_000
/**
 * Pause before the next look at an undecided charge, since most are decided by their own enquiry
 * before.
 */
const lookByTheWayMs = 15 * 60_000

/**
 * Takes the next action for each execution: the charge, or another one after a decline, where the
 * channel allows it or nothing was charged. Safe to run any number of times and anywhere: the slot
 * of an execution takes one payment, and the next only after a final decline.
 *
 * @param after The declined attempt that another charge follows now.
 * @throws the first error, after all other executions were charged.
 */
export async function chargeExecutions(
  engine: Engine,
  ids: readonly string[],
  after?: number,
): Promise<void> {
  const found = await engine.lanes.read(executionsById(ids))
  // A failover may have lost the charge of an execution, and a process may remember it.
  const rows = (await waitForRestoration(engine))
    ? await engine.lanes.single(executionsById(ids))
    : found
  const loaded = await load(engine, rows.filter(isUncharged))
  const errors: unknown[] = []
  const chargeAll = async (same: readonly ChargeRow[]) => {
    let next = 0
    const work = async () => {
      for (let row = same[next++]; row !== undefined; row = same[next++]) {
        try {
          await continueOne(engine, row, loaded, after)
        } catch (error) {
          errors.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, same.length) }, work))
  }
  await Promise.all((await byConnector(engine, rows, loaded)).map(chargeAll))
  if (errors.length > 0) throw errors[0]
}

/**
 * The execution of an attempt's payment. A timer from now on covers the death of the process that
 * resolves the attempt.
 */
export async function executionOfAttempt(
  engine: Engine,
  attemptKey: string,
): Promise<string | undefined> {
  const [row] = await engine.lanes.single(lookAfterAttempt(newId(), attemptKey, lookAgainMs))
  return row?.ref
}

const isUncharged = (row: ChargeRow) => row.payment_id === null && row.failure === null

async function continueOne(
  engine: Engine,
  row: ChargeRow,
  loaded: Loaded,
  after: number | undefined,
): Promise<void> {
  if (row.failure !== null) return
  if (row.payment_id !== null) return afterwards(engine, row, after)
  if (await isTooOld(engine, row)) {
    await engine.lanes.single(missExecution(row.occurrence_id, row.at, newId(), newId()))
    return
  }
  let payment: Payment
  try {
    payment = await pay(engine, row, await prepared(row, loaded))
  } catch (error) {
    const refused = error instanceof GatewayError ? error : await whyRefused(engine, row, error)
    if (refused === undefined) return
    if (passing.has(refused.status)) throw refused
    await fail(engine, row, refused.code)
    return
  }
  if (payment.state !== 'approved') await lookAfter(engine, row.occurrence_id)
}

/**
 * An execution older than the channel's misfire window is not charged late, whether its job was
 * lost or its queue stood still. On a test clock that clock's time counts.
 */
async function isTooOld(engine: Engine, row: ChargeRow): Promise<boolean> {
  const { windowMs } = misfireOf(await engine.directory.settings(row.channel_id))
  return row.at.getTime() < row.now.getTime() - windowMs
}

/**
 * Explains a first commit that wrote nothing: the registration was removed, or a cancellation took
 * the execution away. Undefined: nothing remains to be done.
 *
 * @throws the original error, when neither is the reason.
 */
async function whyRefused(
  engine: Engine,
  { occurrence_id: id }: ChargeRow,
  thrown: unknown,
): Promise<GatewayError | undefined> {
  const [row] = await engine.lanes.single(executionsById([id]))
  if (row === undefined || !isUncharged(row)) return undefined
  try {
    await prepared(row, await load(engine, [row]))
  } catch (error) {
    if (error instanceof GatewayError) return error
  }
  throw thrown
}

async function fail(engine: Engine, row: ChargeRow, code: string): Promise<void> {
  const eventId = newId()
  const [failed] = await engine.lanes.single(failExecution(row.occurrence_id, code, eventId))
  if (failed === undefined || !engine.events.wanted) return
  engine.events.emit({
    id: eventId,
    type: 'schedule.execution.failed',
    resource: failed.schedule_id,
    channelId: failed.channel_id,
    sequence: failed.seq,
    at: new Date(engine.clock.realMs()),
    data: { execution: row.occurrence_id, at: row.at.toISOString(), code },
  })
}

async function lookAfter(engine: Engine, executionId: string): Promise<void> {
  const [row] = await engine.lanes.single(executionsById([executionId]))
  if (row?.payment_id != null) await afterwards(engine, row, undefined)
}

/**
 * After a charge without approval: another charge, now or later, or none.
 *
 * @param after The declined attempt whose pause has ended, when a timer is the reason.
 */
async function afterwards(
  engine: Engine,
  row: ChargeRow,
  after: number | undefined,
): Promise<void> {
  const { occurrence_id: id } = row
  const attempt = attemptsOf(row)
  if (after !== undefined && after !== attempt) {
    await engine.lanes.single(removeTimer('resubmit', `${id} ${after}`))
  }
  const policy = resubmissionOf(await engine.directory.settings(row.channel_id))
  if (row.state === 'approved' || row.state === 'expired') {
    await endTimers(engine, id, attempt)
  } else if (row.is_late) {
    // A late success: the next charge waits until its reversal is done.
    await engine.lanes.single(removeTimer('resubmit', `${id} ${attempt}`))
    await lookIn(engine, id, lookByTheWayMs)
  } else if (row.state !== 'declined') {
    // An open payment may still be charged, so the look repeats in real time until a decision. A
    // pending payment is decided by a word or an enquiry, which then looks after the occurrence.
    if (policy === null && row.state === 'pending') await endTimers(engine, id, attempt)
    else await lookIn(engine, id, policy === null ? lookByTheWayMs : lookAgainMs)
  } else {
    const due = hasEnded(row) ? null : await nextCharge(engine, row)
    if (due === null) await endTimers(engine, id, attempt)
    else if (after === attempt || due <= row.now) await chargeAgain(engine, row)
    else {
      await engine.lanes.single(resubmitAfter(newId(), `${id} ${attempt}`, due, row.clock_id))
      // The timer of the repeat looks at the execution, so that no look is needed before.
      await engine.lanes.single(removeTimer('execution', id))
    }
  }
}

/**
 * The time of the next charge after a decline, by the schedule's clock; null: the decline stands.
 */
async function nextCharge(engine: Engine, row: ChargeRow): Promise<Date | null> {
  const endedAt = row.clock_id === null ? (row.settled_at ?? row.now) : row.now
  const earlier = row.earlier === 0 ? [] : await engine.lanes.single(endedBefore(row.occurrence_id))
  if (!wasNeverMade(row)) {
    const policy = resubmissionOf(await engine.directory.settings(row.channel_id))
    const { result_code, answer } = row
    // The channel counts declines, and a charge that never happened is none.
    const attempt = attemptsOf(row) - earlier.filter(wasNeverMade).length
    const ended = { code: result_code ?? '', advice: answer?.advice, attempt, endedAt }
    return cancelledAtOnce(row) ? null : resubmitAt(policy, ended, row.effective_end)
  }
  if (cancelledAtOnce(row) || (await isTooOld(engine, row))) return null
  const due = repeatAt(neverMadeInRow(earlier) + 1, endedAt, row.clock_id !== null)
  const isPastEnd = due !== null && row.effective_end !== null && due >= row.effective_end
  return isPastEnd ? null : due
}

/** After an immediate cancellation no charge begins, not even one that was due before. */
const cancelledAtOnce = ({ cancelled_at: at, effective_end: end }: ChargeRow) =>
  at !== null && end !== null && end <= at

/** A charge that is late, such as after an outage, must not follow a cancellation that took effect meanwhile. */
const hasEnded = ({ effective_end: end, now }: ChargeRow) => end !== null && end <= now

async function lookIn(engine: Engine, id: string, ms: number): Promise<void> {
  const at = new Date(engine.clock.realMs() + ms)
  await engine.lanes.single(lookAgain(newId(), id, at))
}

async function endTimers(engine: Engine, id: string, attempt: number): Promise<void> {
  await engine.lanes.single(removeTimer('execution', id))
  await engine.lanes.single(removeTimer('resubmit', `${id} ${attempt}`))
}

async function chargeAgain(engine: Engine, row: ChargeRow): Promise<void> {
  const { occurrence_id: id } = row
  // From here on, a timer covers the death of this process.
  await lookIn(engine, id, lookAgainMs)
  let payment: Payment | undefined
  try {
    payment = await pay(engine, row, await prepared(row, await load(engine, [row])))
  } catch (error) {
    if (!(error instanceof GatewayError) || passing.has(error.status)) throw error
    // No further charge is possible: the decline stands.
  }
  // The previous payment still holds the slot, so no other charge was possible.
  const isAnother = payment !== undefined && payment.id !== row.payment_id
  const [now] = isAnother ? [] : await engine.lanes.single(executionsById([id]))
  if (now?.is_late === true) return afterwards(engine, now, undefined)
  await endTimers(engine, id, attemptsOf(row))
  if (isAnother && payment?.state !== 'approved') await lookAfter(engine, id)
}
