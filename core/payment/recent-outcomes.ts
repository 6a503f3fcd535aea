/**
 * Outcomes that this process wrote and answered lately. A failover to a standby that lagged behind loses
 * commits that clients saw; this process then writes them again from memory.
 */
import { deserialize, serialize } from 'node:v8'
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

/**
 * The last outcomes, up to a number, as bytes. Commits hold no clear account data, but a string can be a part
 * of the request's body for V8, and would keep the whole body in memory.
 */
export class RecentOutcomes {
  readonly #kept: Buffer[] = []
  #next = 0

  keep({ payment, lease, begun, returns }: Settling, outcome: Outcome, source: Source): void {
    if (begun === null) return
    const one: RecentOutcome = { work: { payment, lease, begun, returns }, outcome, source }
    try {
      this.#kept[this.#next] = serialize(one)
    } catch {
      // A connector put something into its outcome that has no bytes, a function say.
      return
    }
    this.#next = (this.#next + 1) % limits.recentOutcomes
  }

  /** Oldest first. */
  all(): readonly RecentOutcome[] {
    return [...this.#kept.slice(this.#next), ...this.#kept.slice(0, this.#next)].map(
      (bytes) => deserialize(bytes) as RecentOutcome,
    )
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
