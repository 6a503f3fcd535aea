import type { Mode } from '../connector/registry.ts'
import type { PaymentState, StoredRequest } from '../payment/types.ts'

/** An account that is stored for later payments. */
export type Registration = {
  readonly id: string
  readonly channelId: string
  /** The payment that stored it, or its own verification, which has the same id. */
  readonly paymentId: string
  /** The record its numbers are sealed for; null for accounts without a number. */
  readonly instrumentId: string | null
  readonly shortNo: bigint
  readonly mode: Mode
  readonly method: string
  readonly brand: string
  readonly clockId: string | null
  readonly fingerprint: Buffer | null
  readonly merchantTransactionId: string | null
  readonly createdAt: Date
  readonly removedAt: Date | null
  readonly seq: number
  /** Account and owner, nested, without secrets. */
  readonly request: StoredRequest
  /** Of the payment that stored it: usable when that is approved. */
  readonly state: PaymentState
}

/** What was done to a registration. */
export type Change = {
  readonly id: string
  /** As read; the change fails when it moved since. */
  readonly seq: number
  readonly type: 'RR' | 'TE' | 'DR'
  readonly recordId: string
  readonly eventId: string
  readonly shortNo: bigint
  readonly merchantTransactionId: string | null
  readonly at: Date
}
