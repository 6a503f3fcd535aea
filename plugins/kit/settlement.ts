/** Settlement files of an acquirer: the lines that a connector reads from them. */
import type { Context } from './connector.ts'
import type { Money } from './outcome.ts'

export type RecordType = 'SETTLED' | 'CHARGEBACK' | 'CHARGEBACK REVERSAL' | 'FEE'

export type TransactionType =
  | 'DEBIT'
  | 'CREDIT'
  | 'REFUND'
  | 'BATCH'
  | 'MONTHLY'
  | 'SUBMERCHANT'
  | 'PAYMENT_FACILITATOR'
  | 'AUTH_FEE'
  | 'CAPTURE_FEE'
  | 'CANCEL_FEE'
  | 'REFUND_FEE'

/** The position of a line in its file. */
type Line = {
  /** From 1. */
  readonly line: number
  /** The line as it came, without its end. The engine stores a hash of the text, never the text. */
  readonly text: string
}

type OfMerchant = {
  /** The merchant's number at the institute, 5 to 64 characters. */
  readonly merchantNumber: string
  /** The institute's name of the payout that the line belongs to. */
  readonly batch?: string
  /** Day of settlement in the institute's zone, `yyyy-MM-dd`. */
  readonly date: string
}

/** One settled payment, chargeback, reversal of a chargeback, or fee. Amounts are gross. */
export type SettlementRecord = Line &
  OfMerchant & {
    readonly is: 'record'
    readonly recordType: RecordType
    readonly transactionType: TransactionType
    /** `POS`: the merchant receives the amount. `NEG`: the merchant pays it. */
    readonly cashflow: 'POS' | 'NEG'
    readonly status: 'SUCCESS' | 'FAILED'
    /** The institute's own id of this record. */
    readonly settlementId?: string
    /** Time of the shopper's order in the institute's zone, `yyyy-MM-dd HH:mm:ss`. */
    readonly requestedAt?: string
    /** What the shopper paid or got back. Never negative. */
    readonly amount: Money
    /** The same in the currency of the payout. Never negative. */
    readonly settled: Money
    /** Kept by the institute, in minor units of `settled.currency`. */
    readonly fee?: bigint
    /** Units of `settled.currency` for one unit of `amount.currency`: `1.083412`. 1 by default. */
    readonly fxRate?: string
    /** Id of the engine's payment, if the institute repeats it. */
    readonly paymentId?: string
    /** `operation.key`, if the institute repeats it. */
    readonly key?: string
    /** The acquirer's references, in the order of `settlement.refs`. */
    readonly refs?: readonly (string | undefined)[]
    readonly merchantTransactionId?: string
    readonly merchantInvoiceId?: string
    readonly shortId?: string
    readonly brand?: string
    /** The last four digits of the account, never more. */
    readonly last4?: string
    readonly holder?: string
    readonly bankCode?: string
    readonly descriptor?: string
    /** Of a chargeback: a `000.100.2xx` code, or the scheme's own code. */
    readonly reason?: string
    /** Of a chargeback: the acquirer's reference, the same in all records and events about it. */
    readonly reference?: string
  }

export type BatchLineKind =
  | 'payout'
  | 'opening'
  | 'closing'
  | 'reserve-held'
  | 'reserve-released'
  | 'adjustment'
  | 'tax'
  | 'transfer'
  | 'fee'

/** A line about a whole payout. */
export type BatchLine = Line &
  OfMerchant & {
    readonly is: 'batch'
    readonly kind: BatchLineKind
    readonly cashflow: 'POS' | 'NEG'
    /** Never negative, in the currency of the payout. */
    readonly amount: Money
    /** The day on which the bank pays, `yyyy-MM-dd`. */
    readonly valueDate?: string
    /** The bank's reference of the payout. */
    readonly payoutId?: string
    readonly description?: string
  }

/** An element of a settlement file. */
export type SettlementItem =
  /** First element: the institute's own reference of the file, which makes the file unique. */
  | { readonly is: 'file'; readonly reference: string }
  | SettlementRecord
  | BatchLine
  /** A line of a type that the connector does not know. The engine keeps it for operators. */
  | (Line & { readonly is: 'other'; readonly type: string; readonly merchantNumber?: string })
  /** A line that cannot be read. It refuses the whole file, unless an operator skips bad lines. */
  | { readonly is: 'bad'; readonly line: number; readonly why: string }
  /** Last element of a complete file, with the control totals of its trailer. */
  | {
      readonly is: 'end'
      /** Records and batch lines of the file. */
      readonly count?: number
      /** Signed gross sums of the records by settlement currency. */
      readonly totals?: readonly Money[]
    }

