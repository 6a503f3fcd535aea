import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { ladder } from './decide.ts'
import { type LeaseFor, type LeaseRow, takeLease } from './store-settle.ts'

/** How long whoever asks an acquirer holds the lease: its own deadline, one flush and a margin. */
export function leaseMs(timeoutMs: number): number {
  return timeoutMs + limits.flushBudgetMs + limits.leaseMarginMs
}

/** The right to settle an attempt, when nobody else holds it. */
export async function takeAttempt(
  engine: Pick<Engine, 'connectorTimeoutMs' | 'lanes'>,
  key: string,
  why: LeaseFor,
): Promise<LeaseRow | undefined> {
  // Asking takes two calls at most, an enquiry and a reversal or a repeat.
  const [row] = await engine.lanes.single(
    takeLease(key, leaseMs(2 * engine.connectorTimeoutMs), newId(), ladder(1), why),
  )
  return row
}
