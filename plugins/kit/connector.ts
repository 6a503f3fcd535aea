import type { Format, Row } from '@tollgate/schemas'
import type { Http } from './http.ts'
import type { Claim, Inbound, InboundReply } from './inbound.ts'
import type { Found, Json, Money, Ms, Outcome, Redirect, Refs, Reversed } from './outcome.ts'
import type { Sensitive } from './sensitive.ts'
import type { Settings, SettingsOf } from './settings.ts'
import type { Settlement } from './settlement.ts'
import type { Transfer, TransferSession, TransferTarget } from './transfer.ts'

/** The version of this contract. The engine refuses connectors of another version at start. */
export const contractVersion = 1

export type Card = {
  readonly kind: 'card'
  readonly brand: string
  readonly number: Sensitive
  /** First six digits. */
  readonly bin: string
  readonly last4: string
  readonly expiryMonth: string
  readonly expiryYear: string
  readonly holder?: string
  readonly cvv?: Sensitive
  readonly numberType?: 'PAN' | 'DPAN'
}
export type BankAccount = {
  readonly kind: 'bankAccount'
  readonly brand: string
  readonly holder: string
  readonly iban?: Sensitive
  readonly number?: Sensitive
  readonly bankCode?: string
  readonly bic?: string
  readonly bankName?: string
  readonly country?: string
  readonly last4: string
}
export type VirtualAccount = {
  readonly kind: 'virtualAccount'
  readonly brand: string
  readonly accountId: string
}
export type TokenAccount = {
  readonly kind: 'tokenAccount'
  readonly brand: string
  readonly number: Sensitive
  readonly type: 'EXTERNAL' | 'NETWORK'
  readonly last4: string
  readonly expiryMonth?: string
  readonly expiryYear?: string
  readonly cryptogram?: Sensitive
  readonly dtvc?: Sensitive
}
export type Instrument = Card | BankAccount | VirtualAccount | TokenAccount

/** Fields of the merchant's request, nested as in their dotted names, without any secret. */
export type RequestFields = {
  readonly [name: string]: RequestFields | readonly RequestFields[] | string | undefined
}

export type Kind =
  | 'authorize'
  | 'debit'
  | 'credit'
  | 'capture'
  | 'refund'
  | 'reverse'
  | 'increment'
  | 'verify'

/** One operation at the acquirer. */
export type Operation = {
  readonly kind: Kind
  /** 32 hex characters; the id of the engine's payment record. */
  readonly paymentId: string
  /** Idempotency key of this attempt, in the form of `supports.keyFormat`. */
  readonly key: string
  readonly amount: Money
  readonly brand?: string
  /** Absent on follow-ups of an acquirer that works by reference, and on an enquiry. */
  readonly instrument?: Instrument
  readonly request: RequestFields
  /** 3-D Secure proof of the gateway's authentication, or the merchant's own, passed on unchanged. */
  readonly threeDSecure?: {
    readonly eci?: string
    readonly verificationId?: Sensitive
    readonly authenticationStatus?: string
    readonly dsTransactionId?: string
    readonly acsTransactionId?: string
    readonly version?: string
    readonly authType?: string
    readonly transactionStatusReason?: string
  }
  /** On follow-ups: the original operation. */
  readonly original?: {
    readonly paymentId: string
    readonly kind: Kind
    readonly key: string
    readonly amount: Money
    readonly refs: Refs
    readonly memo?: Json
    readonly networkTxId?: string
    /** On increments, for an acquirer that wants the new sum: what is authorised, with every approved increase. */
    readonly authorised?: Money
    /** On increments: the increases that are not decided yet, this one included. */
    readonly increasing?: Money
  }
  /**
   * On enquiries and reversals by key: the acquirer's references of this operation, as far as an answer or a
   * message named them. Absent after a lost answer.
   */
  readonly refs?: Refs
  /** On captures, refunds and reversals: the last one of its type. */
  readonly final?: boolean
  readonly shortId: string
  readonly merchantTransactionId?: string
  readonly descriptor?: string
  /** URL to which the shopper returns after a redirect. */
  readonly returnUrl?: string
}

/** A shopper's return as the browser reports it. The browser may have changed everything. */
export type ShopperReturn = {
  readonly method: 'GET' | 'POST'
  readonly query: Readonly<Record<string, string>>
  /** Fields of a form that was posted; empty otherwise. */
  readonly form: Readonly<Record<string, string>>
  /** From the outcome with the redirect. */
  readonly memo?: Json
  readonly refs: Refs
}

