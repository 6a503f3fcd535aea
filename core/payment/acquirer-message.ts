/**
 * Applies messages of acquirers about payments. Safe to run twice: an undecided payment moves only
 * under a lease, a decided payment only by the table of late words.
 */
import type { Money, ReversalEnd } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import { otherReversal } from '../attention/store-told.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { isUnderReversal, listIfEndOfAnother, listIfOfAnother } from './another-operation.ts'
import { forgetOtherAmount, isForWhatWasAsked } from './asked-amount.ts'
import type { AttemptContext } from './attempt-context.ts'
import { endForgotten } from './end-undecided.ts'
import { applyLateWord } from './late-word-apply.ts'
import { held } from './late-word-move.ts'
import { isOpen, standingOf, type Told, treatmentOf, wordOf } from './late-word-table.ts'
import { takeAttempt } from './lease.ts'
import { endAsLate } from './not-reversed.ts'
import { rebuildAttempt } from './rebuild-attempt.ts'
import { reversedAs } from './requested-reversal.ts'
import { resolve } from './resolve.ts'
import { settle } from './settle.ts'
import { dropLease, type LeaseRow, runOutLease } from './store-settle.ts'
import type { Held, Payment } from './types.ts'
import { noteApproval } from './word-during-reversal.ts'

export type MessageResult =
  /** Another process works on the payment; the message waits until that work ends. */
  'wait' | 'settled' | 'known' | 'enquired' | 'conflict'

/**
 * @param isVerified Whether a signature proves that the acquirer sent the message. The engine
 * answers an unverified message with an enquiry only. `amount`: the amount that the message names.
 * @param source A line of a settlement file is a message, too.
 */
export async function applyMessage(
  engine: Engine,
  attemptKey: string,
  outcome: Told,
  isVerified: boolean,
  amount: Money,
  source: 'event' | 'settlement' = 'event',
): Promise<MessageResult> {
  const now = await held(engine, attemptKey)
  if (now === undefined) return 'known'
  const { payment, attempt } = now
  if (!isOpen(payment.state)) {
    if (!isVerified) return 'known'
    const applied = await applyLateWord(engine, attemptKey, outcome, source, amount)
    // Operators alone take back what a settlement file claims.
    if (applied === 'settled' && source === 'event') await lookNow(engine, attemptKey, outcome)
    // The process that decided the payment may have died before it heard what was listed.
    if (applied === 'known') await endForgotten(engine, attemptKey)
    return applied ?? 'wait'
  }
  // No acquirer knows of it, says this database: the word of one waits until the payment went on or ended.
  if (attempt.stage === 'authentication') return 'wait'
  // The payment has expired: the engine reverses it where possible and never makes it pending
  // again.
  if (outcome.is === 'pending' && attempt.settledBy === 'expiry') return 'known'
  const isAsAsked = await isForWhatWasAsked(engine, payment, outcome, amount)
  const word = wordOf(outcome, isAsAsked)
  const standing = standingOf(payment, attempt.state)
  const treatment = treatmentOf(payment.effect, standing, word)
  // Something happened to the pending payment, and the message does not say what.
  const isUnclear = outcome.is === 'unknown' && standing === 'pending'
  if (isUnclear) return enquire(engine, now, outcome, isVerified, amount, source)
  if (treatment === 'known') {
    const isHeard = standing === 'reversing' && isVerified
    return isHeard ? hear(engine, now, outcome, amount) : 'known'
  }
  if (treatment === 'enquire' || !isVerified || (mayBeReversed(now) && isSuccess(outcome)))
    return enquire(engine, now, outcome, isVerified, amount, source)
  const taken = await takeAttempt(engine, attemptKey, 'word')
  // The lease holder decides first: the message waits until the lease ends.
  if (taken === undefined) return 'wait'
  const mine = await readAgain(engine, now, taken.lease)
  const isSame =
    mine !== undefined &&
    isOpen(mine.payment.state) &&
    mine.attempt.stage === attempt.stage &&
    treatmentOf(payment.effect, standingOf(mine.payment, mine.attempt.state), word) === treatment &&
    !(mayBeReversed(mine) && isSuccess(outcome))
  if (!isSame) {
    await giveBack(engine, now, taken.lease)
    return 'wait'
  }
  if (await listIfEndOfAnother(engine, mine.payment, outcome)) {
    await giveBack(engine, now, taken.lease)
    return 'conflict'
  }
  return endUnder(engine, mine, taken, outcome, amount, source)
}

