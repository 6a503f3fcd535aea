/** What was listed about a payment while its outcome was open becomes a late word about the outcome. */
import type { Outcome } from '@tollgate/plugin-kit'
import { resolveAttention } from '../attention/store.ts'
import { otherAmountsOf, otherReversalsOf } from '../attention/store-told.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { applyLateWord, countBeside } from './late-word-apply.ts'
import { held } from './late-word-move.ts'
import { isOpen, isOver, type Told, treatmentOf } from './late-word-table.ts'
import { givenBack } from './late-word-treatment.ts'
import type { Held, Payment, Source } from './types.ts'

/** Sources whose decline proves that no money is left at the acquirer. */
const provenBy: ReadonlySet<string> = new Set<Source>(['reversal', 'operator', givenBack])

type Listed = { readonly outcome?: string; readonly minor?: string; readonly currency?: string }

const amountOf = ({ minor, currency }: Listed) => ({
  minor: BigInt(minor ?? 0),
  currency: currency ?? '',
})

const successOf = ({ outcome }: Listed): Told =>
  outcome === 'accepted'
    ? { is: 'accepted', refs: {}, finalBy: 'event' }
    : { is: 'approved', refs: {} }

/**
 * Ends the entries of a payment that was undecided. Other reported amounts are forgotten only when a
 * proof or an operator says that nothing of them is left. Otherwise those amounts are late words
 * about the decided payment. Safe to run again.
 */
export async function endUndecided(
  engine: Engine,
  payment: Payment,
  outcome: Outcome,
  source: Source,
): Promise<void> {
  return end(engine, payment, outcome.is === 'declined' && provenBy.has(source))
}

/** The same where the process that decided the payment died before it, or a word came beside it. */
export async function endForgotten(engine: Engine, attemptKey: string): Promise<void> {
  const now = await held(engine, attemptKey)
  if (now === undefined || isOpen(now.payment.state)) return
  const { payment, attempt } = now
  const listed = [otherAmountsOf(payment.id), otherReversalsOf(payment.id)]
  const found = await Promise.all(listed.map((which) => engine.lanes.single(which)))
  if (found.flat().length === 0) return
  const isProven = isOver(payment.state) && attempt.state !== 'late'
  await end(engine, payment, isProven && provenBy.has(attempt.settledBy ?? ''))
}

async function end(engine: Engine, payment: Payment, isNothingLeft: boolean): Promise<void> {
  const { id, attemptKey, state } = payment
  if (!isNothingLeft) {
    await hear(otherAmountsOf(id), successOf)
    // A reversal that is older than the decline ends no late success.
    if (state === 'approved') await hear(otherReversalsOf(id), () => ({ is: 'reversed', refs: {} }))
  }
  await engine.lanes.single(resolveAttention(id, 'undecided', 'engine'))

  async function hear(listed: ReturnType<typeof otherAmountsOf>, told: (one: Listed) => Told) {
    for (const { detail } of await engine.lanes.single(listed)) {
      await applyLateWord(engine, attemptKey, told(detail), 'event', amountOf(detail))
    }
  }
}

/**
 * Counts another amount in the commit that ends its payment, so that no lost answer and no death of a
 * process hides the money.
 *
 * @param over The payment as the commit leaves it.
 */
export async function otherAmountBeside(
  engine: Engine,
  over: Held,
  outcome: Outcome,
  source: Source,
): Promise<Sql[]> {
  const { id, effect, state } = over.payment
  const isNothingLeft = outcome.is === 'declined' && provenBy.has(source)
  // A reversal that failed brings its own amount.
  if (!isOver(state) || isNothingLeft || source === 'not-reversed') return []
  const treatment = treatmentOf(effect, 'over', 'approved-otherwise')
  if (treatment !== 'take-back' && treatment !== 'count') return []
  const others = await engine.lanes.single(otherAmountsOf(id))
  const moved = others.find(({ detail }) => amountOf(detail).minor > 0n)?.detail
  if (moved === undefined) return []
  return [await countBeside(engine, over, successOf(moved), 'event', amountOf(moved))]
}
