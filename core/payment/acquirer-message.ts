/**
 * Applies messages of acquirers about payments. Safe to run twice: an undecided payment moves only
 * under a lease, a decided payment only by the table of late words.
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
  /** Another process works on the payment; the message waits until that work ends. */
  'wait' | 'settled' | 'known' | 'enquired' | 'conflict'

/**
 * @param isVerified Whether a signature proves that the acquirer sent the message. The engine
 * answers an unproven message with an enquiry only. `amount`: the amount that the message names.
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
  // No acquirer knows of it, says this database: the word of one waits until the payment went on or ended.
  if (attempt.stage === 'authentication') return 'wait'
  // The payment has expired: the engine reverses it where possible and never makes it pending
  // again.
  if (outcome.is === 'pending' && attempt.settledBy === 'expiry') return 'known'
  const isAsAsked = await isForWhatWasAsked(engine, payment, outcome, amount)
  const word = wordOf(outcome, isAsAsked)
  const treatment = treatmentOf(payment.effect, standingOf(payment, attempt.state), word)
  if (treatment === 'known') return 'known'
  if (treatment === 'enquire' || !isVerified)
    return enquire(engine, attemptKey, outcome, isVerified, amount)
  const taken = await takeAttempt(engine, attemptKey, 'word')
  // The lease holder decides first: the message waits until the lease ends.
  if (taken === undefined) return 'wait'
  const work = await resumeAttempt(engine, payment, taken.lease)
  const { moved } = await settle(engine, work, outcome, 'event', taken.enquiries)
  return moved ? 'settled' : 'wait'
}

/**
 * The acquirer's answer to the enquiry decides. A proven word that contradicts the answer is a late
 * word.
 */
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

/** Takes a late success back at once. A timer repeats the attempt if this process dies. */
async function lookNow(engine: Engine, attemptKey: string): Promise<void> {
  const now = await held(engine, attemptKey)
  if (now?.attempt.state === 'late') await resolve(engine, attemptKey, 'look')
}
