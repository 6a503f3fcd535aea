import type { Mode } from '../connector/registry.ts'
import type { AttemptState, Payment, StoredRequest } from '../payment/types.ts'

/** A payment that a shopper makes in the browser: what it is for, and the payment that has its slot. */
export type Checkout = {
  readonly id: string
  /** The entity of the request: a channel, or a merchant whose rules choose one by the payment. */
  readonly entityId: string
  /** Null: real time. */
  readonly clockId: string | null
  readonly kind: 'payment' | 'registration'
  readonly mode: Mode
  /** The merchant's request, nested, without secrets. */
  readonly request: StoredRequest
  /** Registrations that the shopper may pay with. */
  readonly registrations: readonly string[]
  readonly scriptHash: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly version: number
  readonly paymentId: string | null
  readonly earlier: readonly string[]
  /** Of the earlier payments and of the present one, in their order. */
  readonly nonces: readonly string[]
  /** Those of presses that ended with a soft decline: no second payment follows. */
  readonly ended: readonly string[]
  readonly refusals: number
  readonly removedAt: Date | null
  /** The place of the sealed numbers of the request; null without any. */
  readonly secretId: string | null
}

/** A checkout with the payment in its slot. */
export type Held = {
  readonly checkout: Checkout
  readonly payment: Payment | null
  readonly attempt: AttemptState | null
  /** A payment that had the slot before holds money: a late success, to be taken back. */
  readonly earlierHoldsMoney: boolean
}

/** Free: a shopper may try. Busy: a try is under way. */
export type State = 'free' | 'busy' | 'paid' | 'closed'
