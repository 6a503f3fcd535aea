/**
 * Resolves an attempt: finds a missing outcome, the final word on an accepted operation, or takes a
 * late success back. Safe to run any number of times and anywhere: the code enquires before it
 * acts, and only the lease holder can settle.
 */
import type { Approved, Found, Outcome, Refs, Reversed } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention, requestedReversal } from '../attention/store.ts'
import { toldSuccess } from '../attention/store-told.ts'
import { engineActor } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { refsOfSuccess } from './another-operation.ts'
import { isForWhatWasAsked } from './asked-amount.ts'
import type { AttemptContext } from './attempt-context.ts'
import { isOfAuthentication, lookAtAuthentication } from './authentication-look.ts'
import { ladder } from './decide.ts'
import { endForgotten } from './end-undecided.ts'
import { askForFinality } from './finality.ts'
import { held } from './late-word-move.ts'
import { isOpen } from './late-word-table.ts'
import { takeAttempt } from './lease.ts'
import { followClock } from './look-on-clock.ts'
import { endAsLate } from './not-reversed.ts'
import { rebuildAttempt } from './rebuild-attempt.ts'
import {
  type End,
  endOfReversal,
  left,
  leftOther,
  ofOtherAmount,
  type Reason,
  reasonOf,
  reversedAs,
  sourceOf,
  withoutAnother,
} from './requested-reversal.ts'
import { mayRepeat, repeatRefused, sendAgain } from './resend.ts'
import { ask } from './send.ts'
import { settle } from './settle.ts'
import { stillStands } from './still-stands.ts'
import { attemptByKey, paymentByAttempt, toPayment } from './store-read.ts'
import { dropLease, forgetAsked, type LeaseRow, lookLater, markAsked } from './store-settle.ts'
import { reversalByKey } from './supported.ts'
import { takeBack } from './take-back.ts'
import type { Held, Payment, Resolved } from './types.ts'
import { heldByChargeback } from './waiting-dispute.ts'
import { asLearned, noteApproval } from './word-during-reversal.ts'

/**
 * @param by The party that asks. A look for a follow-up or a message does the same as the engine's
 * own look but does not count, since a few requests would otherwise delay the next look by a day.
 * @param timerId The timer that the job of an expiry was sent for.
 * @returns the payment afterwards, or undefined when no such attempt exists.
 */
export async function resolve(
  engine: Engine,
  attemptKey: string,
  why: Reason,
  by: 'engine' | 'other' = 'engine',
  timerId?: string,
): Promise<Resolved | undefined> {
  const now = await held(engine, attemptKey)
  if (now === undefined) return undefined
  if (!isOpen(now.payment.state)) await endForgotten(engine, attemptKey)
  if (!isOpen(now.payment.state) && now.attempt.state !== 'late') {
    return askForFinality(engine, now)
  }
  const isOwn = by === 'engine' && why !== 'question'
  const taken = await takeAttempt(engine, attemptKey, isOwn ? 'look' : 'question')
  const [row] = await engine.lanes.single(paymentByAttempt(attemptKey))
  if (row === undefined) return undefined
  const payment = toPayment(row)
  if (taken === undefined) return isOpen(payment.state) ? { ...payment, isBusy: true } : payment
  await faultPoint('after-lease', payment.id)
  // A late success is taken back at the acquirer in any stage.
  if (taken.stage === 'authentication' && isOpen(payment.state)) {
    return lookAtAuthentication(engine, attemptKey, taken, why, isOwn)
  }
  // Between the press and the lease it went on to the money, and no shopper gave that up.
  const isPast = why === 'new-try' && isOpen(payment.state) && !isAway(payment)
  if (isPast && payment.state === 'pending') {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return payment
  }
  // One without an answer is asked about and listed, since this look takes the place of the next one.
  const asked = isPast ? 'look' : why
  const isStale = why === 'expiry' && (await isOfAuthentication(engine, payment, timerId))
  let work: AttemptContext
  try {
    work = await rebuildAttempt(engine, payment, taken.lease)
  } catch (error) {
    const why =
      error instanceof GatewayError
        ? 'the connector that carried it out is not available'
        : 'its acquirer could not be asked now'
    await list(engine, payment, why)
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    throw error
  }
  if (!isOpen(payment.state)) {
    if (isOwn && (await isOurs(engine, now))) return takeBack(engine, work, taken)
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return payment
  }
  // An expired payment that could not be undone is undone once possible, and is never pending
  // again.
  const isTimeOver = payment.state === 'unknown' && now.attempt.settledBy === 'expiry'
  const reason = isStale ? 'look' : isTimeOver && asked === 'look' ? 'expiry' : asked
  return decideOpen(engine, work, taken, reason, isTimeOver, isOwn)
}

/** A success that only a settlement file claims is taken back on the request of an operator. */
async function isOurs(engine: Engine, { payment, attempt }: Held): Promise<boolean> {
  if (attempt.settledBy !== 'settlement') return true
  const [last] = await engine.lanes.single(requestedReversal(payment.id))
  return last?.is_under_way === true
}

