/** Compares answered payments with the leader after a failover, and writes again what it never got. */
import { addAttention } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { isOpen } from './late-word-table.ts'
import { type RecentOutcome, recentOutcomesOf } from './recent-outcomes.ts'
import { restoring } from './restoration.ts'
import { restoreLater, restoreOnRow } from './restore-on-row.ts'
import { settle } from './settle.ts'
import { freezeForMissing } from './store-missing.ts'
import { eventsById, paymentsById } from './store-read.ts'
import type { PaymentState } from './types.ts'

const atOnce = 200

/** The outcomes of one payment, oldest first. Commits are lost from the end, so the newest one tells. */
type Remembered = readonly [RecentOutcome, ...RecentOutcome[]]

/**
 * Safe to run twice. Each payment whose rows are missing is written again and listed for operators, and so
 * is one that a lost commit decided or moved; one whose second commit alone is missing gets it.
 *
 * @returns the number of payments that had lost something.
 */
export function restoreOutcomes(engine: Engine): Promise<number> {
  return restoring(engine, async () => {
    const all = byPayment(recentOutcomesOf(engine).all())
    let lost = 0
    for (let from = 0; from < all.length; from += atOnce) {
      const some = all.slice(from, from + atOnce)
      // The lane of writes, because a read of a former leader would prove nothing.
      const rows = await engine.lanes.single(
        paymentsById(some.map(([{ work }]) => work.payment.id)),
      )
      const states = new Map(rows.map(({ id, state }) => [id, state]))
      const told = await engine.lanes.single(eventsById(some.map((one) => newest(one).eventId)))
      const events = new Set(told.map(({ id }) => id))
      for (const one of some) {
        const state = states.get(one[0].work.payment.id)
        if (state !== undefined && events.has(newest(one).eventId)) continue
        lost += 1
        await restore(engine, one, state)
      }
    }
    if (lost > 0) engine.log.warn({ payments: lost }, 'a failover lost answered payments')
    return lost
  })
}

function byPayment(all: readonly RecentOutcome[]): Remembered[] {
  const found = new Map<string, [RecentOutcome, ...RecentOutcome[]]>()
  for (const one of all) {
    const { id } = one.work.payment
    const before = found.get(id)
    if (before === undefined) found.set(id, [one])
    else before.push(one)
  }
  return [...found.values()]
}

const newest = (outcomes: Remembered): RecentOutcome => outcomes.at(-1)!

async function restore(
  engine: Engine,
  outcomes: Remembered,
  state: PaymentState | undefined,
): Promise<void> {
  const last = newest(outcomes)
  const { id } = last.work.payment
  try {
    if (state === undefined) await writeRows(engine, outcomes)
    else if (!(await restoreOnRow(engine, last))) restoreLater(engine, last)
    else if (isOpen(state) && state !== 'processing') {
      await list(engine, last, 'its outcome was missing and was written again')
    }
  } catch (error) {
    const kind = error instanceof Error ? error.name : 'unknown'
    engine.log.warn({ payment: id, error: kind }, 'a lost payment could not be written again')
    await list(
      engine,
      last,
      `a failover lost this payment after its answer, and writing it again failed (${kind})`,
    )
  }
}

/** Writes the rows of the first commit again with the first outcome, and then the last outcome. */
async function writeRows(engine: Engine, outcomes: Remembered): Promise<void> {
  const last = newest(outcomes)
  const begun = outcomes.find(({ work }) => work.begun !== null)
  if (begun === undefined) {
    await list(engine, last, 'a failover lost its rows, and another process may remember them')
    restoreLater(engine, last)
    return
  }
  const { work, outcome, source, eventId } = begun
  await settle(engine, work, outcome, source, 0, [freezeForMissing(work.payment.id)], eventId)
  if (begun !== last && !(await restoreOnRow(engine, last))) restoreLater(engine, last)
}

async function list(engine: Engine, { work, source }: RecentOutcome, why: string): Promise<void> {
  const { id, attemptKey } = work.payment
  await engine.lanes.single(addAttention(newId(), 'recovered', id, attemptKey, 0, { why, source }))
}
