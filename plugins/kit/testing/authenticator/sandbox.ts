import type { Card, Inbound, RequestFields } from '../../connector.ts'
import type { Money, Redirect } from '../../outcome.ts'
import type { Brought, EngineSide } from '../sandbox.ts'

/**
 * The card and amount of a test authentication. Use test numbers, because the suite searches for
 * them everywhere.
 */
export type AuthenticationScene = {
  readonly card: Card
  /** 92.00 EUR by default. */
  readonly amount?: Money
  readonly request?: RequestFields
}

/** The expected answer: `is`, and other values where the test system fixes them. */
export type ExpectedAuthentication = {
  readonly is:
    | 'authenticated'
    | 'attempted'
    | 'informational'
    | 'failed'
    | 'unavailable'
    | 'notEnrolled'
  readonly eci?: string
  readonly status?: 'N' | 'R'
}

/** What the cardholder does on the issuer's page. */
export type Deed = 'confirm' | 'refuse' | 'cancel'

/**
 * An author's description of the 3-D Secure server for the suite: a server on this machine, or an
 * issuer inside the process. It never has to misbehave: the suite puts a front before it for that.
 */
export type AuthenticatorSandbox = {
  /** Scenes that end without the shopper. At least one is `authenticated`, and one is `failed`. */
  readonly decided: readonly (AuthenticationScene & { readonly expected: ExpectedAuthentication })[]
  /** Needs the shopper on the issuer's page. Omit it where no test card has a challenge. */
  readonly challenge?: AuthenticationScene & {
    /** What comes of each deed; a deed without a row is not tried. */
    readonly deeds: Readonly<Partial<Record<Deed, ExpectedAuthentication['is'] | 'cancelled'>>>
    /** A cheat's fields that imitate the return of a shopper who confirmed. */
    readonly forged: Readonly<Record<string, string>>
  }
  /**
   * Changes of the server's answers: body in, body out. Absent for an authenticator that works inside
   * the process.
   */
  readonly answers?: {
    /** The same answer with this address of the issuer's page. */
    alterPage(body: string, address: string): string
    /** The same confirmation for this amount. Absent where answers have no amount. */
    alterAmount?(body: string, amount: Money): string
    /** The same confirmation without its proof. */
    withoutProof(body: string): string
    /** Whether answers name their key, so that a mixed-up one is recognisable. */
    readonly nameTheKey: boolean
  }
  /** Starts the server without any authentication, once for each case. */
  open(engine: EngineSide): Promise<AuthenticationServer>
}

/** A 3-D Secure server started for one case. */
export type AuthenticationServer = {
  /** Address of the server: plain http on this machine. Absent when it works inside the process. */
  readonly url?: string
  /** Settings that direct an authenticator to `url`, which is the front's. */
  settings(url: string): {
    readonly config: Readonly<Record<string, unknown>>
    readonly account: Readonly<Record<string, unknown>>
  }
  /** The keys of all authentications that the server began, one entry for each. */
  begun(): Promise<readonly string[]>
  /** Acts as the cardholder on the issuer's page. Returns the browser's return. Needed with `challenge`. */
  shopper?(key: string, redirect: Redirect['redirect'], deed: Deed): Promise<Brought>
  /** The message about a key's present state. Needed with `inbound`. */
  event?(key: string): Promise<Inbound>
  close(): Promise<void>
}