/** Ends an open payment, or moves it on, under a lease. */
async function endUnder(
  engine: Engine,
  { payment }: Held,
  { lease, enquiries }: Pick<LeaseRow, 'lease' | 'enquiries'>,
  outcome: Told,
  amount: Money,
  source: 'event' | 'settlement',
): Promise<MessageResult> {
  const work = await rebuildAttempt(engine, payment, lease)
  const { moved } = await ended(engine, work, outcome, enquiries, amount, source)
  return moved ? 'settled' : 'wait'
}

/** An open payment takes the outcome, or the end of its reversal. */
function ended(
  engine: Engine,
  work: AttemptContext,
  told: Told,
  enquiries: number,
  amount: Money,
  source: 'event' | 'settlement',
) {
  switch (told.is) {
    case 'reversed':
      return settle(engine, work, reversedAs(work.payment, told.refs), 'reversal', enquiries)
    case 'notReversed':
      return endAsLate(engine, work, told, source, enquiries, { told: amount })
    default:
      return settle(engine, work, told, source, enquiries)
  }
}

/** The process that asked for a reversal may have died with the answer. */
const mayBeReversed = ({ payment, attempt }: Held) =>
  payment.answer.asked === true && standingOf(payment, attempt.state) !== 'reversing'

/**
 * Ends a lease without a change. The lease of a process that died stays one that ran out, so that an enquiry
 * follows at once: it lists the payment if it stays undecided.
 */
const giveBack = (engine: Engine, { attempt, payment }: Held, lease: number) =>
  engine.lanes.single(
    attempt.leaseUntil === null
      ? dropLease(payment.attemptKey, lease)
      : runOutLease(payment.attemptKey, lease),
  )

/** The payment under a new lease: a holder before, also one that died, may have changed it. */
const readAgain = async (engine: Engine, before: Held, lease: number) =>
  isAsRead(before, lease) ? before : held(engine, before.payment.attemptKey)

/** Whether nobody had the lease between the read and this lease; a holder settles without a new number. */
const isAsRead = ({ attempt }: Held, lease: number) =>
  attempt.leaseUntil === null && lease === attempt.lease + 1

const isSuccess = ({ is }: Told) => is === 'approved' || is === 'accepted'

const isEnd = ({ is }: Told) => is === 'declined' || is === 'reversed' || is === 'notReversed'

/**
 * A success during a reversal, or for another amount, changes nothing, and is recorded before the payment can end.
 * Under a lease: a look that began before would write over the references that the payment learns.
 */
async function hear(
  engine: Engine,
  now: Held,
  outcome: Told,
  amount: Money,
  isOtherAmount = false,
): Promise<MessageResult> {
  if (!isSuccess(outcome)) return 'known'
  const { payment } = now
  const taken = await takeAttempt(engine, payment.attemptKey, 'word')
  if (taken === undefined) return 'wait'
  const mine = await readAgain(engine, now, taken.lease)
  const isUnchanged =
    mine !== undefined &&
    (isUnderReversal(mine.payment) || (isOtherAmount && isOpen(mine.payment.state)))
  if (isUnchanged) await noteApproval(engine, mine.payment, outcome, amount)
  await giveBack(engine, now, taken.lease)
  return isUnchanged ? 'known' : 'wait'
}

/**
 * The acquirer's answer to the enquiry decides. A verified word that contradicts the answer is a late
 * word.
 */
