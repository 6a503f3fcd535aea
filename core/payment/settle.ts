/** The one door through which a payment changes state. */
import type { Approved, Outcome } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { outcomeUnknown } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { addAttention } from '../operator/store.ts'
import { businessNow } from '../test-clock/time.ts'
import { announce, eventOf, notifies, type PaymentEvent } from './announce.ts'
import { balanceMove, type Decision, decide, noMove, ownBalance } from './decide.ts'
import { recordConflict } from './late-success.ts'
import { storable } from './storable.ts'
import { acceptOf, type SettleFirstRow, settleFirst } from './store-first.ts'
import { attemptByKey, paymentById, toPayment } from './store-read.ts'
import { settleOne } from './store-settle.ts'
import type { Payment, Source } from './types.ts'
import type { Work } from './work.ts'

export type Settled = {
  /** The payment as its row now is, whoever moved it. */
  readonly payment: Payment
  /** True when this call moved it. */
  readonly moved: boolean
}

/** What settling needs of the work. An operator's decision has no connector to go back to. */
export type Settling = Pick<Work, 'payment' | 'lease' | 'accepted' | 'undo'>

/**
 * Moves a payment to what the outcome means, if `work.lease` still holds, with its balance, timers
 * and event in the same commit. What is answered is always the row, never one's own outcome.
 *
 * @param alongside Statements that belong to the same commit, when the payment moves.
 * @throws the database's error when nothing could be written within the flush budget: the outcome is
 * then kept and written as soon as possible.
 */
export async function settle(
  engine: Engine,
  work: Work | Settling,
  given: Outcome,
  source: Source,
  enquiries = 0,
  alongside: readonly Sql[] = [],
): Promise<Settled> {
  const outcome = await accountedFor(engine, work, given)
  const now = await businessNow(engine, work.payment.channelId, work.payment.clockId)
  const decision = decide(work.payment, outcome, enquiries, now)
  const event = eventOf(newId(), work.payment, decision.state, decision.resultCode)
  const row = rowOf(work, decision, event, source, outcome !== given)
  await faultPoint('before-T2', work.payment.id)
  const seq = await write(engine, work, row, decision, alongside)
  await faultPoint('after-T2', work.payment.id)
  if (seq === undefined)
    return { payment: await lost(engine, work, row, outcome, source), moved: false }
  const payment = settledPayment(work.payment, decision, engine.clock.realMs())
  announce(engine, payment, event, seq)
  return { payment, moved: true }
}

/** An approval of something else than was asked is not an approval: it is resolved, by a reversal. */
async function accountedFor(engine: Engine, work: Settling, outcome: Outcome): Promise<Outcome> {
  if (outcome.is !== 'approved' || (await isForWhatWasAsked(engine, work.payment, outcome))) {
    return outcome
  }
  engine.log.warn(
    { payment: work.payment.id, connector: work.payment.connector },
    'approved for another amount',
  )
  return { is: 'unknown', refs: outcome.refs, why: 'approved for another amount or currency' }
}

/** Approved as asked, or for less on a channel whose setting `partialApproval` allows that. */
export async function isForWhatWasAsked(
  engine: Engine,
  payment: Payment,
  outcome: Approved,
): Promise<boolean> {
  const { amount } = outcome
  if (amount === undefined) return true
  if (amount.currency !== payment.amount.currency) return false
  if (amount.minor === payment.amount.minor) return true
  if (amount.minor > payment.amount.minor || amount.minor <= 0n || payment.parentId !== null)
    return false
  return (await engine.directory.settings(payment.channelId)).partialApproval === true
}

function rowOf(
  work: Settling,
  decision: Decision,
  event: PaymentEvent,
  source: Source,
  atOnce: boolean,
): SettleFirstRow {
  const { payment } = work
  const own =
    decision.state === 'approved'
      ? ownBalance(payment, payment.effect, decision.approvedMinor ?? payment.amount.minor)
      : null
  const isOver = decision.state === 'declined' || decision.state === 'expired'
  return {
    id: payment.id,
    attempt_key: payment.attemptKey,
    lease: work.lease,
    attempt_state: decision.attemptState,
    source,
    state: decision.state,
    result_code: decision.resultCode,
    approved_minor: decision.approvedMinor,
    final_by: decision.finalBy,
    answer: storable(decision.answer),
    event_id: event.id,
    event_type: event.type,
    event_data: JSON.stringify(event.data),
    balance_kind: own?.kind ?? null,
    authorised: own?.authorised ?? null,
    captured: own?.captured ?? null,
    max_captures: own?.maxCaptures ?? null,
    erase_instrument: isOver,
    timer_id: decision.again === null ? null : newId(),
    timer_kind: decision.again?.kind ?? null,
    timer_ref: payment.attemptKey,
    timer_after_ms: decision.again === null ? null : atOnce ? 0 : decision.again.afterMs,
    expire_id: decision.expiresAt === null ? null : newId(),
    expire_at: decision.expiresAt,
    notifies: notifies(payment),
  }
}

