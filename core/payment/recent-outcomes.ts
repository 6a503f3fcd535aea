/**
 * Outcomes that this process wrote and answered lately. A failover to a standby that lagged behind loses
 * commits that clients saw; this process then writes them again from memory.
 */
import type { Outcome } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import type { Settling } from './settle-row.ts'
import type { Source } from './types.ts'

export type RecentOutcome = {
  readonly work: Settling
  readonly outcome: Outcome
  readonly source: Source
}

/** The last outcomes, up to a number; holds no clear account data, because commits hold none. */
export class RecentOutcomes {
  readonly #kept: RecentOutcome[] = []
  #next = 0

  keep({ payment, lease, begun, returns }: Settling, outcome: Outcome, source: Source): void {
    if (begun === null) return
    this.#kept[this.#next] = { work: { payment, lease, begun, returns }, outcome, source }
    this.#next = (this.#next + 1) % limits.recentOutcomes
  }

  /** Oldest first. */
  all(): readonly RecentOutcome[] {
    return [...this.#kept.slice(this.#next), ...this.#kept.slice(0, this.#next)]
  }
}

const ofEngines = new WeakMap<Engine, RecentOutcomes>()

/** The recent outcomes of this engine. */
export function recentOutcomesOf(engine: Engine): RecentOutcomes {
  const known = ofEngines.get(engine)
  if (known !== undefined) return known
  const made = new RecentOutcomes()
  ofEngines.set(engine, made)
  return made
}
