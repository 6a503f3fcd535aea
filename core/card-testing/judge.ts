/** Decides whether another attempt is refused. Pure. */
import { type Dimension, isWide } from '../entity/card-testing-settings.ts'
import type { Counted } from './windows.ts'

export type Pending = {
  /** Attempts that this process is sending now. */
  readonly underWay: number
  /** Attempts of this process without a decision by the acquirer. */
  readonly open: number
}

/** `blocked`: too many failures. `busy`: too many if all attempts under way fail as well. */
export type Verdict = 'free' | 'busy' | 'blocked'

/**
 * A number and an address belong to one shopper, so their threshold is absolute and includes
 * attempts under way; otherwise a burst would pass. Features that many shoppers share are refused
 * only while failures exceed approvals: a shop with many sales has many declines, and an attacker
 * must not be able to close it. Both counts include all processes.
 */
export function judge(
  dimension: Dimension,
  { own, others, approved }: Counted,
  { underWay, open }: Pending,
  threshold: number,
): Verdict {
  if (threshold === 0) return 'free'
  const failed = own + others
  if (isWide(dimension)) return failed >= threshold && failed > approved ? 'blocked' : 'free'
  if (failed >= threshold) return 'blocked'
  // An open attempt here may be among the failures of another process.
  return own + Math.max(others, open) + underWay >= threshold ? 'busy' : 'free'
}
