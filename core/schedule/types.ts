import type { Actor } from '../audit/actor.ts'
import type { Mode } from '../connector/registry.ts'
import type { PaymentState, StoredRequest } from '../payment/types.ts'
import type { StoredJob } from './parse-job.ts'

/** A schedule in the form of its row. */
export type Schedule = {
  readonly id: string
  readonly channelId: string
  readonly entityId: string
  readonly registrationId: string
  readonly clockId: string | null
  readonly shortNo: bigint
  readonly mode: Mode
  readonly paymentType: string
  readonly amount: { readonly minor: bigint; readonly currency: string }
  readonly zone: string
  /** Seven fields. */
  readonly expression: string
  readonly startAt: Date | null
  readonly endAt: Date | null
  readonly job: StoredJob
  /** The request of each payment, without amount, type and account. */
  readonly request: StoredRequest
  readonly merchantTransactionId: string | null
  readonly createdAt: Date
  readonly cancelledAt: Date | null
  readonly effectiveEnd: Date | null
  readonly nextAt: Date | null
  readonly seq: number
}

/** One change of a schedule. */
export type ScheduleRecord = {
  readonly recordId: string
  readonly eventId: string
  readonly shortNo: bigint
  readonly merchantTransactionId: string | null
  /** Business time. */
  readonly at: Date
  readonly by: Actor
}

/** One due time of a schedule and its result. */
export type Execution = {
  readonly id: string
  readonly at: Date
  readonly paymentId: string | null
  readonly attempts: number
  readonly state: PaymentState | 'due' | 'failed'
  /** Result code; null while it is due. */
  readonly code: string | null
}

/** Consecutive due times without a charge. */
export type MissedRange = { readonly first: Date; readonly last: Date; readonly count: bigint }
