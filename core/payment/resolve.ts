/**
 * The look at an attempt: what became of one whose answer nobody has, whether one that counts as done
 * is final, and the taking back of a late success. Safe to run any number of times and anywhere: it
 * asks before it acts, and only the holder of the lease can settle.
 */
import type { Approved, Found, Outcome, Refs, Reversed } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention, otherAmountsOf } from '../attention/store.ts'
import { engineActor } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { addTimer, removeTimer } from '../timer/store.ts'
import { holdOtherAmount, isForWhatWasAsked } from './asked-amount.ts'
import type { AttemptContext } from './attempt-context.ts'
import { ladder, provenNotCharged, ranOutOfTime } from './decide.ts'
import { applyLate } from './late.ts'
import { held } from './late-move.ts'
import { isOpen } from './late-words.ts'
import { takeAttempt } from './lease.ts'
import { referencedBy, resumeAttempt } from './resume.ts'
import { ask, send } from './send.ts'
import { settle } from './settle.ts'
import { attemptByKey, balanceById, paymentByAttempt, toPayment } from './store-read.ts'
import { dropLease, type LeaseRow, lookLater } from './store-settle.ts'
import { takeBack } from './take-back.ts'
import type { Held, Payment, Source } from './types.ts'

/**
 * Why the question is asked: the next look at it, the end of a pending payment's time, or an operator's
 * question, upon which nothing is sent again and nothing taken back.
 */
export type Reason = 'look' | 'expiry' | 'question'

/** Operations that need no secret and no shopper: they may be sent again under the same key. */
const resendable = new Set(['capture', 'refund', 'reverse'])

/**
 * @param by Who wants to know. A look on behalf of a follow-up or of a message does what the engine's own does, and
 * does not count: else a few requests would put the next look a day away.
 * @returns the payment as it is afterwards, or undefined when there is no such attempt.
 */
export async function resolve(
  engine: Engine,
  attemptKey: string,
  why: Reason,
  by: 'engine' | 'other' = 'engine',
): Promise<Payment | undefined> {
  const now = await held(engine, attemptKey)
  if (now === undefined) return undefined
  if (!isOpen(now.payment.state) && now.attempt.state !== 'late') {
    return askForFinality(engine, now)
  }
  const isOwn = by === 'engine' && why !== 'question'
  const taken = await takeAttempt(engine, attemptKey, isOwn ? 'look' : 'question')
  const [row] = await engine.lanes.single(paymentByAttempt(attemptKey))
  if (row === undefined) return undefined
  const payment = toPayment(row)
  if (taken === undefined) return payment
  await faultPoint('after-lease', payment.id)
  let work: AttemptContext
  try {
    work = await resumeAttempt(engine, payment, taken.lease)
  } catch (error) {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    await list(engine, payment, 'the connector that carried it out is not available')
    throw error
  }
  if (!isOpen(payment.state)) {
    const isOurs = isOwn && now.attempt.settledBy !== 'settlement'
    if (isOurs) return takeBack(engine, work, taken)
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return payment
  }
  // What could not be undone when its time was over is undone when it can be, and never pending again.
  const isTimeOver = payment.state === 'unknown' && now.attempt.settledBy === 'expiry'
  const reason = isTimeOver && why === 'look' ? 'expiry' : why
  return decideOpen(engine, work, taken, reason, isTimeOver, isOwn)
}

