import type { Money } from '../../outcome.ts'
import type { EngineSide } from '../sandbox.ts'

/** A payment in a settlement file, as the institute knows it. */
export type SamplePayment = {
  /** Gross. Settled in the same currency. */
  readonly amount: Money
  /** `POS`: a sale. `NEG`: a refund. */
  readonly cashflow: 'POS' | 'NEG'
  /** Kept by the institute. Leave it out if the lines of the format have no fee. */
  readonly fee: bigint
  /** The reference by which the file names the payment, exactly so. */
  readonly reference: string
  /** Day of settlement in the institute's zone, `yyyy-MM-dd`. */
  readonly date: string
  /** Time of the order in the institute's zone, `yyyy-MM-dd HH:mm:ss`. Leave it out if the format has none. */
  readonly requestedAt: string
  /** Write it as the institute does: in full or masked. */
  readonly cardNumber: string
}

/** An author's description of the institute and its files for the suite. */
export type SettlementSandbox = {
  /** A complete file with one line for each payment, in order, and all that the format has around the lines. */
  write(payments: readonly SamplePayment[]): Uint8Array
  /** Currencies that the format can carry; EUR, JPY and KWD by default. */
  readonly currencies?: readonly string[]
  /** The settings of the account whose payments the files of `write` have, to compare its merchant number. */
  readonly account?: Readonly<Record<string, unknown>>
  /** Changes of a file of `write`: bytes in, bytes out. */
  readonly damage: {
    /** The line of the first payment has a letter in its amount. */
    amount(file: Uint8Array): Uint8Array
    /** The line of the first payment has a type that does not exist. */
    type(file: Uint8Array): Uint8Array
    /** A new column between the others. Absent for a format that is read by position. */
    column?(file: Uint8Array): Uint8Array
    /** The trailer counts one line more. Absent for a format without a count. */
    count?(file: Uint8Array): Uint8Array
    /** The trailer has another sum. Absent for a format without sums. */
    total?(file: Uint8Array): Uint8Array
  }
  /** Starts the institute without any file, once for each case. Needed with `fetch`. */
  open?(engine: EngineSide): Promise<SettlementServer>
}

/** The server with the files, started for one case. */
export type SettlementServer = {
  /** Address of the server: plain http on this machine. Absent when it works inside the process. */
  readonly url?: string
  /** Settings that direct a connector to `url`, which is the front's. */
  settings(url: string): {
    readonly config: Readonly<Record<string, unknown>>
    readonly account: Readonly<Record<string, unknown>>
  }
  /** One more file, newer than all others, with at least one payment of the account. It may move the clock. */
  put(): Promise<void>
  close(): Promise<void>
}
