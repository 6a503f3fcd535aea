/** An outcome that a failover lost, for a payment whose rows the new leader has. */
import type { Outcome } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { hasLostItsSlot } from './in-checkout.ts'
import { applyLateWord } from './late-word-apply.ts'
import { held } from './late-word-move.ts'
import { isOpen } from './late-word-table.ts'
import { leaseMs, takeAttempt } from './lease.ts'
import type { RecentOutcome } from './recent-outcomes.ts'
import { retryWrite } from './retry-write.ts'
import { settle } from './settle.ts'
import { freezeForMissing } from './store-missing.ts'
import { beginKnown } from './store-queued.ts'
import { dropLease } from './store-settle.ts'
import type { Held } from './types.ts'
import { hearDuringReversal } from './word-during-reversal.ts'

const decides = ({ is }: Outcome) => is === 'approved' || is === 'accepted' || is === 'declined'

/**
 * Writes the outcome under a lease. Safe to run any number of times: it moves only a payment that is open. For a
 * payment that another process has decided meanwhile, it is a late word.
 *
 * @returns false when another process holds the lease, reverses the payment, or has yet to write its rows again.
 */
export async function restoreOnRow(engine: Engine, one: RecentOutcome): Promise<boolean> {
  const { work, outcome, source } = one
  const { attemptKey } = work.payment
  const before = await held(engine, attemptKey)
  if (before === undefined) return false
  if (!isOpen(before.payment.state)) {
    return (
      !decides(outcome) || (await applyLateWord(engine, attemptKey, outcome, source)) !== undefined
    )
  }
  if (before.payment.state !== 'processing' && !decides(outcome)) return true
  if (before.attempt.state === 'queued') {
    // Only the process that sent it knows an outcome, so that nobody sends it from here on.
    await engine.lanes.single(beginKnown(attemptKey, leaseMs(engine.connectorTimeoutMs)))
  }
  const lease = await leaseOf(engine, before, work.lease)
  if (lease === undefined) return false
  const now = await held(engine, attemptKey)
  if (now?.attempt.lease !== lease.no) return false
  if (await hearDuringReversal(engine, now.payment, outcome)) {
    await engine.lanes.single(dropLease(attemptKey, lease.no))
    return true
  }
  const { payment } = now
  // Another outcome than the one that was told is another event.
  const isOther = await hasLostItsSlot(engine, payment, outcome)
  await settle(
    engine,
    { ...work, payment, lease: lease.no },
    outcome,
    source,
    lease.enquiries,
    [freezeForMissing(payment.id)],
    ...(isOther ? [] : [one.eventId]),
  )
  return true
}

/** The first lease of an attempt belongs to the process that sent it, and no other one has its number. */
async function leaseOf(
  engine: Engine,
  { payment, attempt }: Held,
  remembered: number,
): Promise<{ readonly no: number; readonly enquiries: number } | undefined> {
  const isFirst = attempt.lease <= 1 && remembered === 1 && payment.state === 'processing'
  if (isFirst) return { no: 1, enquiries: 0 }
  const taken = await takeAttempt(engine, payment.attemptKey, 'word')
  return taken && { no: taken.lease, enquiries: taken.enquiries }
}

/** Writes it once the process that has the lease has given it back, or the one that began the payment has restored it. */
export function restoreLater(engine: Engine, one: RecentOutcome): void {
  const { clock, inFlight } = engine
  const untilMs = clock.elapsedMs() + limits.keptOutcomeMs
  const write = async () => {
    while (!inFlight.over && clock.elapsedMs() < untilMs) {
      if (await restoreOnRow(engine, one)) return
      await new Promise((resume) => setTimeout(resume, limits.referencePauseMs))
    }
  }
  inFlight.track(retryWrite(engine, write))
}
