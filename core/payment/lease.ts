import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { ladder } from './decide.ts'
import { type LeaseFor, type LeaseRow, takeLease } from './store-settle.ts'

/** Duration of a lease for an enquiry: the connector's deadline, one flush and a margin. */
export function leaseMs(timeoutMs: number): number {
  return timeoutMs + limits.flushBudgetMs + limits.leaseMarginMs
}

/** Takes the right to settle an attempt, unless another process holds the lease. */
export async function takeAttempt(
  engine: Pick<Engine, 'connectorTimeoutMs' | 'lanes'>,
  key: string,
  why: LeaseFor,
): Promise<LeaseRow | undefined> {
  // A look makes at most two calls: an enquiry, and a reversal or a repeat.
  const [row] = await engine.lanes.single(
    takeLease(key, leaseMs(2 * engine.connectorTimeoutMs), newId(), ladder(1), why),
  )
  return row
}
