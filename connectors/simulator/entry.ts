import type { Json, Kind, Money } from '@tollgate/plugin-kit'
import type { Reason } from '@tollgate/schemas'
import type { Effect } from './rules.ts'

export type EntryKind = Kind | 'chargeback' | 'chargebackReversal' | 'none'

/**
 * Moved money of the payer: `held` is reserved on the account, `charged` has left it. Minor units,
 * negative for returns. The sum over all entries is the truth.
 */
export type Movement = {
  readonly on: 'held' | 'charged'
  readonly minor: bigint
  readonly currency: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Sums of one entry in minor units: its limit and the amounts taken by later operations. */
export type Sums = {
  readonly authorised: bigint
  readonly captured: bigint
  readonly released: bigint
  readonly refunded: bigint
}

/** A change of another entry's sum by one entry. */
export type Shift = { readonly key: string; readonly sum: keyof Sums; readonly minor: bigint }

/** What a settlement file repeats of an operation. */
export type Labels = {
  readonly brand?: string
  readonly last4?: string
  readonly shortId?: string
  /** The merchant's own name of the payment. */
  readonly order?: string
  readonly descriptor?: string
}

/** The acquirer's record of one key. Values never change: a change is a new entry. */
export type Entry = {
  readonly key: string
  readonly kind: EntryKind
  readonly paymentId: string
  readonly amount: Money
  /** The instrument without secrets: BIN, last four, expiry. */
  readonly instrument: string
  /** `closed`: reversed by key; with movements if there was something to undo. */
  readonly state: 'approved' | 'declined' | 'pending' | 'closed'
  /** The acquirer's answer code; `00` is an approval, `09` an open operation. */
  readonly code: string
  /** Key of the original; `replaces`: that authorisation ends when this one is approved. */
  readonly original?: string
  readonly replaces?: true
  readonly final?: true
  /**
   * On increments: key of their authorisation. On chargeback reversals: key of the disputed
   * payment.
   */
  readonly root?: string
  readonly sums: Sums
  /** Keys of the final operations that end their kind. */
  readonly finalBy: {
    readonly capture?: string
    readonly refund?: string
    readonly reverse?: string
  }
  /** On an authorisation: key of its replacement. */
  readonly replacedBy?: string
  readonly chargeback?: { readonly by: string; readonly state: 'open' | 'reversed' }
  /** The reason of a chargeback. */
  readonly reason?: Reason
  /** The outcome and time at which a pending payment ends by itself. Milliseconds since 1970. */
  readonly due?: { readonly at: number; readonly code: string }
  /** The shopper must visit the bank's page. */
  readonly shopper?: true
  readonly delivery: 'once' | 'twice' | 'eventFirst' | 'lost'
  readonly movements: readonly Movement[]
  readonly shifts: readonly Shift[]
  readonly history: readonly {
    readonly at: number
    readonly state: string
    readonly code: string
  }[]
  readonly avs?: string
  readonly cvv?: string
  /** Paid by card: an approval has a scheme reference. */
  readonly card?: true
  readonly labels?: Labels
  /** Later events, and the error in the settlement line, by the rules of the instrument. */
  readonly later?: NonNullable<Effect['later']>
  readonly settlement?: NonNullable<Effect['settlement']>
  /** Must outlive a process with its ledger in memory. */
  readonly durable?: true
}

export const noSums: Sums = { authorised: 0n, captured: 0n, released: 0n, refunded: 0n }

/** The rest of an entry in minor units. Never negative, by the acquirer's own rule. */
export const rest = ({ sums }: Entry): bigint =>
  sums.authorised - sums.captured - sums.released - sums.refunded

/** The acquirer's own id of an operation. */
export const referenceOf = ({ key }: Pick<Entry, 'key'>): string => `sim-${key}`

/** The scheme reference of a card payment. */
export const networkTxIdOf = ({ key }: Entry): string => `SIM${key.slice(0, 12).toUpperCase()}`

/** An entry as JSON, bigints as decimal strings. */
export function entryToJson(entry: Entry): { [key: string]: Json } {
  return JSON.parse(
    JSON.stringify(entry, (_name, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  )
}

/** Reads the output of `entryToJson`. Throws for any other value. */
export function entryFromJson(json: unknown): Entry {
  if (typeof json !== 'object' || json === null || typeof (json as Entry).key !== 'string') {
    throw new Error('a stored ledger entry cannot be read: it must be an object with a key')
  }
  const stored = json as Entry
  return {
    ...stored,
    amount: { ...stored.amount, minor: BigInt(stored.amount.minor) },
    sums: {
      authorised: BigInt(stored.sums.authorised),
      captured: BigInt(stored.sums.captured),
      released: BigInt(stored.sums.released),
      refunded: BigInt(stored.sums.refunded),
    },
    movements: stored.movements.map((move) => ({ ...move, minor: BigInt(move.minor) })),
    shifts: stored.shifts.map((shift) => ({ ...shift, minor: BigInt(shift.minor) })),
  }
}
