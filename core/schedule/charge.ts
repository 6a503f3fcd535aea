/** Charges occurrences: each is an ordinary payment with the registration, at most one at a time. */
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Payment } from '../payment/types.ts'
import { removeTimer } from '../timer/store.ts'
import { misfireOf, resubmissionOf } from './policy.ts'
import { attemptsOf, byConnector, type Loaded, load, pay, prepared } from './prepare.ts'
import { neverMadeInRow, repeatAt, wasNeverMade } from './repeat.ts'
import { resubmitAt } from './resubmission.ts'
import {
  type ChargeRow,
  endedBefore,
  failOccurrence,
  lookAfterAttempt,
  lookAgain,
  missOccurrence,
  occurrencesById,
  resubmitAfter,
} from './store-charge.ts'

/** Charges under way at once for one job at one connector. */
const atOnce = 32
/** Refusals that say nothing about the charge itself: it is tried again. */
const passing = new Set([429, 503])
const lookAgainMs = 60_000
/** Until somebody looks at one that nobody waits for: whoever decides it mostly looks by himself. */
const lookByTheWayMs = 15 * 60_000

/**
 * Does for each occurrence what is left to do: the charge, or another one after a decline where the
 * channel allows it or nothing was charged. Safe to run any number of times and anywhere: the slot of
 * an occurrence takes one payment, and the next only after that was declined for good.
 *
 * @param after The attempt whose decline is to be followed by another charge now.
 * @throws what kept some of them from being charged, after all others were.
 */
export async function chargeOccurrences(
  engine: Engine,
  ids: readonly string[],
  after?: number,
): Promise<void> {
  const rows = await engine.lanes.read(occurrencesById(ids))
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
 * The occurrence whose payment an attempt is. From now on somebody looks at it, in case the process
 * that is about to find out what became of the attempt dies as well.
 */
export async function occurrenceOfAttempt(
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
    await engine.lanes.single(missOccurrence(row.occurrence_id, row.at, newId(), newId()))
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
 * What was missed for longer than the channel makes up for is not charged late either, whatever kept
 * it: a job that was lost, a queue that stood still. On a test clock that clock's time counts.
 */
async function isTooOld(engine: Engine, row: ChargeRow): Promise<boolean> {
  const { windowMs } = misfireOf(await engine.directory.settings(row.channel_id))
  return row.at.getTime() < row.now.getTime() - windowMs
}

/**
 * What the first commit of a charge found there in the place of what was read before: the
 * registration was removed, or a cancellation took the occurrence away. Undefined then: nothing is
 * left to be done.
 *
 * @throws what was thrown, when none of these is the reason.
 */
async function whyRefused(
  engine: Engine,
  { occurrence_id: id }: ChargeRow,
  thrown: unknown,
): Promise<GatewayError | undefined> {
  const [row] = await engine.lanes.single(occurrencesById([id]))
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
  const [failed] = await engine.lanes.single(failOccurrence(row.occurrence_id, code, eventId))
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

async function lookAfter(engine: Engine, occurrenceId: string): Promise<void> {
  const [row] = await engine.lanes.single(occurrencesById([occurrenceId]))
  if (row?.payment_id != null) await afterwards(engine, row, undefined)
}

/**
 * After a charge that was not approved: another one, now or later, or nothing.
 *
 * @param after The attempt whose decline waited long enough, when this is what a timer says.
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
    // Charged after all: another one only once that is undone, which may take a while.
    await engine.lanes.single(removeTimer('resubmit', `${id} ${attempt}`))
    await lookIn(engine, id, lookByTheWayMs)
  } else if (row.state !== 'declined') {
    // What is open may still be charged: looked at again, in real time, until it is decided. One that
    // waits for its time is decided by a word or by a question, and that looks after it.
    if (policy === null && row.state === 'pending') await endTimers(engine, id, attempt)
    else await lookIn(engine, id, policy === null ? lookByTheWayMs : lookAgainMs)
  } else {
    const due = await nextCharge(engine, row)
    if (due === null) await endTimers(engine, id, attempt)
    else if (after === attempt || due <= row.now) await chargeAgain(engine, row)
    else await engine.lanes.single(resubmitAfter(newId(), `${id} ${attempt}`, due, row.clock_id))
  }
}

/** When a declined occurrence is charged again, by the schedule's clock; null: its decline stands. */
async function nextCharge(engine: Engine, row: ChargeRow): Promise<Date | null> {
  const endedAt = row.clock_id === null ? (row.settled_at ?? row.now) : row.now
  const earlier = row.earlier === 0 ? [] : await engine.lanes.single(endedBefore(row.occurrence_id))
  if (!wasNeverMade(row)) {
    const policy = resubmissionOf(await engine.directory.settings(row.channel_id))
    const { result_code, answer } = row
    // The channel counts declines: a charge that was never made is none.
    const attempt = attemptsOf(row) - earlier.filter(wasNeverMade).length
    const ended = { code: result_code ?? '', advice: answer?.advice, attempt, endedAt }
    return cancelledAtOnce(row) ? null : resubmitAt(policy, ended, row.effective_end)
  }
  if (cancelledAtOnce(row) || (await isTooOld(engine, row))) return null
  const due = repeatAt(neverMadeInRow(earlier) + 1, endedAt, row.clock_id !== null)
  const isPastEnd = due !== null && row.effective_end !== null && due >= row.effective_end
  return isPastEnd ? null : due
}

/** After such a cancellation nothing begins, not even what was due before it. */
const cancelledAtOnce = ({ cancelled_at: at, effective_end: end }: ChargeRow) =>
  at !== null && end !== null && end <= at

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
  // Whoever dies from here on leaves somebody who looks.
  await lookIn(engine, id, lookAgainMs)
  let payment: Payment | undefined
  try {
    payment = await pay(engine, row, await prepared(row, await load(engine, [row])))
  } catch (error) {
    if (!(error instanceof GatewayError) || passing.has(error.status)) throw error
    // Nothing can be charged any more: the decline stands.
  }
  // The one before still holding the slot means the same: there was no place for another one.
  const isAnother = payment !== undefined && payment.id !== row.payment_id
  const [now] = isAnother ? [] : await engine.lanes.single(occurrencesById([id]))
  if (now?.is_late === true) return afterwards(engine, now, undefined)
  await endTimers(engine, id, attemptsOf(row))
  if (isAnother && payment?.state !== 'approved') await lookAfter(engine, id)
}
