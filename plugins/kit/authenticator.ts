import type { Row } from '@tollgate/schemas'
import type {
  Card,
  Context,
  Inbound,
  InboundReply,
  RequestFields,
  ShopperReturn,
} from './connector.ts'
import type { Json, Money, Ms, Redirect } from './outcome.ts'
import type { Sensitive } from './sensitive.ts'
import type { Settings, SettingsOf } from './settings.ts'

/** One authentication of a cardholder, which moves no money. */
export type AuthenticationRequest = {
  /** 32 hex characters; the id of the engine's payment record. */
  readonly paymentId: string
  /** Key of the attempt. The same key twice is one authentication. */
  readonly key: string
  /** Amount to authenticate: `risk.amount` where the merchant sent one. */
  readonly amount: Money
  readonly brand: string
  /** Without a CVV. Absent on an enquiry, and on a return in a process that cannot unseal it. */
  readonly card?: Card
  /** Fields of the merchant's request: threeDSecure.*, customer.browser.*, billing.* and others. */
  readonly request: RequestFields
  /** False: a non-payment authentication, for a registration say. */
  readonly isPayment: boolean
  readonly shortId: string
  readonly merchantTransactionId?: string
  /** Address for the shopper's return. Absent where no shopper is present. */
  readonly returnUrl?: string
  /** The memo of the answer before, kept with the payment. */
  readonly memo?: Json
  /** Encrypted data of a mobile SDK. */
  readonly deviceInfo?: Sensitive
}

/** Values of an authentication that may be shown and stored. */
export type AuthenticationFacts = {
  readonly eci?: string
  readonly dsTransactionId?: string
  readonly acsTransactionId?: string
  /** Version of the protocol, `2.2.0` say. */
  readonly version?: string
  /** Kind of authentication, `01` to `04`. */
  readonly authType?: string
  /** Reason of the issuer for its status, two digits. */
  readonly reason?: string
}

/**
 * The issuer confirmed the cardholder (`authenticated`), could not and takes the liability
 * (`attempted`), or was told only (`informational`: no shift of liability).
 */
export type Authenticated = AuthenticationFacts & {
  is: 'authenticated' | 'attempted' | 'informational'
  /** Proof for the acquirer. Never stored: an enquiry returns the same value again. */
  verificationId?: Sensitive
  version: string
  memo?: Json
  /** Only where it differs from the requested amount. */
  amount?: Money
}

/** The issuer did not confirm the cardholder (`N`) or asks not to try (`R`). */
export type AuthenticationFailed = AuthenticationFacts & {
  is: 'failed'
  status: 'N' | 'R'
  memo?: Json
}

/** The shopper pressed cancel. */
export type AuthenticationCancelled = AuthenticationFacts & { is: 'cancelled'; memo?: Json }

/** No authentication is possible now: status `U`, or an answer that does not come. */
export type AuthenticationUnavailable = AuthenticationFacts & { is: 'unavailable'; memo?: Json }

/**
 * The card takes no part in 3-D Secure: there is nobody to ask. A payment goes on without values, and
 * without a shift of liability.
 */
export type CardNotEnrolled = Omit<AuthenticationFacts, 'reason'> & {
  is: 'notEnrolled'
  memo?: Json
}

/** The shopper has to act: a challenge, or a device-data step (`preconditions`) before it. */
export type ShopperNeeded = { is: 'shopper'; next: Redirect; expiresAt?: Date; memo?: Json }

/** The issuer asks the cardholder elsewhere; the engine enquires at these intervals. */
export type Decoupled = AuthenticationFacts & {
  is: 'decoupled'
  poll: Ms
  expiresAt?: Date
  memo?: Json
}

/** The answer of an authenticator. */
export type Authentication =
  | Authenticated
  | AuthenticationFailed
  | AuthenticationCancelled
  | AuthenticationUnavailable
  | CardNotEnrolled
  | ShopperNeeded
  | Decoupled

/** Like a connector's context. There is no moment of sending, because no money moves. */
export type AuthenticatorContext<
  Config = Record<string, unknown>,
  Account = Record<string, unknown>,
> = Omit<Context<Config, Account>, 'sending'>

/**
 * An authenticator's message about one authentication. The message proves nothing by itself: the
 * engine enquires.
 */
export type AuthenticationClaim = {
  /** Unique for an account, at most 255 visible characters. */
  readonly eventId: string
  /** Key of the authentication, as the engine sent it. */
  readonly key: string
}

/** A party that authenticates cardholders: a 3-D Secure server. */
export type Authenticator<Config = Record<string, unknown>, Account = Record<string, unknown>> = {
  /** Lower case, digits, hyphens; unlike the name of any connector. */
  readonly name: string
  readonly title: string
  readonly contract: number
  readonly config?: Settings
  readonly account?: Settings
  readonly supports: {
    /** Host schemes of brands: `VISA`, `MASTER`, `AMEX`, `DINERS`, `JCB`, `CARTEBANCAIRE`. */
    readonly schemes: readonly string[]
    /** Versions of the protocol, `2.2.0` say. */
    readonly versions: readonly string[]
    /** Modes of the merchant's request that this authenticator serves without an account. */
    readonly modes?: readonly ('INTERNAL' | 'EXTERNAL' | 'LIVE')[]
    readonly timeoutMs?: Ms
  }
  /**
   * Test set-ups: whether a card takes part. For such a card with a `shopperResultUrl` the engine
   * requires the browser's fields, so that a test finds missing ones.
   */
  isEnrolled?(card: Card): boolean
  /** Begins. A throw is an answer that does not come: the engine enquires once, then `unavailable`. */
  authenticate(
    request: AuthenticationRequest,
    context: AuthenticatorContext<Config, Account>,
  ): Promise<Authentication>
  /**
   * The shopper returned. Ask the issuer's side and trust nothing that the browser brought. After a
   * throw the payment stays pending.
   */
  complete(
    request: AuthenticationRequest,
    back: ShopperReturn,
    context: AuthenticatorContext<Config, Account>,
  ): Promise<Authentication>
  /** Finds the present state of the authentication with `request.key`. Begins nothing. */
  enquire(
    request: AuthenticationRequest,
    context: AuthenticatorContext<Config, Account>,
  ): Promise<Authentication | { is: 'notFound' }>
  readonly inbound?: {
    /** `none` as for connectors: nobody signs these messages. */
    readonly proof?: 'none'
    /** True only for a message proven to come from the authenticator. */
    verify(
      message: Inbound,
      context: AuthenticatorContext<Config, Account>,
    ): Promise<boolean> | boolean
    parse(
      message: Inbound,
      context: AuthenticatorContext<Config, Account>,
    ): Promise<readonly AuthenticationClaim[]> | readonly AuthenticationClaim[]
    /** The reply to a stored message, as a connector gives it. */
    reply?(
      message: Inbound,
      context: AuthenticatorContext<Config, Account>,
    ): Promise<InboundReply> | InboundReply
  }
}

/** Declares an authenticator. Types of `context.config` and `context.account` follow from the tables. */
export function defineAuthenticator<
  const ConfigRows extends readonly Row[] = readonly [],
  const AccountRows extends readonly Row[] = readonly [],
>(
  authenticator: Omit<
    Authenticator<SettingsOf<ConfigRows>, SettingsOf<AccountRows>>,
    'config' | 'account'
  > & {
    readonly config?: Settings<ConfigRows>
    readonly account?: Settings<AccountRows>
  },
): Authenticator {
  return authenticator as unknown as Authenticator
}
