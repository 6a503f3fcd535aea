/** An accepted attempt, carried out in this process from the first byte to its last commit. */
import type { Outcome } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import type { AttemptContext } from './attempt-context.ts'
import { keepSaying } from './keep-saying.ts'
import { takeAttempt } from './lease.ts'
import { send } from './send.ts'
import { settle, settleOrKeep } from './settle.ts'
import type { Payment } from './types.ts'

/** Sends and settles. Goes on to its end whether or not the client still listens. */
export async function execute(engine: Engine, work: AttemptContext): Promise<Payment> {
  const connector = work.target.loaded.connector.name
  engine.inFlight.begin(connector)
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
    engine.inFlight.end(connector)
  }
}

/**
 * Bytes that arrive after the deadline are a claim, no longer an answer: whoever brings them must
 * take the lease like anybody else.
 */
async function afterDeadline(
  engine: Engine,
  work: AttemptContext,
  outcome: Outcome,
): Promise<void> {
  if (outcome.is === 'unknown') return
  const eventId = newId()
  await engine.inFlight.track(
    keepSaying(engine, async () => {
      const taken = await takeAttempt(engine, work.payment.attemptKey, 'word')
      // Without a lease nothing moves; what contradicts the row by now is put on record there.
      const lease = taken?.lease ?? work.lease
      await settle(
        engine,
        { ...work, lease },
        outcome,
        'late-answer',
        taken?.enquiries,
        [],
        eventId,
      )
    }),
  )
}
