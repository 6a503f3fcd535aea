/** Whether another attempt is refused. Pure. */
import { type Dimension, isWide } from '../entity/card-testing-settings.ts'
import type { Counted } from './windows.ts'

export type Pending = {
  /** Attempts that this process is sending now. */
  readonly underWay: number
  /** Attempts of this process that the acquirer has not decided. */
  readonly open: number
}

/** `blocked`: so many failed. `busy`: so many will have failed, should those under way fail as well. */
export type Verdict = 'free' | 'busy' | 'blocked'

/**
 * A number and an address are one shopper's, so their threshold is absolute and counts what is under
 * way: else all that is sent at once would be carried out. What many shoppers share is refused only
 * while more of it fails than is approved: a shop with many sales has many declines, and whoever
 * attacks it must not be able to close it. Both are those of all processes.
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
  // What is open here may be among the failures that another process was told.
  return own + Math.max(others, open) + underWay >= threshold ? 'busy' : 'free'
}
