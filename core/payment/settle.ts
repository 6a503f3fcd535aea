/** Every change of a payment's state goes through this file. */
import type { Outcome } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import { businessNow } from '../business-time/time.ts'
import { outcomeUnknown } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { fireAgain } from '../timer/store.ts'
import { heardAs } from './approved-otherwise.ts'
import type { AttemptContext } from './attempt-context.ts'
import { type Move, moveBetween, placeOf } from './balance-rules.ts'
import { releaseLater } from './capture-to-come.ts'
import { type Decision, decide, provenNotCharged } from './decide.ts'
import { endUndecided, otherAmountBeside } from './end-undecided.ts'
import { hasLostItsSlot } from './in-checkout.ts'
import { applyLateWord, countBeside } from './late-word-apply.ts'
import { held } from './late-word-move.ts'
import { isOpen } from './late-word-table.ts'
import { givenBack } from './late-word-treatment.ts'
import { takeAttempt } from './lease.ts'
import { followClock } from './look-on-clock.ts'
import { awaitReference, endMissing, listMissing } from './missing-reference.ts'
import { announce, eventOf } from './payment-event.ts'
import { keepRecent } from './recent-outcomes.ts'
import { retryWrite } from './retry-write.ts'
import { heldAfter, rowOf, type Settling, secondStep } from './settle-row.ts'
import { type SettleFirstRow, settleFirst } from './store-first.ts'
import { freezeForMissing } from './store-missing.ts'
import { eventById, paymentById, toPayment } from './store-read.ts'
import { dropLease, type LeaseRow, settleOne } from './store-settle.ts'
import { hurryChargebacks } from './store-waiting-dispute.ts'
import { tellSettlingCommit } from './telling.ts'
import { concludeTrial } from './trial.ts'
import type { Payment, Source } from './types.ts'
import { decidesReversal, hearDuringReversal } from './word-during-reversal.ts'
import { writeAgain } from './write-again.ts'

export type Settled = {
  /** The payment's present row, whichever process moved it. */
  readonly payment: Payment
  /** True when this call moved it. */
  readonly moved: boolean
}

/**
 * Moves a payment to an outcome while `work.lease` holds, with balance, timers and event in the
 * same commit. Always returns the row and never the caller's outcome.
 *
 * @param alongside Further statements of the same commit, when the payment moves.
 * @param eventId Identifies the commit after a lost answer: the same for every try.
 * @throws the database's error when the write fails within the flush budget; the caller then keeps
 * the outcome and writes it as soon as possible.
 */
export async function settle(
  engine: Engine,
  work: AttemptContext | Settling,
  given: Outcome,
  source: Source,
  enquiries = 0,
  alongside: readonly Sql[] = [],
  eventId: string = newId(),
): Promise<Settled> {
  const isSecond = await hasLostItsSlot(engine, work.payment, given)
  const heard = isSecond ? undefined : await heardAs(engine, work.payment, given)
  const outcome = heard?.outcome ?? paidByAnother
  const now = await businessNow(engine, work.payment.channelId, work.payment.clockId)
  const decision = decide(heard?.payment ?? work.payment, outcome, enquiries, now)
  const { state, resultCode, answer, approvedMinor } = decision
  const event = eventOf(eventId, work.payment, state, resultCode, answer, approvedMinor)
  const row = rowOf(engine, work, decision, event, source, outcome !== given)
  await faultPoint('before-T2', work.payment.id)
  const after = heldAfter(work, decision, source, enquiries)
  const alsoWritten = [
    ...alongside,
    ...secondStep(work.payment, decision),
    ...(isSecond ? [await countBeside(engine, after, given, source)] : []),
    ...(heard?.alongside ?? []),
    // Only a payment that another process settles may have an entry behind it.
    ...(work.lease > 1 ? await otherAmountBeside(engine, after, outcome, source) : []),
  ]
  const written = await tellSettlingCommit(engine, work.payment, decision, source, () =>
    write(engine, work, row, decision, alsoWritten),
  )
  await faultPoint('after-T2', work.payment.id)
  if (written === undefined) return lost(engine, work, row, given, outcome, source)
  keepRecent(engine, work, given, source, eventId)
  const payment = settledPayment(work.payment, decision, engine.clock.realMs())
  concludeTrial(engine, work.trial, payment, source, written.fingerprint ?? numberIn(work))
  announce(engine, payment, event, written.seq)
  await afterwards(engine, work, payment, outcome, source)
  return { payment, moved: true }
}

