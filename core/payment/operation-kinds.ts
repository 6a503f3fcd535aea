import type { Kind } from '@tollgate/plugin-kit'

/** Which connector handler carries a payment type out. */
export const handlerOf: Readonly<Record<string, Kind>> = {
  PA: 'authorize',
  DB: 'debit',
  CD: 'credit',
  CP: 'capture',
  RV: 'reverse',
  RF: 'refund',
  RB: 'debit',
  RC: 'capture',
  RG: 'verify',
}

/**
 * What a record does to balances. A preauthorization that refers to another one either adds to it
 * or replaces it; which of the two is told by its industry practice.
 */
export type Effect =
  /** Moves no money: whether an account may be stored. */
  | 'verification'
  | 'authorisation'
  | 'increase'
  | 'replacement'
  | 'sale'
  | 'capture'
  | 'release'
  | 'void'
  | 'refund'
  /** Takes back what succeeded after it was answered as over: an operation of the engine's own. */
  | 'undo'
  | 'chargeback'
  | 'chargeback-reversal'