async function decideOpen(
  engine: Engine,
  work: AttemptContext,
  taken: LeaseRow,
  why: Reason,
  isTimeOver: boolean,
  isOwn: boolean,
): Promise<Payment> {
  const { payment } = work
  await faultPoint('before-enquiry', payment.id)
  const found = await enquire(engine, work)
  await faultPoint('after-enquiry', payment.id)
  const isStillOpen = found.is === 'pending' && isTimeOver && why === 'question'
  const end = isStillOpen
    ? left({}, 'it is still pending there, and its time is over')
    : await conclude(engine, work, found, why)
  const { is } = end.outcome
  const isNothingNew = is === payment.state
  const isStillPending = payment.state === 'pending' && end.isNothing === true
  // Listed while the lease still holds, so that it is never undecided without being listed.
  if (is === 'unknown' && !isStillPending) await list(engine, payment, 'undecided after an enquiry')
  if (isNothingNew || isStillPending) {
    const afterMs = pauseOf(end.outcome, taken.enquiries)
    await engine.lanes.single(lookLater(payment.attemptKey, taken.lease, newId(), afterMs, isOwn))
    return payment
  }
  return (await settle(engine, work, end.outcome, end.source, taken.enquiries)).payment
}

/** A pending payment is polled as its acquirer says; everything else is asked about on the ladder. */
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

type End = {
  readonly outcome: Outcome
  readonly source: Source
  /** It proves nothing: a payment that waits for its shopper goes on waiting. */
  readonly isNothing?: true
}

async function conclude(
  engine: Engine,
  work: AttemptContext,
  found: Found,
  why: Reason,
): Promise<End> {
  switch (found.is) {
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
      // An enquiry cannot know what this installation sent; it can only say what is there.
      if (why === 'question') return left({}, 'the acquirer does not know it')
      if (why === 'expiry') return undo(engine, work, {}, 'nobody completed it in time', why)
      // Its shopper may be on the way: a look that finds nothing changes nothing.
      if (work.payment.state === 'pending') return left({}, 'nothing is there yet')
      return notFound(engine, work)
    case 'pending':
      if (why === 'expiry')
        return undo(engine, work, found.refs ?? {}, 'nobody completed it in time', why)
      return { outcome: found, source: 'enquiry' }
    case 'unknown':
      if (why === 'expiry' && work.payment.state === 'pending') {
        return undo(engine, work, found.refs ?? {}, 'nobody completed it in time', why)
      }
      return { outcome: found, source: 'enquiry', isNothing: true }
  }
}

const left = (refs: Refs, why: string): End => ({
  outcome: { is: 'unknown', refs, why },
  source: 'enquiry',
  isNothing: true,
})

/**
 * The acquirer knows nothing of the key. That alone proves nothing: the request may still be on its
 * way. Once that can no longer be, the key is made harmless where the acquirer can do that. Where it
 * cannot, operations without a secret are sent again under the same key, by which it knows them.
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
  const { key } = connector.supports
  const ageMs = attempt?.age_ms ?? Number.POSITIVE_INFINITY
  const isKnownByKey = key.by === 'key' && ageMs < key.ttlMs - limits.keyMemoryMarginMs
  const mayRepeat = isKnownByKey && resendable.has(work.operation.kind)
  if (
    connector.resolve.reverseByKey === undefined &&
    mayRepeat &&
    (await stillStands(engine, work))
  ) {
    await faultPoint('before-resend', work.payment.id)
    const { outcome } = await send(engine, work)
    // That the repeat was not sent says nothing about the first try.
    return outcome.is === 'notSent'
      ? { outcome: { is: 'unknown', why: outcome.why }, source: 'resend' }
      : { outcome, source: 'resend' }
  }
  return undo(engine, work, {}, 'interrupted, and the acquirer knows nothing of it', 'look')
}

/** Whether what is to be sent again would still be begun: what it is about may have changed since. */
async function stillStands(engine: Engine, { payment }: AttemptContext): Promise<boolean> {
  if (payment.effect === 'undo') {
    const undoes = await referencedBy(engine, payment)
    return undoes !== undefined && (await held(engine, undoes.attemptKey))?.attempt.state === 'late'
  }
  const [balance] =
    payment.parentId === null ? [] : await engine.lanes.single(balanceById(payment.parentId))
  if (balance === undefined) return false
  const isClosed = balance.closed_by !== null && balance.closed_by !== payment.id
  return !isClosed && !balance.is_frozen && balance.charged_back === 0n && balance.excess === 0n
}

