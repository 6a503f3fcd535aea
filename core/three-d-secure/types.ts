import type { Json } from '@tollgate/plugin-kit'

/** Values of an authentication that answers show and the acquirer gets. */
export type Facts = {
  readonly eci?: string
  readonly dsTransactionId?: string
  readonly acsTransactionId?: string
  readonly version?: string
  readonly authType?: string
  readonly transactionStatusReason?: string
  /** Status of the protocol: Y, A, I, N, R, U, C or D. */
  readonly authenticationStatus?: string
}

/** The authentication of a payment, kept with the payment's answer. Never a secret. */
export type AuthenticationRecord = Facts & {
  /** Name of the authenticator, and its account. */
  readonly by: string
  readonly accountId: string | null
  /** The issuer asks the cardholder elsewhere. */
  readonly isDecoupled?: true
  readonly memo?: Json
  /** The payment went on to its acquirer, and a redirect of it is the acquirer's. */
  readonly isOver?: true
}

/** The payment that an authentication is for, as far as this part needs it. */
export type Authenticating = {
  readonly id: string
  readonly channelId: string
  readonly attemptKey: string
  readonly amount: { readonly minor: bigint; readonly currency: string }
  readonly brand: string | null
  readonly shortNo: bigint
  readonly merchantTransactionId: string | null
  readonly effect: string
  readonly request: { readonly [name: string]: unknown }
}
