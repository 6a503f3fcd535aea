import type { Actor } from '../audit/actor.ts'
import type { Mode } from '../connector/registry.ts'
import type { PaymentState, StoredRequest } from '../payment/types.ts'

/** An account stored for later payments. */
export type Registration = {
  readonly id: string
  readonly channelId: string
  /** The payment that stored the account, or its own verification with the same id. */
  readonly paymentId: string
  /** The record that binds the sealed numbers; null for accounts without a number. */
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
  /** The state of the storing payment: the registration is usable once approved. */
  readonly state: PaymentState
}

/** One change of a registration. */
export type Change = {
  readonly id: string
  /** The version at the read; after a concurrent change the update fails. */
  readonly seq: number
  readonly type: 'RR' | 'TE' | 'DR'
  readonly recordId: string
  readonly eventId: string
  readonly shortNo: bigint
  readonly merchantTransactionId: string | null
  readonly at: Date
  readonly by: Actor
  /** Names of the fields that were sent. */
  readonly names: readonly string[]
}
