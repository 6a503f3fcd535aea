/** Compares answered payments with the leader after a failover, and writes again what it never got. */
import { addAttention } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { type RecentOutcome, recentOutcomesOf } from './recent-outcomes.ts'
import { settle } from './settle.ts'
import { paymentsById } from './store-read.ts'

const atOnce = 200

/**
 * Safe to run twice. Each payment whose rows are missing is written again and listed for operators; one
 * whose second commit alone is missing gets it.
 *
 * @returns the number of payments that had lost something.
 */
export async function restoreOutcomes(engine: Engine): Promise<number> {
  const recent = recentOutcomesOf(engine).all()
  let lost = 0
  for (let from = 0; from < recent.length; from += atOnce) {
    const some = recent.slice(from, from + atOnce)
    // The lane of writes, because a read of a former leader would prove nothing.
    const rows = await engine.lanes.single(paymentsById(some.map(({ work }) => work.payment.id)))
    const states = new Map(rows.map(({ id, state }) => [id, state]))
    for (const one of some) {
      const state = states.get(one.work.payment.id)
      if (state !== undefined && state !== 'processing') continue
      lost += 1
      await restore(engine, one)
    }
  }
  if (lost > 0) engine.log.warn({ payments: lost }, 'a failover lost answered payments')
  return lost
}

async function restore(engine: Engine, { work, outcome, source }: RecentOutcome): Promise<void> {
  const { id, attemptKey } = work.payment
  try {
    await settle(engine, work, outcome, source)
  } catch (error) {
    const kind = error instanceof Error ? error.name : 'unknown'
    engine.log.warn({ payment: id, error: kind }, 'a lost payment could not be written again')
    const why = `a failover lost this payment after its answer, and writing it again failed (${kind})`
    await engine.lanes.single(
      addAttention(newId(), 'recovered', id, attemptKey, 0, { why, source }),
    )
  }
}