/** The fingerprint of the number, where the rows of the first commit are known. */
const numberIn = ({ begun }: Settling): Buffer | null =>
  begun?.is === 'first' ? (begun.row.fingerprint ?? null) : null

/** What follows the commit. Safe to run again. */
async function afterwards(
  engine: Engine,
  { lease }: Settling,
  payment: Payment,
  outcome: Outcome,
  source: Source,
): Promise<void> {
  if (lease > 1 && !isOpen(payment.state)) {
    await endUndecided(engine, payment, outcome, source)
    await engine.lanes.single(hurryChargebacks(payment.connector, payment.id))
  }
  await releaseLater(engine, payment)
  if (payment.clockId !== null) await followClock(engine, payment, outcome)
  if (lease > 1) await callPage(engine, payment)
}

/** The page of the merchant waits for the end of a payment that took long; its timer comes back anyway. */
async function callPage(engine: Engine, { id, checkoutId, state }: Payment): Promise<void> {
  if (checkoutId === null || isOpen(state)) return
  await engine.lanes.single(fireAgain('callback', id))
}

/** Another payment has the slot of its checkout: the money is a late success, listed and taken back. */
const paidByAnother: Outcome = { is: 'declined', reason: provenNotCharged }

async function write(
  engine: Engine,
  work: Settling,
  row: SettleFirstRow,
  decision: Decision,
  alongside: readonly Sql[],
): Promise<{ readonly seq: number; readonly fingerprint?: Buffer | null } | undefined> {
  const { payment } = work
  const isUndisturbed =
    payment.parentId === null &&
    work.lease === 1 &&
    payment.state === 'processing' &&
    alongside.length === 0
  if (isUndisturbed) {
    const moved = await engine.lanes.group(settleFirst, row)
    // Two words about one attempt may share a flush; the returned row belongs to the word that
    // moved it.
    return moved?.event_id === row.event_id ? moved : undefined
  }
  const move = moveOf(payment, decision)
  const statement = settleOne(
    row,
    payment.parentId,
    move,
    work.returns,
    isOpen(decision.state),
    decidesReversal(payment, decision.state, row.source as Source),
  )
  const rows = await engine.lanes.inOrder(payment.parentId ?? payment.id, () =>
    alongside.length === 0
      ? engine.lanes.single(statement)
      : engine.lanes.together(statement, alongside),
  )
  return rows[0]
}

/** The change of the sums behind the payment's reservation. */
function moveOf(payment: Payment, decision: Decision): Move {
  const to = placeOf(payment.effect, decision.state, decision.attemptState)
  const isMarked = payment.effect === 'replacement' || payment.request.sequence === 'FINAL'
  return moveBetween(payment.effect, payment.amount.minor, 'open', to, isMarked)
}

/**
 * Nothing moved: an earlier run of this commit succeeded, another process took the lease, or a
 * failover lost the row. A word that contradicts a decided row is a late word.
 */
async function lost(
  engine: Engine,
  work: AttemptContext | Settling,
  row: SettleFirstRow,
  given: Outcome,
  outcome: Outcome,
  source: Source,
): Promise<Settled> {
  const [found] = await engine.lanes.single(paymentById(work.payment.id, null))
  if (found === undefined)
    return { payment: await recover(engine, work, given, source, row.event_id!), moved: false }
  const payment = toPayment(found)
  // An outcome that may not move it now leaves the payment to the next lease.
  if (isOpen(payment.state)) {
    await engine.lanes.single(dropLease(payment.attemptKey, work.lease))
  }
  // The word is recorded already, so a repeat would be wrong.
  if ((await engine.lanes.single(eventById(row.event_id ?? ''))).length > 0) {
    await afterwards(engine, work, payment, outcome, source)
    return { payment, moved: true }
  }
  // A late decision is refused, because it proves no outcome; a word about a reversal is heard again.
  const isDecision = source === 'operator' || source === givenBack || source === 'not-reversed'
  if (!isDecision) {
    engine.inFlight.track(retryWrite(engine, () => sayLater(engine, work, given, source)))
  }
  return { payment, moved: false }
}

