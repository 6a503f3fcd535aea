import type { Reason } from '@tollgate/schemas'
import type { Exponents } from '../amounts.ts'
import type {
  Inbound,
  Instrument,
  Kind,
  Records,
  RequestFields,
  ShopperReturn,
} from '../connector.ts'
import type { Money, Redirect } from '../outcome.ts'

/**
 * The instrument and amount of a test payment. Use test numbers, because the suite searches for
 * them everywhere.
 */
export type Scene = {
  readonly instrument: Instrument
  /** 92.00 EUR by default. */
  readonly amount?: Money
  readonly request?: RequestFields
  /** Handlers for the scene; all of authorize, debit, credit and verify by default. */
  readonly kinds?: readonly Kind[]
}

/**
 * An author's description of the acquirer for the suite: a server on this machine, or books inside
 * the process. It never has to misbehave: the suite puts a front between the connector and the
 * acquirer for that.
 */
export type Sandbox = {
  /** Approved by the acquirer: at least one scene for each of `supports.methods`. */
  readonly approved: readonly Scene[]
  readonly declined: Scene & { readonly reason: Reason }
  /** Done, with a lost answer. Only for a connector inside the process, which has no line. */
  readonly lost?: Scene
  /** Stays open until `finish`. Omit it when the acquirer has no open payments. */
  readonly pending?: Scene
  /** Its reversal by key is only requested. Omit it when the acquirer reverses at once. */
  readonly reversedLater?: Scene
  /**
   * A repeated key gets the first answer again, whatever happened since: an approval also after a reversal. The
   * suite then looks at the bookings alone.
   */
  readonly repeatsAnswers?: true
  /**
   * The acquirer cannot close a key that it never saw. A request that arrives later is carried out, told by an
   * event, and undone by another reversal by key.
   */
  readonly takesLatecomers?: true
  /** Redirects the shopper. `forged`: a cheat's query that imitates a payer. */
  readonly redirect?: Scene & { readonly forged: Readonly<Record<string, string>> }
  /**
   * Changes of the acquirer's answers: body in, body out. Absent for a connector that works inside
   * the process. Signed answers must be signed again.
   */
  readonly answers?: {
    /** The same approval for this amount. */
    alterAmount(body: string, amount: Money): string
    /** The same answer, of an approval or a decline, with an undocumented code. */
    alterCode(body: string): string
    /**
     * The acquirer's "system malfunction" in place of an approval: code 96 of ISO 8583, say. Omit it where the
     * acquirer has no such answer.
     */
    malfunction?(body: string): string
    /** The same approval without its code. Omit it where answers have no code. */
    withoutCode?(body: string): string
    /** The same approval with the code of a partial one, for the whole amount. Omit it where there is no such code. */
    partialCode?(body: string): string
    /** The acquirer's refusal of a reversal by key, in place of its confirmation. */
    refusedReversal?(body: string): string
    /** The acquirer's "system malfunction", in place of the confirmation of a reversal by key. */
    failedReversal?(body: string): string
    /** Whether answers name their key, so that a mixed-up one is recognisable. */
    readonly nameTheKey: boolean
  }
  /** The acquirer's digits behind the point, by its manual, of currencies where ISO 4217 has others. The suite tries them. */
  readonly exponents?: Exponents
  /** How long the acquirer's enquiries can miss an operation, by its manual. */
  readonly enquiryLagMs?: number
  /** True when the acquirer sends messages about chargebacks. */
  readonly chargebacks?: boolean
  /** False when the acquirer sends no message about a payment that is still open. */
  readonly tellsOpen?: false
  /** False when the acquirer sends no message about a declined payment. */
  readonly tellsDeclines?: false
  /** Further messages of the acquirer, which `message` makes. */
  readonly messages?: readonly Message[]
  /** Texts that the acquirer takes with a payment. Omit it when it takes none. */
  readonly texts?: readonly (keyof Received)[]
  /** Starts the acquirer with empty books, once for each case. */
  open(engine: EngineSide): Promise<Acquirer>
}

/** Messages that not every acquirer sends, or that not every sandbox can make. */
export type Message =
  /** A chargeback of this payment and amount, told before, is reversed. */
  | 'chargebackReversal'
  /** The payment was approved for this amount, which is a part of what was asked for. */
  | 'partialApproval'
  /** An operation that counted as done, such as a direct debit or a refund, failed afterwards. */
  | 'failure'
  /** A genuine message about the payment, of a type that the manual does not list, best with every sign in its names. */
  | 'unlisted'
  /** The message about the present state, signed so long ago that the manual says to refuse it. */
  | 'aged'

/** Shared by an acquirer inside the process and the connector. Servers do not need it. */
export type EngineSide = {
  /** The connector's `context.records` during this case. */
  readonly records: Records
  /** Business time in milliseconds since 1970, as in `context.clock`. Setting it moves time. */
  readonly clock: { ms: number }
}

/** One operation of the acquirer that is still valid. */
export type Booking = {
  /** Key of the operation as it reached the acquirer. */
  readonly key: string
  readonly amount: Money
}

/** Texts of a merchant and a shopper. */
export type Received = {
  readonly merchantTransactionId?: string | undefined
  readonly descriptor?: string | undefined
  readonly holder?: string | undefined
  /** Expiry of the card, as the acquirer reads it by its own manual, written `2034-12`. */
  readonly expiry?: string | undefined
}

/** A browser's return, as it reports it. */
export type Brought = Pick<ShopperReturn, 'method' | 'query' | 'form'>

/** An acquirer started for one case. */
export type Acquirer = {
  /**
   * Address of the acquirer: plain http on this machine. Absent when it works inside the process.
   */
  readonly url?: string
  /** Settings that direct a connector to `url`, which is the front's. */
  settings(url: string): {
    readonly config: Readonly<Record<string, unknown>>
    readonly account: Readonly<Record<string, unknown>>
  }
  /** An account with refused credentials. Needed with `check`. */
  readonly wrongAccount?: Readonly<Record<string, unknown>>
  /**
   * The truth from the acquirer's own books: all operations (authorisations, debits, credits,
   * captures, refunds, reversals, increments) except those undone by key.
   */
  bookings(): Promise<readonly Booking[]>
  /** Approves an open operation. Needed with `pending`, and for follow-ups that an event ends. */
  finish?(key: string): Promise<void>
  /**
   * Ends a reversal by key that was only requested. Needed with `reversedLater`, and wherever `reverseByKey` answers
   * `requested`.
   */
  endReversal?(key: string, as: 'reversed' | 'notReversed'): Promise<void>
  /**
   * Follows the redirect as the shopper and pays. Returns the query of the return, or the whole return
   * where the acquirer posts a form.
   */
  shopper?(
    key: string,
    redirect: Redirect['redirect'],
  ): Promise<Readonly<Record<string, string>> | Brought>
  /** The message about a key's present state. Needed with `inbound`. */
  event?(key: string): Promise<Inbound>
  /** The message that the payment of a key is charged back for this amount. Needed with `chargebacks`. */
  chargeback?(key: string, amount: Money): Promise<Inbound>
  /** Makes one of `messages` about the payment of a key. */
  message?(what: Message, key: string, amount: Money): Promise<Inbound>
  /** Texts as they arrived with an operation. Needed with `texts`. */
  received?(key: string): Promise<Received>
  close(): Promise<void>
}