/** Key/value store that the engine keeps for a connector. Never for card data. */
export type Records = {
  get(key: string): Promise<Json | undefined>
  /**
   * Writes if the stored value still is `expected` (undefined: absent); returns whether it wrote.
   */
  swap(key: string, expected: Json | undefined, value: Json): Promise<boolean>
}

export type Log = {
  info(fields: Readonly<Record<string, Json>>, message: string): void
  warn(fields: Readonly<Record<string, Json>>, message: string): void
}

export type Context<Config = Record<string, unknown>, Account = Record<string, unknown>> = {
  readonly http: Http
  /** A connector that moves money inside the process calls this immediately before. */
  sending(): void
  /**
   * An access token of the acquirer's API, kept by this process for nine tenths of its life, for each name and for the
   * present settings of the account. `get` runs once at a time for each name, and its errors pass through.
   */
  token(name: string, get: () => Promise<{ value: Sensitive; expiresInMs: Ms }>): Promise<Sensitive>
  /**
   * Forgets a token that the acquirer refused, so that the next `token` gets another one. Does nothing when that
   * happened already: `refused` is the token that the request carried.
   */
  dropToken(name: string, refused: Sensitive): void
  /** The next number of a sequence of this account, 1..max, then 1 again. */
  sequence(name: string, max: number): Promise<number>
  readonly records: Records
  readonly config: Config
  readonly account: Account
  readonly mode: 'INTERNAL' | 'EXTERNAL' | 'LIVE'
  /** Business time of the merchant, which a test clock can move. */
  readonly clock: { now(): Date }
  /** Aborted at the operation's deadline. */
  readonly signal: AbortSignal
  readonly log: Log
  /**
   * Opens a folder of the acquirer, for `settlement.fetch`. The engine checks the address, as for `http`,
   * and closes the session after the call. Keep logins in settings of class `secret`.
   *
   * @throws TransferError, also when no plugin speaks the protocol.
   */
  transfer(scheme: Transfer['scheme'], target: TransferTarget): Promise<TransferSession>
  /** URL for messages of the acquirer. */
  readonly notifyUrl?: string
  /** Address of the pages that the plugin serves, without a slash at its end. */
  readonly pagesUrl?: string
}

/** `ttlMs`: how long the acquirer remembers a key; `Infinity` for ever. */
export type KeyPromise = { readonly by: 'key'; readonly ttlMs: Ms } | { readonly by: 'none' }

export type Supports = {
  readonly brands: readonly string[] | 'any'
  readonly currencies: readonly string[] | 'any'
  readonly methods: readonly Instrument['kind'][]
  readonly capture?: { readonly partial: boolean; readonly multiple: boolean }
  readonly refund?: { readonly partial: boolean }
  readonly reverse?: { readonly partial: boolean }
  /**
   * Whether the same key sent twice has one effect; a function where kinds of operations or accounts differ. It is asked
   * with the settings of the account, often, and must answer at once.
   */
  readonly key:
    | KeyPromise
    | ((kind: Kind, account: Readonly<Record<string, unknown>>) => KeyPromise)
  /** Form of the acquirer's keys; 32 lower-case hex characters by default. */
  readonly keyFormat?: {
    readonly alphabet: 'hex' | 'alphanumeric' | 'digits'
    readonly length: number
  }
  /**
   * Kinds of operations that `resolve.reverseByKey` undoes; all by default. The engine sends captures, refunds and
   * reversals of other kinds again under their key, where `key` allows that.
   */
  readonly reversibleByKey?: readonly Kind[]
  /** How long after sending an enquiry can miss an operation that was carried out. */
  readonly enquiryVisibleAfterMs: Ms
  readonly limits?: { readonly concurrent?: number; readonly timeoutMs?: Ms }
  /**
   * 3-D Secure: the acquirer authenticates by itself (`own`), takes the values of an authentication
   * (`external`), or neither (`none`, the default). `own` is right where a redirect of the acquirer contains the
   * issuer's challenge. The gateway authenticates only before `external`.
   */
  readonly threeDSecure?: 'own' | 'external' | 'none'
  /** Modes of the merchant's request that this connector serves. */
  readonly modes?: readonly ('INTERNAL' | 'EXTERNAL' | 'LIVE')[]
  /**
   * Custom parameters of merchants that the connector reads, by name. The engine refuses a request with a
   * value of another form by name, before it writes or sends anything.
   */
  readonly customParameters?: Readonly<Record<string, Format>>
}

type Handler<Config, Account> = (
  operation: Operation,
  context: Context<Config, Account>,
) => Promise<Outcome>

