/** What was listed about a payment while its outcome was open becomes a late word about the outcome. */
import type { Outcome } from '@tollgate/plugin-kit'
import { resolveAttention } from '../attention/store.ts'
import { otherAmountsOf, otherReversalsOf } from '../attention/store-told.ts'
import type { Engine } from '../engine.ts'
import { applyLateWord } from './late-word-apply.ts'
import type { Told } from './late-word-table.ts'
import { givenBack } from './late-word-treatment.ts'
import type { Payment, Source } from './types.ts'

/** Sources whose decline proves that no money is left at the acquirer. */
const provenBy: ReadonlySet<Source> = new Set<Source>(['reversal', 'operator', givenBack])

/**
 * Ends the entries of a payment that was undecided. Other reported amounts are forgotten only when a
 * proof or an operator says that nothing of them is left. Otherwise those amounts are late words
 * about the decided payment.
 */
export async function endUndecided(
  engine: Engine,
  { id, attemptKey, state }: Payment,
  outcome: Outcome,
  source: Source,
): Promise<void> {
  const isNothingLeft = outcome.is === 'declined' && provenBy.has(source)
  if (!isNothingLeft) {
    await hear(otherAmountsOf(id), { is: 'approved', refs: {} })
    // A reversal that is older than the decline ends no late success.
    if (state === 'approved') await hear(otherReversalsOf(id), { is: 'reversed', refs: {} })
  }
  await engine.lanes.single(resolveAttention(id, 'undecided', 'engine'))

  async function hear(listed: ReturnType<typeof otherAmountsOf>, told: Told) {
    for (const { detail } of await engine.lanes.single(listed)) {
      const amount = { minor: BigInt(detail.minor ?? 0), currency: detail.currency ?? '' }
      await applyLateWord(engine, attemptKey, told, 'event', amount)
    }
  }
}