/** Whether the shopper is on a page of a bank, or gave it up. */
export const isAway = ({ state, answer }: Payment): boolean =>
  state === 'pending' && answer.redirect !== undefined

async function decideOpen(
  engine: Engine,
  work: AttemptContext,
  taken: LeaseRow,
  why: Reason,
  isTimeOver: boolean,
  isOwn: boolean,
): Promise<Payment> {
  await faultPoint('before-enquiry', work.payment.id)
  const found = await enquire(engine, work)
  await faultPoint('after-enquiry', work.payment.id)
  const isStillOpen = found.is === 'pending' && isTimeOver && why === 'question'
  const concluded = isStillOpen
    ? left({}, 'it is still pending there, and its time is over')
    : await conclude(engine, work, found, why)
  const known = await asLearned(engine, work.payment, found)
  const end = await withoutAnother(engine, known, concluded)
  const payment = askedOf(known, end)
  if (end.notReversed !== undefined) {
    const { notReversed, source } = end
    const about = { code: reasonOf[why] }
    const ended = { ...work, payment: known }
    return (await endAsLate(engine, ended, notReversed, source, taken.enquiries, about)).payment
  }
  const { is } = end.outcome
  // The end of its time is on record once, and its timer ends.
  const isRunOut = why === 'expiry' && !isTimeOver && payment.state === 'unknown'
  const isNothingNew = is === payment.state && !isRunOut
  const isStillPending = payment.state === 'pending' && end.isNothing === true
  // Listed under the lease, so that no payment is undecided without an entry.
  if (is === 'unknown' && !isStillPending) await list(engine, payment, 'undecided after an enquiry')
  if (end.requests !== undefined && payment.answer.reversal === undefined) {
    const { asked: _, ...before } = payment.answer
    const answer = { ...before, reversal: { code: end.requests } }
    const asked = { ...work, payment: { ...payment, answer } }
    await list(engine, payment, 'its reversal was requested')
    return (await settle(engine, asked, end.outcome, end.source, taken.enquiries)).payment
  }
  if (isNothingNew || isStillPending) {
    const afterMs = pauseOf(end.outcome, taken.enquiries)
    await engine.lanes.single(lookLater(payment.attemptKey, taken.lease, newId(), afterMs, isOwn))
    await followClock(engine, payment, end.outcome)
    return payment
  }
  const source = isRunOut && is === 'unknown' ? 'expiry' : end.source
  return (await settle(engine, { ...work, payment }, end.outcome, source, taken.enquiries)).payment
}

/** The payment as the request of a reversal leaves it. */
function askedOf(payment: Payment, { asked }: End): Payment {
  if (asked === undefined) return payment
  const { asked: _, ...answer } = payment.answer
  return { ...payment, answer: asked ? { ...answer, asked } : answer }
}

/** The acquirer's interval applies to pending payments, the ladder to all others. */
function pauseOf(outcome: Outcome, enquiries: number): number {
  const isPolled =
    outcome.is === 'pending' && typeof outcome.next === 'object' && 'poll' in outcome.next
  return isPolled ? (outcome.next as { poll: number }).poll : ladder(enquiries)
}

async function enquire(engine: Engine, work: AttemptContext): Promise<Found> {
  const handler = work.target.loaded.connector.resolve.enquire
  if (handler === undefined) return { is: 'notFound', why: 'the acquirer answers no enquiries' }
  return ask(engine, work, 'enquire', handler)
}

async function conclude(
  engine: Engine,
  work: AttemptContext,
  found: Found,
  why: Reason,
): Promise<End> {
  if (work.payment.answer.reversal !== undefined) return reversing(engine, work, found, why)
  switch (found.is) {
    case 'requested':
    case 'reversed':
    case 'notReversed':
      return reversing(engine, work, found, why)
    case 'approved':
      if (await isForWhatWasAsked(engine, work.payment, found)) {
        return { outcome: found, source: 'enquiry' }
      }
      if (why === 'question') return leftOther(engine, work, found)
      return undoOther(engine, work, found, why)
    case 'accepted':
    case 'declined':
      return { outcome: found, source: 'enquiry' }
    case 'notSent':
    case 'notFound':
      // An enquiry for an operator does not know what this installation sent; it only reports the
      // acquirer's record.
      if (why === 'question') return left({}, 'the acquirer does not know it')
      if (why === 'expiry') return undo(engine, work, {}, 'it was not completed in time', why)
      if (why === 'new-try') return giveUp(engine, work, {})
      // The shopper may be on the way, so an empty answer changes nothing.
      if (work.payment.state === 'pending') return left({}, 'nothing is there yet')
      return notFound(engine, work)
    case 'pending':
      if (why === 'expiry')
        return undo(engine, work, found.refs ?? {}, 'it was not completed in time', why)
      if (why === 'new-try') return giveUp(engine, work, found.refs ?? {})
      return { outcome: found, source: 'enquiry' }
    case 'unknown':
      if (why === 'expiry' && work.payment.state === 'pending') {
        return undo(engine, work, found.refs ?? {}, 'it was not completed in time', why)
      }
      return { outcome: found, source: 'enquiry', isNothing: true }
  }
}