/** An operator only asked: nothing is undone, and nothing more is done with the same money. */
async function leftOther(
  engine: Engine,
  { payment }: AttemptContext,
  found: Approved,
): Promise<End> {
  await holdOtherAmount(engine, payment, found.amount ?? payment.amount)
  return left(found.refs, 'approved for another amount or currency')
}

/** Done for another amount: until that is undone or decided, nothing more is done with the same money. */
async function undoOther(
  engine: Engine,
  work: AttemptContext,
  found: Approved,
  why: Reason,
): Promise<End> {
  const text = 'approved for another amount or currency'
  const end = await undo(engine, work, found.refs, text, why, true)
  if (end.outcome.is !== 'unknown') return end
  await holdOtherAmount(engine, work.payment, found.amount ?? work.payment.amount)
  return end
}

/** Takes back whatever the key did and makes it harmless; what cannot be proven stays with the operators. */
async function undo(
  engine: Engine,
  work: AttemptContext,
  refs: Refs,
  why: string,
  reason: Reason,
  wasTold = false,
): Promise<End> {
  const isTold = wasTold || (await engine.lanes.single(otherAmountsOf(work.payment.id))).length > 0
  const handler = work.target.loaded.connector.resolve.reverseByKey
  const reversed: Reversed =
    handler === undefined
      ? { is: 'refused', why: 'the acquirer has no reversal by key' }
      : await ask(engine, work, 'reverseByKey', handler)
  await engine.lanes.single(
    addAudit({
      actor: engineActor,
      action: 'reverse-by-key',
      entityId: work.payment.channelId,
      resource: work.payment.id,
      detail: { why, result: reversed.is },
    }),
  )
  // That nothing is there contradicts what the acquirer has just told to be there.
  if (reversed.is === 'reversed' || (reversed.is === 'nothing' && !isTold)) {
    return {
      outcome: {
        is: 'declined',
        reason: reason === 'expiry' ? ranOutOfTime : provenNotCharged,
        refs: { ...refs, ...reversed.refs },
      },
      source: 'reversal',
    }
  }
  await list(engine, work.payment, why)
  const source = reason === 'expiry' ? 'expiry' : 'reversal'
  const said = 'why' in reversed ? reversed.why : 'nothing was there to be undone'
  return { outcome: { is: 'unknown', refs, why: said }, source }
}

async function list(engine: Engine, payment: Payment, why: string): Promise<void> {
  await engine.lanes.single(
    addAttention(newId(), 'undecided', payment.id, payment.attemptKey, limits.unknownAlarmMs, {
      why,
    }),
  )
}

/** Pause before the final word is asked for again, where the acquirer names none. */
const askAgainMs = 3_600_000

/**
 * Of an operation that counts as done: the acquirer's final word, where that is asked for. Of anything
 * else that is decided no look is left.
 */
async function askForFinality(engine: Engine, { payment }: Held): Promise<Payment> {
  const { attemptKey } = payment
  if (payment.state !== 'approved' || payment.finalBy !== 'poll') {
    await engine.lanes.single(removeTimer('look', attemptKey))
    await engine.lanes.single(removeTimer('expire', attemptKey))
    return payment
  }
  const work = await resumeAttempt(engine, payment, 0)
  const handler = work.target.loaded.connector.resolve.enquire
  const found = handler === undefined ? undefined : await ask(engine, work, 'enquire', handler)
  const outcome = found?.is === 'notFound' ? undefined : found
  const isFinal = outcome?.is === 'declined' || outcome?.is === 'approved'
  if (isFinal) await applyLate(engine, attemptKey, outcome, 'enquiry')
  const after = (await held(engine, attemptKey))?.payment ?? payment
  if (after.state === 'approved' && after.finalBy === 'poll') {
    const isPolled = outcome?.is === 'accepted' && typeof outcome.finalBy === 'object'
    const afterMs = isPolled ? (outcome.finalBy as { poll: number }).poll : askAgainMs
    await engine.lanes.single(addTimer(newId(), 'look', attemptKey, afterMs))
  }
  return after
}
