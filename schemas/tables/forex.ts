import { amount, C, currency, echoed, group, none } from '../table.ts'

/** Amount in the currency of a conversion offered to the shopper. */
export const forex = group('forex', 'Foreign exchange', [
  ['amount',   amount,   C, echoed, none, 'Amount in the foreign currency.'],
  ['currency', currency, C, echoed, none, 'The foreign currency.'],
], [
  { rule: 'requires', when: ['forex.amount'], need: ['forex.currency'], message: 'forex.amount needs forex.currency' },
])
