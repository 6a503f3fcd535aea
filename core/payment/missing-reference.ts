/** An operation whose reference a failover lost as well: its rows wait until those of the reference are back. */
import type { Outcome } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention, freezeWith, resolveAttention } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { retryWrite } from './retry-write.ts'
import { isThere, missing } from './store-missing.ts'
import type { Payment, Source } from './types.ts'

/** Lists a payment whose rows cannot be written now. Nothing else happens to its reference until the entry ends. */
export async function listMissing(
  engine: Engine,
  payment: Payment,
  source: Source,
  { is: outcome }: Outcome,
): Promise<void> {
  const { id, attemptKey, parentId, referencedId, amount } = payment
  const { minor, currency } = amount
  const why =
    referencedId === null
      ? 'its rows were missing and could not be written again, because another payment has what it needs'
      : 'its reference is missing too'
  const detail = { why, source, outcome, minor: String(minor), currency }
  await engine.lanes.single(
    parentId === null
      ? addAttention(newId(), 'recovered', id, attemptKey, 0, detail, missing)
      : freezeWith(newId(), 'recovered', id, attemptKey, 0, detail, missing, parentId),
  )
}

/** Ends that entry once the rows are back. */
export async function endMissing({ lanes }: Engine, { id }: Payment): Promise<void> {
  await lanes.single(resolveAttention(id, 'recovered', 'engine', missing))
}

const waitingOf = new WeakMap<Engine, Set<string>>()

/**
 * Writes the operation again once its reference is there: another process may remember the reference.
 *
 * @returns false when it is waited for already.
 */
export function awaitReference(
  engine: Engine,
  { id, referencedId }: Payment,
  write: () => Promise<unknown>,
): boolean {
  const waiting = waitingOf.get(engine) ?? new Set()
  waitingOf.set(engine, waiting)
  if (referencedId === null || waiting.has(id)) return false
  waiting.add(id)
  const { clock, inFlight, lanes } = engine
  const untilMs = clock.elapsedMs() + limits.keptOutcomeMs
  const attempt = async () => {
    // The entry tells of the payment when this process ends.
    while (!inFlight.closing && clock.elapsedMs() < untilMs) {
      await new Promise((resume) => setTimeout(resume, limits.referencePauseMs))
      if ((await lanes.single(isThere(referencedId))).length === 0) continue
      await write()
      if ((await lanes.single(isThere(id))).length > 0) return
    }
  }
  inFlight.track(retryWrite(engine, attempt).finally(() => waiting.delete(id)))
  return true
}