async function enquire(
  engine: Engine,
  before: Held,
  outcome: Told,
  isVerified: boolean,
  amount: Money,
  source: 'event' | 'settlement',
): Promise<MessageResult> {
  const { attemptKey } = before.payment
  if (isVerified && isEnd(outcome)) {
    const now = await held(engine, attemptKey)
    const isStillOpen = now !== undefined && isOpen(now.payment.state)
    if (isStillOpen && (await listIfOfAnother(engine, now.payment, outcome, 'while it was open')))
      return 'conflict'
    if (outcome.is === 'declined') await forgetOtherAmount(engine, before.payment, amount)
  }
  const after = await resolve(engine, attemptKey, 'look', 'other')
  if (after?.isBusy || after?.state === 'processing') return 'wait'
  if (after === undefined || !isVerified) return 'enquired'
  if (isOpen(after.state)) {
    if (outcome.is === 'reversed' || outcome.is === 'notReversed') {
      return endAfterEnquiry(engine, before, outcome, amount, source)
    }
    if (isUnderReversal(after)) {
      const now = await held(engine, attemptKey)
      const heard = now === undefined ? 'known' : await hear(engine, now, outcome, amount)
      return heard === 'known' ? 'enquired' : heard
    }
    if (outcome.is !== 'approved' && outcome.is !== 'accepted') return 'enquired'
    // Its reversal was refused since the word was read: nothing keeps it from deciding now.
    if (await isForWhatWasAsked(engine, after, outcome, amount)) return 'wait'
    const now = await held(engine, attemptKey)
    const heard = now === undefined ? 'known' : await hear(engine, now, outcome, amount, true)
    return heard === 'known' ? 'enquired' : heard
  }
  const applied = await applyLateWord(engine, attemptKey, outcome, source, amount)
  return applied === 'conflict' || applied === 'settled' ? applied : 'enquired'
}

/**
 * The end of a reversal waits for the record of its request, which another process may be writing. A failed reversal
 * ends the payment, also where the enquiry knows nothing of it: its money stands, and no later answer has to say so.
 */
async function endAfterEnquiry(
  engine: Engine,
  before: Held,
  outcome: ReversalEnd,
  amount: Money,
  source: 'event' | 'settlement',
): Promise<MessageResult> {
  const now = await held(engine, before.payment.attemptKey)
  if (now === undefined) return 'enquired'
  const { payment, attempt } = now
  if (attempt.leaseUntil !== null || !isAsRead(before, attempt.lease)) return 'wait'
  const word = wordOf(outcome, await isForWhatWasAsked(engine, payment, outcome, amount))
  // The enquiry has found the reversal, or the amount of the operation.
  const standing = standingOf(payment, attempt.state)
  if (treatmentOf(payment.effect, standing, word) !== 'enquire') return 'wait'
  // Under a lease, like every entry that the end of the payment has to hear.
  const taken = await takeAttempt(engine, payment.attemptKey, 'word')
  if (taken === undefined) return 'wait'
  const isUnchanged = isAsRead(now, taken.lease)
  if (isUnchanged && outcome.is === 'notReversed') {
    // The enquiry may have found the success of another operation.
    const isOther = await listIfEndOfAnother(engine, payment, outcome)
    if (!isOther) return endUnder(engine, now, taken, outcome, amount, source)
    await giveBack(engine, now, taken.lease)
    return 'conflict'
  }
  if (isUnchanged) await listOtherReversal(engine, payment, amount)
  await giveBack(engine, now, taken.lease)
  if (!isUnchanged) return 'wait'
  return 'enquired'
}

/** Another amount was taken back than any that is known: an operator decides. */
async function listOtherReversal(
  engine: Engine,
  { id, attemptKey }: Payment,
  { minor, currency }: Money,
): Promise<void> {
  const detail = { why: 'another amount was reversed', minor: String(minor), currency }
  const reference = `${otherReversal} ${minor} ${currency}`
  await engine.lanes.single(
    addAttention(newId(), 'undecided', id, attemptKey, limits.unknownAlarmMs, detail, reference),
  )
}

/** Takes a late success back at once. A timer repeats the attempt if this process dies. */
async function lookNow(engine: Engine, attemptKey: string, { is }: Told): Promise<void> {
  // The acquirer has just failed to take it back.
  if (is === 'notReversed') return
  const now = await held(engine, attemptKey)
  if (now?.attempt.state === 'late') await resolve(engine, attemptKey, 'look')
}