export type Connector<Config = Record<string, unknown>, Account = Record<string, unknown>> = {
  /** Package-like name: lower case, digits, hyphens. Stored with every payment. */
  readonly name: string
  /** The acquirer's name as people know it, in lists such as `tollgate account connectors`. */
  readonly title: string
  readonly contract: number
  readonly config?: Settings
  readonly account?: Settings
  readonly supports: Supports
  readonly authorize?: Handler<Config, Account>
  readonly debit?: Handler<Config, Account>
  readonly credit?: Handler<Config, Account>
  readonly capture?: Handler<Config, Account>
  readonly refund?: Handler<Config, Account>
  readonly reverse?: Handler<Config, Account>
  readonly increment?: Handler<Config, Account>
  readonly verify?: Handler<Config, Account>
  /** At least one of the two, preferably both. */
  readonly resolve: {
    /** Finds the outcome of the operation with `operation.key`. Changes nothing at the acquirer. */
    readonly enquire?: (operation: Operation, context: Context<Config, Account>) => Promise<Found>
    /**
     * Undoes the operation with `operation.key`, and makes the key permanently harmless. An answer
     * of `requested` promises its end in an event or an enquiry; a repeat requests nothing twice.
     */
    readonly reverseByKey?: (
      operation: Operation,
      context: Context<Config, Account>,
    ) => Promise<Reversed>
  }
  /**
   * Called when the shopper returns from a redirect. Ask the acquirer, and trust nothing that the browser
   * brought. If the handler throws or returns `notSent` before a request that moves money, the payment
   * stays pending.
   */
  readonly complete?: (
    operation: Operation,
    back: ShopperReturn,
    context: Context<Config, Account>,
  ) => Promise<Outcome>
  readonly inbound?: {
    /**
     * `none` for an acquirer that proves no message, as `onlyAsks` makes it: messages lead to enquiries, as after a
     * `verify` that returns false, but raise no alarm and get `reply`.
     */
    readonly proof?: 'none'
    /**
     * Returns true only for a message that the acquirer provably sent. After false, the claims lead to enquiries alone:
     * nothing is believed, and a chargeback is not recorded, because nothing can be asked about it. A throw means that this cannot be told
     * now: the acquirer gets 503, and sends the message again.
     */
    verify(message: Inbound, context: Context<Config, Account>): Promise<boolean> | boolean
    /**
     * The claims of a message, verified or not. The context has the account, for messages that the acquirer
     * encrypted, and the records, for an acquirer that names its own reference in place of the engine's key. A message
     * without news has no claims.
     *
     * @throws Error for a message that is none of the acquirer's, without quoting it. The sender gets 503, and operators
     * are told of a proven one: a genuine message of an unlisted type, or with other names than expected, has no claims.
     */
    parse(
      message: Inbound,
      context: Context<Config, Account>,
    ): Promise<readonly Claim[]> | readonly Claim[]
    /**
     * The reply to a message that is stored, or that makes no claim, where it is proven or need not be; without the
     * handler, 200 with the engine's result as JSON. Repeats get it as well. The engine sends its own reply in place of
     * one that is wrong or thrown, because the message is stored.
     */
    reply?(
      message: Inbound,
      context: Context<Config, Account>,
    ): Promise<InboundReply> | InboundReply
  }
  /** Settlement files of the acquirer. */
  readonly settlement?: Settlement<Config, Account>
  /**
   * Checks the credentials of an account without moving money, for `tollgate account check`. Ask something that
   * only the owner of the account may know, and send nothing with `moves: true`. `why` names the settings that the
   * acquirer refused, and never their values. `unknown` and a throw say nothing about the account, such as an
   * answer of the acquirer about a fault of its own.
   */
  readonly check?: (
    context: Context<Config, Account>,
  ) => Promise<{ ok: true } | { ok: false | 'unknown'; why: string }>
}

/**
 * Declares a connector. A handler that exists declares the capability. The types of
 * `context.config` and `context.account` follow from the tables `config` and `account`.
 */
export function defineConnector<
  const ConfigRows extends readonly Row[] = readonly [],
  const AccountRows extends readonly Row[] = readonly [],
>(
  connector: Omit<
    Connector<SettingsOf<ConfigRows>, SettingsOf<AccountRows>>,
    'config' | 'account'
  > & {
    readonly config?: Settings<ConfigRows>
    readonly account?: Settings<AccountRows>
  },
): Connector {
  return connector as unknown as Connector
}

export type { Claim, Inbound, InboundReply, Redirect }
