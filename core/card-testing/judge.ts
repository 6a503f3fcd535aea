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

/** A twentieth of this many failures, or this many, before a process believes that an attack goes on. */
const leastSeen = 20

/**
 * A number and an address are one shopper's, so their threshold is absolute and counts what is under
 * way: else all that is sent at once would be carried out. What many shoppers share is refused only
 * while more of it fails than is approved: a shop with many sales has many declines, and whoever
 * attacks it must not be able to close it.
 */
export function judge(
  dimension: Dimension,
  { own, others, approved }: Counted,
  { underWay, open }: Pending,
  threshold: number,
): Verdict {
  if (threshold === 0) return 'free'
  if (isWide(dimension)) {
    const isSeen = own >= Math.min(leastSeen, Math.ceil(threshold / leastSeen))
    return own + others >= threshold && isSeen && own > approved ? 'blocked' : 'free'
  }
  if (own + others >= threshold) return 'blocked'
  // What is open here may be among the failures that another process was told.
  return own + Math.max(others, open) + underWay >= threshold ? 'busy' : 'free'
}
