/**
 * An operation that counts as done until the acquirer's final word, where that word is asked for.
 * Safe to run twice: the row leaves the state only once.
 */

import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { addTimer, removeTimer } from '../timer/store.ts'
import { failLater } from './fail-later.ts'
import { rebuild } from './rebuild.ts'
import { ask, checked } from './send.ts'
import { paymentByAttempt, toPayment } from './store-read.ts'
import { confirmAccepted } from './store-settle.ts'

const askAgainMs = 3_600_000

export async function askForFinality(engine: Engine, attemptKey: string): Promise<void> {
  const [row] = await engine.lanes.single(paymentByAttempt(attemptKey))
  const payment = row === undefined ? undefined : toPayment(row)
  if (payment?.state !== 'approved' || payment.finalBy === null) {
    await engine.lanes.single(removeTimer('finalise', attemptKey))
    return
  }
  const work = await rebuild(engine, payment, 0)
  const enquire = work.target.loaded.connector.resolve.enquire
  const found = enquire === undefined ? undefined : await ask(engine, work, 'enquire', enquire)
  const outcome = found === undefined || found.is === 'notFound' ? undefined : checked(found)
  if (outcome?.is === 'declined') await failLater(engine, payment, outcome)
  else if (outcome?.is === 'approved') await engine.lanes.single(confirmAccepted(payment.id))
  else {
    const afterMs =
      outcome?.is === 'accepted' && typeof outcome.finalBy === 'object'
        ? outcome.finalBy.poll
        : askAgainMs
    await engine.lanes.single(addTimer(newId(), 'finalise', attemptKey, afterMs))
    return
  }
  await engine.lanes.single(removeTimer('finalise', attemptKey))
}