/** A file at the acquirer. */
export type RemoteFile = {
  /** Shown to operators. */
  readonly name: string
  /** The next fetch continues after this text. The engine stores it once the file is stored. */
  readonly cursor: string
  open(): Promise<AsyncIterable<Uint8Array>>
}

/** A payment in a simulated file. */
export type DayPayment = {
  readonly id: string
  /** `operation.key` */
  readonly key: string
  readonly shortId: string
  readonly kind: 'debit' | 'capture' | 'credit' | 'refund'
  readonly requestedAt: Date
  readonly brand?: string
  /** First six digits of a card. */
  readonly bin?: string
  /** The last four digits of the account. */
  readonly last4?: string
  readonly merchantTransactionId?: string
  readonly descriptor?: string
}

/** Money that settles on a simulated day. */
export type DayEntry = {
  readonly is: /** An approved payment, less the part that went back on the same day. */
    | 'payment'
    /** A part of a payment that settled earlier went back. */
    | 'returned'
    | 'chargeback'
    | 'chargebackReversal'
  /** Of a dispute: the disputed payment. */
  readonly payment: DayPayment
  /** Above zero. */
  readonly amount: Money
  /** Of a dispute, as in its event. */
  readonly reference?: string
  /** Of a dispute: a `000.100.2xx` code. */
  readonly reason?: string
}

/** One day of a merchant that a connector simulates. */
export type SimulatedDay = {
  readonly merchantNumber: string
  /** Business day in the zone of the institute, `yyyy-MM-dd`. */
  readonly day: string
  /** `carried` of the file before, empty for the first one. */
  readonly carried: Readonly<Record<string, string>>
}

/** A chargeback, or its reversal, that will be in the file of a later day. */
export type DueDispute = {
  readonly is: 'chargeback' | 'chargebackReversal'
  /** Id of the disputed payment. */
  readonly paymentId: string
  readonly amount: Money
  /** Unique. A reversal has the reference of its chargeback. */
  readonly reference: string
  /** A `000.100.2xx` code. */
  readonly reason: string
  /** After the day of the file, `yyyy-MM-dd`. */
  readonly day: string
}

/** What a simulated day leaves for later ones. */
export type DayEnd = {
  /** Balances that the next payout has to cover, by currency, in minor units as decimal strings. */
  readonly carried: Readonly<Record<string, string>>
  readonly disputes: readonly DueDispute[]
}

/** The settlement files of a connector. */
export type Settlement<Config = Record<string, unknown>, Account = Record<string, unknown>> = {
  /** Name of the format, at most 32 characters; stands in every record. */
  readonly format: string
  /** Name of the clearing institute, at most 64 characters. */
  readonly institute: string
  /** IANA zone of the dates and times in the files: `Europe/Berlin`. */
  readonly zone: string
  /** The number of an account in the files. */
  merchantOf(account: Account): string
  /**
   * Names in `Outcome.refs` that the files call by their first, second and third reference. The first one stays the
   * same for the life of an operation.
   */
  readonly refs: readonly string[]
  /** Files since the cursor, oldest first. Without it, files come by hand. */
  fetch?(cursor: string | undefined, context: Context<Config, Account>): AsyncIterable<RemoteFile>
  /**
   * Reads a file. Pure: no clock, no I/O, no state, and the same elements for every division of the
   * bytes. A format without a trailer yields `end` after its payout line.
   */
  parse(bytes: AsyncIterable<Uint8Array>): AsyncIterable<SettlementItem>
  /**
   * Writes the file of a day of payments with `testMode=INTERNAL`, whose institute the connector simulates. No
   * bytes: the day has no file. Pure like `parse`: the same entries give the same bytes.
   */
  writeDay?(
    day: SimulatedDay,
    entries: AsyncIterable<DayEntry>,
  ): AsyncGenerator<Uint8Array, DayEnd, void>
}
