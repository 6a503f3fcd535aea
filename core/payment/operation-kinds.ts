import type { Kind } from '@tollgate/plugin-kit'

/** The connector handler of each payment type. */
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
 * The effect of a record on balances. A preauthorization that refers to another one either
 * increases or replaces it, as its industry practice says.
 */
export type Effect =
  /** Moves no money; checks whether an account may be stored. */
  | 'verification'
  /** Moves no money; authenticates the shopper, and no more. */
  | 'authentication'
  | 'authorisation'
  | 'increase'
  | 'replacement'
  | 'sale'
  | 'capture'
  | 'release'
  | 'void'
  | 'refund'
  /** Takes a late success back: an operation of the engine's own. */
  | 'undo'
  | 'chargeback'
  | 'chargeback-reversal'
