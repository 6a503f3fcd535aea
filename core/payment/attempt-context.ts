import type { Instrument, Operation } from '@tollgate/plugin-kit'
import type { Trial } from '../card-testing/attempt.ts'
import type { Places } from '../process/in-flight.ts'
import type { AuthenticatorTarget, Target } from '../routing/targets.ts'
import type { Returns } from './store-settle.ts'
import type { Payment } from './types.ts'
import type { Begun } from './write-again.ts'

/** One attempt under way in this process, with everything needed to send and settle it. */
export type AttemptContext = {
  /** The payment of the first commit. */
  readonly payment: Payment
  readonly lease: number
  readonly target: Target
  readonly operation: Operation
  /**
   * The rows of the first commit, in the process that wrote them. A failover may lose these rows.
   */
  readonly begun: Begun | null
  /** For the reversal of a capture: the capture, and the balance that gets the amount back. */
  readonly returns: Returns | null
  /** The shopper is authenticated first. */
  readonly authenticator?: AuthenticatorTarget
  /** The trial that a failure counts for, in the process that accepted the attempt. */
  readonly trial?: Trial | undefined
  /** The places of the request that made the payment, in the process that admitted it. */
  readonly places?: Places | undefined
  /** The number of the request that made the payment, in the process that accepted it. */
  readonly ndc?: string | undefined
  /** End of the call on the monotonic clock, counted from before the first commit. */
  readonly deadlineMs: number
  /** The same moment on the wall clock. */
  readonly sendByWallMs: number
}

export type { Instrument }
