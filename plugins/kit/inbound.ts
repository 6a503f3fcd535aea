/** Messages that acquirers send, and what they claim. */
import type { Reason } from '@tollgate/schemas'
import type { Money, Outcome, Refs, ReversalEnd } from './outcome.ts'

/** An incoming message of an acquirer, byte for byte. */
export type Inbound = {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

/** The words by which an acquirer knows that its message arrived: `{ body: '[accepted]' }`, say. */
export type InboundReply = {
  /** 200 (default) to 299: by another status acquirers know a failure. */
  readonly status?: number
  /** `text/plain; charset=utf-8` by default. */
  readonly contentType?: string
  /** At most 4,096 characters; empty by default. */
  readonly body?: string
}

/** One statement in a message of an acquirer, about one operation. */
export type Claim = {
  /**
   * Unique for an account at the acquirer, at most 255 visible characters. The engine drops a
   * repeat, and lists another claim with the same id for operators.
   */
  readonly eventId: string
  /** Key of the operation, as the engine sent it. */
  readonly key: string
  readonly outcome:
    | Outcome
    /** Of a reversal by key that the engine requested; never of a `reverse`, which has its own key. */
    | ReversalEnd
    | { is: 'chargeback' | 'chargebackReversal'; reason: Reason; refs: Refs }
  /** Of the operation, also where its reversal is the news. */
  readonly amount: Money
  /**
   * The acquirer's reference of a dispute, the same in its chargeback and its reversal. Omit it when the acquirer has
   * no ids of disputes: an invented one, such as the id of the payment, makes a second dispute a repeat of the first.
   */
  readonly reference?: string
}
