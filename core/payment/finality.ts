/** The final word on an operation that counts as done and may still fail. */
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { addTimer, removeTimer } from '../timer/store.ts'
import { applyLateWord } from './late-word-apply.ts'
import { held } from './late-word-move.ts'
import { rebuildAttempt } from './rebuild-attempt.ts'
import { ask } from './send.ts'
import type { Held, Payment } from './types.ts'

/** Pause between enquiries for the final word, unless the acquirer names one. */
const askAgainMs = 3_600_000

/**
 * Enquires about the final word on an accepted operation, where the acquirer answers such
 * enquiries. Other decided payments need no further look.
 */
export async function askForFinality(engine: Engine, { payment }: Held): Promise<Payment> {
  const { attemptKey } = payment
  if (payment.state !== 'approved' || payment.finalBy !== 'poll') {
    await engine.lanes.single(removeTimer('look', attemptKey))
    await engine.lanes.single(removeTimer('expire', attemptKey))
    return payment
  }
  const work = await rebuildAttempt(engine, payment, 0)
  const handler = work.target.loaded.connector.resolve.enquire
  const found = handler === undefined ? undefined : await ask(engine, work, 'enquire', handler)
  const isFinal = found?.is === 'declined' || found?.is === 'approved' || found?.is === 'reversed'
  if (isFinal) await applyLateWord(engine, attemptKey, found, 'enquiry')
  const after = (await held(engine, attemptKey))?.payment ?? payment
  if (after.state === 'approved' && after.finalBy === 'poll') {
    const isPolled = found?.is === 'accepted' && typeof found.finalBy === 'object'
    const afterMs = isPolled ? (found.finalBy as { poll: number }).poll : askAgainMs
    await engine.lanes.single(addTimer(newId(), 'look', attemptKey, afterMs))
  }
  return after
}