/** The lease holder decides first; this process applies its word afterwards. */
async function sayLater(
  engine: Engine,
  work: AttemptContext | Settling,
  outcome: Outcome,
  source: Source,
): Promise<void> {
  if (outcome.is === 'unknown' || outcome.is === 'notSent' || outcome.is === 'pending') return
  const { attemptKey } = work.payment
  const untilMs = engine.clock.elapsedMs() + limits.keptOutcomeMs
  while (!engine.inFlight.over && engine.clock.elapsedMs() < untilMs) {
    if ((await applyLateWord(engine, attemptKey, outcome, source)) !== undefined) return
    const taken = await takeAttempt(engine, attemptKey, 'word')
    if (taken !== undefined && (await sayUnderLease(engine, work, outcome, taken))) return
    await new Promise((resume) => setTimeout(resume, 1_000))
  }
}

/**
 * A word that came after its time, under a lease of its own: the payment may be under reversal by now.
 *
 * @returns false when another process has the lease by now.
 */
export async function sayUnderLease(
  engine: Engine,
  work: AttemptContext | Settling,
  outcome: Outcome,
  { key, lease, enquiries }: LeaseRow,
  eventId?: string,
): Promise<boolean> {
  // Another process may have requested a reversal since this one began.
  const now = await held(engine, key)
  if (now?.attempt.lease !== lease) return false
  const { payment } = now
  const isHeardOnly = await hearDuringReversal(engine, payment, outcome)
  if (isHeardOnly) await engine.lanes.single(dropLease(key, lease))
  else
    await settle(
      engine,
      { ...work, payment, lease },
      outcome,
      'late-answer',
      enquiries,
      [],
      eventId,
    )
  return true
}

/** A failover lost the acknowledged first commit: both commits are written again, with a flag. */
async function recover(
  engine: Engine,
  work: AttemptContext | Settling,
  outcome: Outcome,
  source: Source,
  eventId: string,
): Promise<Payment> {
  if (work.begun === null) return work.payment
  const again = (alongside: readonly Sql[] = []) =>
    settle(engine, work, outcome, source, 0, alongside, eventId)
  if (!(await writeAgain(engine, work.begun))) {
    // A repeat wrote the payment of this key first, and the acquirer may have declined it as one.
    const now = await held(engine, work.payment.attemptKey)
    if (now !== undefined) {
      const { payment } = now
      const ofRepeat = { ...work, payment, begun: null }
      engine.inFlight.track(retryWrite(engine, () => sayLater(engine, ofRepeat, outcome, source)))
      return payment
    }
    await listMissing(engine, work.payment, source, outcome)
    const isNew = work.begun.is === 'follow-up' && awaitReference(engine, work.payment, again)
    if (isNew) keepRecent(engine, work, outcome, source, eventId)
    return work.payment
  }
  await endMissing(engine, work.payment)
  await list('its rows were missing and were written again')
  engine.log.warn(
    { payment: work.payment.id },
    'a committed payment was missing and was written again',
  )
  return (await again([freezeForMissing(work.payment.id)])).payment

  function list(why: string) {
    const { id, attemptKey } = work.payment
    return engine.lanes.single(
      addAttention(newId(), 'recovered', id, attemptKey, 0, { why, source }),
    )
  }
}

function settledPayment(payment: Payment, decision: Decision, settledAtMs: number): Payment {
  return {
    ...payment,
    state: decision.state,
    resultCode: decision.resultCode,
    approvedMinor: decision.approvedMinor,
    finalBy: decision.finalBy,
    answer: decision.answer,
    settledAt: new Date(settledAtMs),
  }
}

/**
 * Settles a connector's answer. When the database cannot write it within the flush budget, the
 * client receives an open payment, and the outcome is written as soon as possible.
 */
export async function settleOrKeep(
  engine: Engine,
  work: AttemptContext | Settling,
  outcome: Outcome,
  source: Source,
): Promise<Payment> {
  const eventId = newId()
  const write = () => settle(engine, work, outcome, source, 0, [], eventId)
  try {
    return (await write()).payment
  } catch (error) {
    // Money may have moved: the client receives "open", and the sweep finds the outcome.
    if (outcomeUnknown(error)) engine.inFlight.track(retryWrite(engine, write))
    else engine.log.warn({ payment: work.payment.id }, 'an outcome could not be written')
    return work.payment
  }
}
