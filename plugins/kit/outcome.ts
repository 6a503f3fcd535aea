import { type Currency, currencies, currencyOf, type Reason } from '@tollgate/schemas'

/** The ISO 4217 currency of a code; `exponent` is the number of its decimals, or null where it has none of its own. */
export { currencyOf } from '@tollgate/schemas'

/**
 * The currency of a numeric code of ISO 4217: `978` is `EUR`. Where a currency and its successor share a number, it is
 * the one that was asked for.
 *
 * @returns undefined for a number without a currency, and for a shared one that tells neither from the other.
 */
export function currencyByNumber(numeric: string, asked?: string): Currency | undefined {
  const codes = currencies.filter((row) => row[1] === numeric).map(([code]) => code)
  const code = codes.length === 1 ? codes[0] : codes.find((one) => one === asked)
  return code === undefined ? undefined : currencyOf(code)
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Money in integer minor units of an ISO 4217 currency: `{ minor: 9200n, currency: 'EUR' }`. */
export type Money = { readonly minor: bigint; readonly currency: string }

/**
 * The acquirer's own identifiers of one operation, kept with the payment, shown to operators and
 * passed to every follow-up and enquiry. Never card data.
 */
export type Refs = { readonly [name: string]: string }

/** Milliseconds. */
export type Ms = number

/** A page that the shopper visits before the payment can end. */
export type Redirect = {
  redirect: {
    url: string
    method?: 'GET' | 'POST'
    parameters?: readonly { name: string; value: string }[]
    preconditions?: readonly {
      origin: string
      waitUntil: string
      method: 'GET' | 'POST'
      url: string
      parameters: readonly { name: string; value: string }[]
      description?: string
    }[]
  }
}

type Shown = {
  /** Address check answer: A, Z, N, U or F. */
  avs?: string
  /** CVV check answer of the acquirer, one character. */
  cvv?: string
  /** The acquirer's own code, shown as resultDetails.AcquirerResponse. */
  code?: string
  /** Further `resultDetails`, names of at most 64 and values of at most 2048 characters. */
  details?: Readonly<Record<string, string>>
  /** Facts about the card, such as its issuer: shown as card.issuer.*, card.type, card.level. */
  card?: Readonly<Record<string, string>>
}

/** The acquirer confirmed the operation. */
export type Approved = Shown & {
  is: 'approved'
  refs: Refs
  /** Needed only when it differs from the requested amount. */
  amount?: Money
  memo?: Json
  /** The card network's reference of this payment, for later merchant-initiated payments. */
  networkTxId?: string
}

/** The operation counts as done, but can still fail: a refund, a direct debit. */
export type Accepted = Shown & {
  is: 'accepted'
  refs: Refs
  finalBy: 'settlement' | 'event' | { poll: Ms }
  memo?: Json
}

/** The acquirer refused. Nothing moved. */
export type Declined = Shown & {
  is: 'declined'
  refs?: Refs
  /** A code of the result table. */
  reason: Reason
  /** The acquirer's text. Card numbers in it are masked by the engine. */
  text?: string
  advice?: 'later' | 'new-instrument' | 'never'
  /**
   * The acquirer looked for the key before it refused: it carried out no request with this key, and will not.
   * Without it, a refused repeat says nothing about the first request, which stays open. Refusals of
   * credentials, permissions and forms come before that look.
   */
  ofKey?: true
}

/** A shopper, a poll or an event will end the operation. */
export type Pending = Shown & {
  is: 'pending'
  refs?: Refs
  next: Redirect | { poll: Ms } | 'event'
  memo?: Json
  expiresAt?: Date
  /** A pending code of the result table; 000.200.000 unless given. */
  reason?: Reason
}

/** Proof that no byte of a request that moves money reached the acquirer. */
export type NotSent = { is: 'notSent'; why: string }

/** The answer is lost or unreadable: money may have moved. The engine will enquire. */
export type Unknown = { is: 'unknown'; refs?: Refs; why: string; memo?: Json }

/** The outcome of one operation at an acquirer. */
export type Outcome = Approved | Accepted | Declined | Pending | NotSent | Unknown

/** The acquirer took a reversal by key, and says its end later, by an event or to an enquiry. */
export type ReversalRequested = { is: 'requested'; refs?: Refs }

/**
 * The end of a reversal by key that was requested. `notReversed`: the reversal failed, and the
 * operation stands.
 */
export type ReversalEnd =
  | { is: 'reversed'; refs?: Refs }
  | { is: 'notReversed'; refs?: Refs; why: string }

/**
 * The result of an enquiry: an outcome, the state of a requested reversal, or that the acquirer does
 * not know the key. While a reversal is requested, no enquiry answers `approved` or `accepted`.
 */
export type Found = Outcome | ReversalRequested | ReversalEnd | { is: 'notFound'; why?: string }

/** The result of a reversal by key. `nothing`: the key was unknown, and is permanently harmless now. */
export type Reversed =
  | { is: 'reversed'; refs?: Refs }
  | ReversalRequested
  | { is: 'nothing'; refs?: Refs }
  | { is: 'refused'; why: string; reason?: Reason }
  | { is: 'unknown'; why: string }

export const approved = (refs: Refs, more: Omit<Approved, 'is' | 'refs'> = {}): Approved => ({
  is: 'approved',
  refs,
  ...more,
})
export const accepted = (
  refs: Refs,
  finalBy: Accepted['finalBy'],
  more: Omit<Accepted, 'is' | 'refs' | 'finalBy'> = {},
): Accepted => ({ is: 'accepted', refs, finalBy, ...more })
export const declined = (reason: Reason, more: Omit<Declined, 'is' | 'reason'> = {}): Declined => ({
  is: 'declined',
  reason,
  ...more,
})
export const pending = (
  next: Pending['next'],
  more: Omit<Pending, 'is' | 'next'> = {},
): Pending => ({ is: 'pending', next, ...more })
export const notSent = (why: string): NotSent => ({ is: 'notSent', why })
export const unknown = (why: string, more: Omit<Unknown, 'is' | 'why'> = {}): Unknown => ({
  is: 'unknown',
  why,
  ...more,
})

const brand = Symbol.for('tollgate.MissingReference')

/** The payment that a follow-up is about lacks a reference that the acquirer needs. Nothing was sent. */
export class MissingReference extends Error {
  override readonly name = 'MissingReference'
  readonly [brand] = true
  readonly outcome: Declined

  constructor(reference: string) {
    const text = `the payment has no reference "${reference}" of the acquirer; an operator can add it`
    super(text)
    this.outcome = declined('900.100.202', { text })
  }

  /** Also recognises errors of a second copy of this package. */
  static is(value: unknown): value is MissingReference {
    return typeof value === 'object' && value !== null && brand in value
  }
}
