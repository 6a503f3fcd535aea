import type { Instrument, Operation } from '@tollgate/plugin-kit'
import type { Trial } from '../card-testing/attempt.ts'
import type { Target } from '../routing/targets.ts'
import type { Begun } from './first-commit.ts'
import type { Returns } from './store-settle.ts'
import type { Payment } from './types.ts'

/** One attempt under way in this process: everything needed to send it and to settle it. */
export type AttemptContext = {
  /** As its first commit wrote it. */
  readonly payment: Payment
  readonly lease: number
  readonly target: Target
  readonly operation: Operation
  /** What the first commit wrote, in the process that wrote it: should a failover lose it. */
  readonly begun: Begun | null
  /** Of a capture's reversal: the capture, and the balance that gets its amount back. */
  readonly returns: Returns | null
  /** What its failure would count for, in the process that accepted it. */
  readonly trial?: Trial | undefined
  /** End of the call on the monotonic clock; counted from before the first commit. */
  readonly deadlineMs: number
  /** The same moment on the wall clock. */
  readonly sendByWallMs: number
}

export type { Instrument }