async function reversing(
  engine: Engine,
  work: AttemptContext,
  found: Found,
  why: Reason,
): Promise<End> {
  const end = await endOfReversal(engine, work, found, why)
  return end === 'unheard' ? undo(engine, work, {}, 'its reversal was requested', why) : end
}

/** The shopper gave it up: the slot is free only with a proof that it takes no money. */
async function giveUp(engine: Engine, work: AttemptContext, refs: Refs): Promise<End> {
  if (reversalByKey(work) === undefined) return left(refs, 'the acquirer has no reversal by key')
  return undo(engine, work, refs, 'the shopper tries again', 'new-try')
}

/**
 * The acquirer does not know the key. That alone proves nothing, since the request may still be in
 * transit. Later, the engine voids the key where the acquirer supports a void. Elsewhere,
 * operations without a secret are sent again under the same key, which the acquirer recognises.
 */
async function notFound(engine: Engine, work: AttemptContext): Promise<End> {
  const { connector } = work.target.loaded
  const [attempt] = await engine.lanes.single(attemptByKey(work.payment.attemptKey))
  const visibleMs = engine.connectorTimeoutMs + connector.supports.enquiryVisibleAfterMs
  const isTooEarly =
    connector.resolve.enquire !== undefined && (attempt === undefined || attempt.age_ms < visibleMs)
  if (isTooEarly) {
    return { outcome: { is: 'unknown', why: 'not visible at the acquirer yet' }, source: 'enquiry' }
  }
  const ageMs = attempt?.age_ms ?? Number.POSITIVE_INFINITY
  const isRepeated = reversalByKey(work) === undefined && mayRepeat(work, ageMs)
  if (isRepeated && (await stillStands(engine, work.payment))) {
    const end = await sendAgain(engine, work)
    const { outcome } = end
    // The entry names the cause, which operators can end at the acquirer.
    if (outcome.is === 'unknown' && outcome.why === repeatRefused)
      await list(engine, work.payment, repeatRefused)
    return end
  }
  return undo(engine, work, {}, 'interrupted, and the acquirer knows nothing of it', 'look')
}

/** The acquirer reports another amount: the payment's money stays frozen until undone or decided. */
async function undoOther(
  engine: Engine,
  work: AttemptContext,
  found: Approved,
  why: Reason,
): Promise<End> {
  // Before the request, whose end is judged by the reference of the success.
  await noteApproval(engine, work.payment, found)
  return undo(engine, work, refsOfSuccess(work.payment, found), ofOtherAmount, why, true)
}

/** Reverses and voids the operation of the key. Unproven cases stay on the operators' list. */
async function undo(
  engine: Engine,
  work: AttemptContext,
  refs: Refs,
  why: string,
  reason: Reason,
  wasTold = false,
): Promise<End> {
  const byChargeback = () => heldByChargeback(engine, work.payment, refs, reason)
  const waits = await byChargeback()
  if (waits !== undefined) return waits
  const isTold = wasTold || (await engine.lanes.single(toldSuccess(work.payment.id))).length > 0
  const { attemptKey: key, answer } = work.payment
  // An earlier request without an answer may be the reason for a refusal.
  const isUnasked = ({ is }: Reversed) => is === 'refused' && answer.asked !== true
  const handler = reversalByKey(work)
  let reversed: Reversed = { is: 'refused', why: 'the acquirer has no reversal by key' }
  if (handler !== undefined) {
    // After a death between the request and its record, an approval alone no longer settles.
    const marked = await engine.lanes.single(markAsked(work.payment, work.lease))
    if (marked.length === 0) return (await byChargeback()) ?? left(refs, why)
    reversed = await ask(engine, work, 'reverseByKey', handler)
    if (isUnasked(reversed)) await engine.lanes.single(forgetAsked(key, work.lease))
  }
  const asked = !isUnasked(reversed)
  await engine.lanes.single(
    addAudit({
      actor: engineActor,
      action: 'reverse-by-key',
      entityId: work.payment.channelId,
      resource: work.payment.id,
      detail: { why, result: reversed.is },
    }),
  )
  // An answer of "nothing there" contradicts the acquirer's previous answer.
  if (reversed.is === 'reversed' || (reversed.is === 'nothing' && !isTold)) {
    return {
      outcome: reversedAs(work.payment, { ...refs, ...reversed.refs }, reasonOf[reason]),
      source: 'reversal',
    }
  }
  if (reversed.is === 'requested') {
    const requested = { ...refs, ...reversed.refs }
    return { ...left(requested, why), source: sourceOf(reason), requests: reasonOf[reason] }
  }
  const said = 'why' in reversed ? reversed.why : 'nothing was there to be undone'
  if (reason === 'new-try') return { ...left(refs, said), asked }
  await list(engine, work.payment, why)
  return { outcome: { is: 'unknown', refs, why: said }, source: sourceOf(reason), asked }
}

async function list(engine: Engine, { id, attemptKey }: Payment, why: string): Promise<void> {
  const alarmMs = limits.unknownAlarmMs
  await engine.lanes.single(addAttention(newId(), 'undecided', id, attemptKey, alarmMs, { why }))
}
