/** Carries out an accepted attempt in this process, from the first byte to the last commit. */
import type { Outcome } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import type { AttemptContext } from './attempt-context.ts'
import { takeAttempt } from './lease.ts'
import { retryWrite } from './retry-write.ts'
import { send } from './send.ts'
import { sayUnderLease, settle, settleOrKeep } from './settle.ts'
import { dropLease } from './store-settle.ts'
import type { Payment } from './types.ts'

/** Sends and settles. A client that disconnects does not stop the work. */
export async function execute(engine: Engine, work: AttemptContext): Promise<Payment> {
  const connector = work.target.loaded.connector.name
  const admitted = work.places?.handOver(connector)
  const end = admitted ?? engine.inFlight.begin(connector, work.payment.channelId)
  try {
    const { outcome, source, late } = await send(engine, work)
    const payment = await settleOrKeep(engine, work, outcome, source)
    if (late !== null) {
      const heard = late.then((answer) => afterDeadline(engine, work, answer))
      heard.catch(() =>
        engine.log.warn({ payment: work.payment.id }, 'a late answer was not heard'),
      )
    }
    return payment
  } finally {
    end()
  }
}

/**
 * Approves the payment without a call to the acquirer; the approval says nothing about the card.
 */
export async function settleUnsent(
  engine: Engine,
  { trial: _, ...work }: AttemptContext,
): Promise<Payment> {
  return (await settle(engine, work, { is: 'approved', refs: {} }, 'answer')).payment
}

/**
 * After the deadline, a response is a claim and no longer an answer: its process must take the
 * lease first, as for any other word.
 */
async function afterDeadline(
  engine: Engine,
  work: AttemptContext,
  outcome: Outcome,
): Promise<void> {
  if (outcome.is === 'unknown') return
  const eventId = newId()
  await engine.inFlight.track(
    retryWrite(engine, async () => {
      const taken = await takeAttempt(engine, work.payment.attemptKey, 'word')
      // Another process may have sent the operation again: only this call sent nothing.
      if (outcome.is === 'notSent' && taken !== undefined && taken.lease !== work.lease + 1) {
        await engine.lanes.single(dropLease(taken.key, taken.lease))
        return
      }
      const isSaid =
        taken !== undefined && (await sayUnderLease(engine, work, outcome, taken, eventId))
      // Nothing moves without a lease; settling records a contradiction.
      if (!isSaid) await settle(engine, work, outcome, 'late-answer', 0, [], eventId)
    }),
  )
}
