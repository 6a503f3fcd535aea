/** How long a statement may wait and take. */
import { limits } from '@tollgate/schemas'
import { systemClock } from '../clock.ts'

/** The time limits of a statement, on the clock of `systemClock.elapsedMs()`. */
export type Patience = {
  /** The end of the wait for a connection. No try begins later. */
  readonly beginUntilMs: number
  readonly endUntilMs: number
  /** The time limit of one try. After it, the connection is given up. */
  readonly tryMs: number
}

/** Tries within the flush budget; one that may last longer than the budget begins within it. */
export function patience(tryMs: number, sinceMs: number = systemClock.elapsedMs()): Patience {
  return {
    beginUntilMs: sinceMs + limits.flushBudgetMs - limits.leastTryMs,
    endUntilMs: sinceMs + Math.max(limits.flushBudgetMs, tryMs),
    tryMs,
  }
}