async function write(
  engine: Engine,
  work: Settling,
  row: SettleFirstRow,
  decision: Decision,
  alongside: readonly Sql[],
): Promise<number | undefined> {
  const { payment } = work
  const isUndisturbed =
    payment.parentId === null &&
    work.lease === 1 &&
    payment.state === 'processing' &&
    alongside.length === 0
  if (isUndisturbed) return (await engine.lanes.group(settleFirst, row))?.seq
  const move =
    payment.parentId === null
      ? noMove
      : balanceMove(payment.effect, payment.amount.minor, decision.state, work.undo)
  const isUndecided = decision.state === 'pending' || decision.state === 'unknown'
  const statement = settleOne(row, payment.parentId, move, isUndecided)
  const rows = await engine.lanes.inOrder(payment.parentId ?? payment.id, () =>
    alongside.length === 0
      ? engine.lanes.single(statement)
      : engine.lanes.together(statement, alongside),
  )
  return rows[0]?.seq
}

/**
 * Nothing moved: this very commit went through before its answer was lost, somebody else took the
 * lease, or a failover lost the row. Money that moved against the row's word is put on record.
 */
async function lost(
  engine: Engine,
  work: Work | Settling,
  row: SettleFirstRow,
  outcome: Outcome,
  source: Source,
): Promise<Payment> {
  const [found] = await engine.lanes.single(paymentById(work.payment.id, null))
  if (found === undefined) return recover(engine, work, outcome, source)
  const payment = toPayment(found)
  const [attempt] = await engine.lanes.single(attemptByKey(work.payment.attemptKey))
  const isMine =
    attempt?.lease === work.lease && attempt.settled_by === source && payment.state === row.state
  if (isMine) return payment
  const isOver = payment.state === 'declined' || payment.state === 'expired'
  const contradicts =
    row.state === 'approved' ? isOver : row.state === 'declined' && payment.state === 'approved'
  // An operator's word that came too late is refused: it is no proof that money moved.
  if (contradicts && 'target' in work) {
    engine.running.track(recordConflict(engine, payment, work, outcome, source)).catch(() => {})
  }
  return payment
}

/** A failover lost the first commit after it was acknowledged: both are written again, flagged. */
async function recover(
  engine: Engine,
  work: Work | Settling,
  outcome: Outcome,
  source: Source,
): Promise<Payment> {
  if (work.accepted === null) return work.payment
  const { accepted } = work
  const rows = await engine.lanes.single(acceptOf(accepted).one(accepted))
  // A retry that came first wrote the payment of this key: the acquirer took both for one.
  if (rows.length === 0) return work.payment
  await engine.lanes.single(
    addAttention(newId(), 'recovered', work.payment.id, work.payment.attemptKey, 0, { source }),
  )
  engine.log.warn(
    { payment: work.payment.id },
    'a committed payment was missing and was written again',
  )
  return (await settle(engine, work, outcome, source)).payment
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
 * Settles what a connector answered. When the database cannot take it within the flush budget the
 * client is told that the payment is open, and the outcome is written as soon as it can be.
 */
export async function settleOrKeep(
  engine: Engine,
  work: Work,
  outcome: Outcome,
  source: Source,
): Promise<Payment> {
  try {
    return (await settle(engine, work, outcome, source)).payment
  } catch (error) {
    // Money may have moved: whatever went wrong here, the client is told "open" and the truth is looked up.
    if (outcomeUnknown(error)) engine.running.track(keepTrying(engine, work, outcome, source))
    else engine.log.warn({ payment: work.payment.id }, 'an outcome could not be written')
    return work.payment
  }
}

/** Until it is written, or the process has to end: then the sweep of another process resolves it. */
async function keepTrying(
  engine: Engine,
  work: Work,
  outcome: Outcome,
  source: Source,
): Promise<void> {
  const untilMs = engine.clock.elapsedMs() + limits.keptOutcomeMs
  while (!engine.running.over && engine.clock.elapsedMs() < untilMs) {
    try {
      await settle(engine, work, outcome, source)
      return
    } catch (error) {
      if (!outcomeUnknown(error)) {
        engine.log.warn({ payment: work.payment.id }, 'an outcome could not be written')
        return
      }
      await new Promise((resume) => setTimeout(resume, 250))
    }
  }
}
