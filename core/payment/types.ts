import type { Json, Kind, Money, Refs } from '@tollgate/plugin-kit'
import type { Reason } from '@tollgate/schemas'
import type { Mode } from '../connector/registry.ts'
import type { AuthenticationRecord } from '../three-d-secure/types.ts'
import type { Effect } from './operation-kinds.ts'

export type PaymentState =
  | 'processing'
  | 'pending'
  | 'approved'
  | 'declined'
  | 'unknown'
  | 'expired'

/** An attempt that is authenticated first: no acquirer knows of it before its stage is `money`. */
export type Stage = 'authentication' | 'money'

export type AttemptState =
  /** Accepted in a transaction of the embedding program; no process has begun to send it. */
  | 'queued'
  | 'sending'
  | 'pending'
  | 'unknown'
  | 'approved'
  | 'declined'
  | 'not-sent'
  | 'expired'
  /** Its payment is over, but the acquirer carried it out. */
  | 'late'

/**
 * Data of the acquirer's answer, stored with the payment; the field tables decide what is shown.
 */
export type Answer = {
  refs?: Refs
  /** References as operators gave them. One that is still so in `refs` is replaced by a word of the acquirer. */
  byOperator?: Refs
  memo?: Json
  networkTxId?: string
  avs?: string
  cvv?: string
  details?: Readonly<Record<string, string>>
  card?: Readonly<Record<string, string>>
  redirect?: { url: string; method?: string; parameters?: unknown; preconditions?: unknown }
  /** Set on a decline that is safe to repeat because nothing was sent. */
  retrySafe?: true
  advice?: 'later' | 'new-instrument' | 'never'
  expiresAt?: string
  /** 3-D Secure by the gateway. */
  authentication?: AuthenticationRecord
  /**
   * The engine asks for a reversal by key, died while it did, or got no answer. While the payment is open,
   * an approval is enquired first. A late success is not reversed in another way, and is not kept.
   */
  asked?: true
  /**
   * The name of the reference by which settlement files call the payment first, where a success gave it that did
   * not decide the payment. A word with another value is about another operation under the key.
   */
  named?: string
  /** The acquirer took a reversal by key: the code of the payment once it is taken back. */
  reversal?: { code: Reason }
  /** A late success: its amount when it differs, and how its final word comes when it was only accepted. */
  late?: {
    minor?: string
    currency?: string
    finalBy?: 'event' | 'poll'
    /** The payment was reversed by its key before. */
    afterReversal?: true
  }
}

/** One payment record in the engine: first payments and follow-ups alike. */
export type Payment = {
  readonly id: string
  readonly channelId: string
  /** The entity of the request. */
  readonly entityId: string
  /** The payment whose balance follow-ups of this payment count against. */
  readonly rootId: string
  /** The payment whose balance holds the reservation of this one. */
  readonly parentId: string | null
  readonly referencedId: string | null
  /** On the preauthorization of a two-step payment: id of the automatic capture. */
  readonly chainId: string | null
  readonly accountId: string | null
  readonly shortNo: bigint
  readonly amount: Money
  readonly createdAt: Date
  readonly paymentType: string
  readonly effect: Effect
  readonly mode: Mode
  readonly method: string | null
  readonly brand: string | null
  readonly connector: string
  readonly attemptKey: string
  readonly merchantTransactionId: string | null
  /** The registration that paid, or that this payment created. */
  readonly registrationId: string | null
  /** The schedule that charged it. */
  readonly scheduleId: string | null
  /** The checkout that it was made in. */
  readonly checkoutId: string | null
  /** The test clock of the payment; null: real time. */
  readonly clockId: string | null
  readonly state: PaymentState
  readonly resultCode: string
  readonly approvedMinor: bigint | null
  readonly finalBy: string | null
  readonly settledAt: Date | null
  readonly answer: Answer
  /** The merchant's request, nested, without secrets. */
  readonly request: StoredRequest
}

export type StoredRequest = { readonly [name: string]: unknown }

export type Balance = {
  readonly paymentId: string
  readonly kind: 'authorisation' | 'sale' | 'refund'
  readonly authorised: bigint
  readonly increasing: bigint
  readonly capturing: bigint
  readonly captured: bigint
  readonly reversing: bigint
  readonly reversed: bigint
  readonly refunding: bigint
  readonly refunded: bigint
  readonly captures: number
  readonly maxCaptures: number | null
  readonly captureFinalBy: string | null
  readonly refundFinalBy: string | null
  readonly reverseFinalBy: string | null
  readonly closedBy: string | null
  /** Chargebacks less their reversals: refunds and reversals wait until it is zero. */
  readonly chargedBack: bigint
  /** Refunds and reversals wait for an operator to end an entry of the list. */
  readonly isFrozen: boolean
  /** The settled part of the payment, and the last day of settlement, `yyyy-MM-dd`; null: not settled. */
  readonly settlement: { readonly minor: bigint; readonly on: string } | null
}

export type Attempt = {
  readonly key: string
  readonly paymentId: string
  readonly no: number
  readonly kind: Kind
  readonly connector: string
  readonly state: AttemptState
  readonly lease: number
  readonly leaseUntil: Date | null
  readonly sentAt: Date
  /** The engine's own looks: the step of the ladder. */
  readonly enquiries: number
  /** Questions on behalf of others. */
  readonly questions: number
  readonly settledBy: string | null
}

/** A payment with its attempt, at one moment. */
export type Held = {
  readonly payment: Payment
  readonly attempt: {
    readonly state: AttemptState
    readonly lease: number
    readonly leaseUntil: Date | null
    readonly enquiries: number
    readonly settledBy: string | null
    readonly stage: Stage
  }
}

/** The source of a decision, kept in the attempt's row for ever. */
export type Source =
  | 'answer'
  | 'late-answer'
  | 'deadline'
  | 'enquiry'
  | 'reversal'
  /** The connector, when the shopper came back. */
  | 'return'
  /** The authenticator, before any acquirer knew of the payment. */
  | 'authentication'
  | 'resend'
  | 'event'
  | 'expiry'
  | 'operator'
  | 'late-success'
  | 'late-accepted'
  /** The acquirer could not take the payment back. */
  | 'not-reversed'
  | 'given-back'
  /** A line of a settlement file: the claim is listed, and only an operator takes money back. */
  | 'settlement'

/** `isBusy`: another process works on it, and may have asked before something happened. */
export type Resolved = Payment & { readonly isBusy?: true }
