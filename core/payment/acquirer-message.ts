/**
 * The door for what acquirers say about a payment by themselves. Safe to run twice: an undecided
 * payment moves only under a lease, a decided one by the table of late words.
 */
import type { Money, Outcome } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { amountSaid } from './amount-moved.ts'
import { holdOtherAmount, isForWhatWasAsked } from './asked-amount.ts'
import { applyLate } from './late.ts'
import { held } from './late-move.ts'
import { isOpen, standingOf, treatmentOf, wordOf } from './late-words.ts'
import { takeAttempt } from './lease.ts'
import { resolve } from './resolve.ts'
import { resumeAttempt } from './resume.ts'
import { settle } from './settle.ts'

export type Heard =
  /** Somebody works on it: what is said waits for the end of that. */
  'wait' | 'settled' | 'known' | 'enquired' | 'conflict'

/**
 * @param isVerified Whether the message is proven to be the acquirer's. One that is not only makes the
 * engine ask. `amount`: what the message is about.
 */
export async function hear(
  engine: Engine,
  attemptKey: string,
  outcome: Outcome,
  isVerified: boolean,
  amount: Money,
): Promise<Heard> {
  const now = await held(engine, attemptKey)
  if (now === undefined) return 'known'
  const { payment, attempt } = now
  if (!isOpen(payment.state)) {
    if (!isVerified) return 'known'
    const applied = await applyLate(engine, attemptKey, outcome, 'event', amount)
    if (applied === 'settled') await lookNow(engine, attemptKey)
    return applied ?? 'wait'
  }
  // Its time is over: it is undone when it can be, and not pending again.
  if (outcome.is === 'pending' && attempt.settledBy === 'expiry') return 'known'
  const isAsAsked = await isForWhatWasAsked(engine, payment, outcome, amount)
  const word = wordOf(outcome, isAsAsked)
  const treatment = treatmentOf(payment.effect, standingOf(payment, attempt.state), word)
  if (treatment === 'known') return 'known'
  if (treatment === 'enquire' || !isVerified)
    return enquire(engine, attemptKey, outcome, isVerified, amount)
  const taken = await takeAttempt(engine, attemptKey, 'word')
  // Whoever sends has the word first: the event waits for the end of that lease.
  if (taken === undefined) return 'wait'
  const work = await resumeAttempt(engine, payment, taken.lease)
  const { moved } = await settle(engine, work, outcome, 'event', taken.enquiries)
  return moved ? 'settled' : 'wait'
}

/** The acquirer decides by its answer; a proven word that this answer contradicts is then a late one. */
async function enquire(
  engine: Engine,
  attemptKey: string,
  outcome: Outcome,
  isVerified: boolean,
  amount: Money,
): Promise<Heard> {
  const after = await resolve(engine, attemptKey, 'look', 'other')
  if (after?.state === 'processing') return 'wait'
  if (after === undefined || !isVerified) return 'enquired'
  if (isOpen(after.state)) {
    const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
    const isOther = isSuccess && !(await isForWhatWasAsked(engine, after, outcome, amount))
    if (isOther) await holdOtherAmount(engine, after, amountSaid(outcome, amount) ?? amount)
    return 'enquired'
  }
  const applied = await applyLate(engine, attemptKey, outcome, 'event', amount)
  return applied === 'conflict' || applied === 'settled' ? applied : 'enquired'
}

/** What is to be taken back is taken back at once; a timer stands for it should this process die. */
async function lookNow(engine: Engine, attemptKey: string): Promise<void> {
  const now = await held(engine, attemptKey)
  if (now?.attempt.state === 'late') await resolve(engine, attemptKey, 'look')
}
