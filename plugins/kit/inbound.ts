/** Messages that acquirers send, and what they claim. */
import { randomUUID } from 'node:crypto'
import type { Reason } from '@tollgate/schemas'
import { type Money, type Outcome, type Refs, type ReversalEnd, unknown } from './outcome.ts'

/** An incoming message of an acquirer, byte for byte. */
export type Inbound = {
  /** Empty for a message by GET, which has everything in its query. */
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

type Awaitable<T> = Promise<T> | T

/**
 * `inbound` for an acquirer that proves none of its messages, or tells in them that something happened and not what.
 * Each of them makes the engine enquire, and nothing else: spread it, and add `reply` where the acquirer waits for words.
 *
 * ```ts
 * inbound: { ...onlyAsks(({ query }) => [query.reference ?? '']), reply: () => ({ body: 'OK' }) }
 * ```
 *
 * @param keysOf the engine's keys of the operations that a message is about. Where the acquirer names its own reference
 * alone, keep the key under it in `context.records` when you send. Throws for a message that is none, without quoting it.
 */
export const onlyAsks = <OwnContext>(
  keysOf: (message: Inbound, context: OwnContext) => Awaitable<readonly string[]>,
) => ({
  proof: 'none' as const,
  verify: () => false,
  async parse(message: Inbound, context: OwnContext): Promise<readonly Claim[]> {
    const keys = await keysOf(message, context)
    // An event needs an amount, of which nothing is believed; each message asks anew, so each has an id of its own.
    return keys.map((key) => ({ eventId: randomUUID(), key, outcome: asked, amount: noAmount }))
  },
})

const asked = unknown('the message says that something happened')
const noAmount: Money = { minor: 0n, currency: 'EUR' }
