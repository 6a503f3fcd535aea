import type { BatchLineKind, RecordType, TransactionType } from '@tollgate/plugin-kit'

/** A record of a settlement file, checked and masked. Amounts in minor units, never negative. */
export type StagedRecord = {
  readonly line: number
  readonly merchantNumber: string
  readonly recordType: RecordType
  readonly transactionType: TransactionType
  readonly cashflow: 'POS' | 'NEG'
  readonly status: 'SUCCESS' | 'FAILED'
  /** Sixteen bytes each, see record-key.ts. */
  readonly key: Buffer
  readonly content: Buffer
  readonly settlementId: string | null
  /** The institute's name of the payout, else the settlement date. */
  readonly batch: string
  /** `yyyy-MM-dd` */
  readonly settlementDate: string
  /** `yyyy-MM-dd HH:mm:ss` in the institute's zone, and the same as an instant. */
  readonly requestedAt: string | null
  readonly requested: Date | null
  readonly amountMinor: bigint
  readonly currency: string
  readonly settledMinor: bigint
  readonly settledCurrency: string
  readonly feeMinor: bigint | null
  readonly fxRate: string | null
  readonly namedPayment: string | null
  readonly namedKey: string | null
  readonly refs: readonly [string | null, string | null, string | null]
  readonly merchantTransactionId: string | null
  readonly merchantInvoiceId: string | null
  readonly shortNo: bigint | null
  readonly brand: string | null
  readonly last4: string | null
  readonly holder: string | null
  readonly bankCode: string | null
  readonly descriptor: string | null
  readonly reason: string | null
  readonly reference: string | null
}

/** A line about a whole payout, checked and masked. */
export type StagedBatchLine = {
  readonly line: number
  readonly merchantNumber: string
  readonly key: Buffer
  readonly content: Buffer
  readonly kind: BatchLineKind
  readonly cashflow: 'POS' | 'NEG'
  readonly batch: string
  readonly settlementDate: string
  readonly valueDate: string | null
  readonly payoutId: string | null
  readonly minor: bigint
  readonly currency: string
  readonly description: string | null
}

export const exceptionKinds = [
  'UNKNOWN_TYPE',
  'UNREADABLE',
  'UNKNOWN_ACCOUNT',
  'CHANGED',
  'REPEATED',
] as const

/** Why a line becomes no record. */
export type ExceptionKind = (typeof exceptionKinds)[number]

/** A line that becomes no record. Its text is masked. */
export type ExceptionLine = {
  readonly line: number
  readonly kind: ExceptionKind
  readonly why: string
}

/** A checked element of a file. */
export type CheckedItem =
  | { readonly is: 'file'; readonly reference: string }
  | { readonly is: 'record'; readonly record: StagedRecord }
  | { readonly is: 'batch'; readonly batchLine: StagedBatchLine }
  | { readonly is: 'exception'; readonly exception: ExceptionLine }
  /** Refuses the file, unless an operator skips bad lines. */
  | { readonly is: 'bad'; readonly line: number; readonly why: string }
  | {
      readonly is: 'end'
      readonly count: number | null
      readonly totals: ReadonlyMap<string, bigint> | null
    }
