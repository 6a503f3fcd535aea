import type { Reason } from './results.ts'
import type { RightName } from './rights.ts'

/**
 * The origin of a payment type. `payment`: sent with an instrument (or to a registration).
 * `followUp`: sent to an existing payment. `record`: written by the engine for another endpoint,
 * never sent as `paymentType`.
 */
export type PaymentTypeUse = 'payment' | 'followUp' | 'record'

export type PaymentType = {
  readonly code: string
  readonly title: string
  readonly use: PaymentTypeUse
  /** The right of a caller who makes it. */
  readonly right: RightName
  /**
   * The types of the referenced transaction, one of which must be approved. Empty: no reference.
   */
  readonly refersTo: readonly string[]
  /** Whether the request must name amount and currency. */
  readonly amount: 'required' | 'optional' | 'none'
  /** Follow-ups: the code when the referenced transaction is declined or expired. */
  readonly refusedUnusable?: Reason
  /** Follow-ups: the code when too little of the referenced transaction is left. */
  readonly refusedExhausted?: Reason
}

export const paymentTypes: readonly PaymentType[] = [
  { code: 'PA', title: 'Preauthorization', use: 'payment', right: 'charge', refersTo: [], amount: 'required' },
  { code: 'DB', title: 'Debit', use: 'payment', right: 'charge', refersTo: [], amount: 'required' },
  { code: 'CD', title: 'Credit', use: 'payment', right: 'payout', refersTo: [], amount: 'required' },
  { code: 'PA.CP', title: 'Preauthorization captured at once', use: 'payment', right: 'charge', refersTo: [], amount: 'required' },
  { code: '3D', title: 'Authentication without payment', use: 'payment', right: 'charge', refersTo: [], amount: 'required' },

  { code: 'CP', title: 'Capture', use: 'followUp', right: 'charge', refersTo: ['PA'], amount: 'required', refusedUnusable: '700.400.510', refusedExhausted: '700.400.100' },
  { code: 'RV', title: 'Reversal', use: 'followUp', right: 'refund', refersTo: ['PA', 'DB', 'RB', 'CP', 'RC'], amount: 'optional', refusedUnusable: '700.400.530', refusedExhausted: '700.400.300' },
  { code: 'RF', title: 'Refund', use: 'followUp', right: 'refund', refersTo: ['DB', 'RB', 'CP', 'RC', 'CD'], amount: 'required', refusedUnusable: '700.400.520', refusedExhausted: '700.400.200' },
  { code: 'RB', title: 'Rebill', use: 'followUp', right: 'charge', refersTo: ['DB'], amount: 'required', refusedUnusable: '700.100.100' },
  { code: 'RC', title: 'Receipt', use: 'followUp', right: 'charge', refersTo: ['PA'], amount: 'required', refusedUnusable: '700.400.560' },
  // Chargebacks come from the acquirer; a merchant posts them to the simulator only.
  { code: 'CB', title: 'Chargeback', use: 'followUp', right: 'charge', refersTo: ['DB', 'RB', 'CP', 'RC', 'RF'], amount: 'optional', refusedUnusable: '700.400.550', refusedExhausted: '700.300.500' },
  { code: 'CR', title: 'Chargeback reversal', use: 'followUp', right: 'charge', refersTo: ['CB'], amount: 'optional', refusedUnusable: '700.100.100', refusedExhausted: '700.400.410' },

  { code: 'RG', title: 'Registration', use: 'record', right: 'charge', refersTo: [], amount: 'none' },
  { code: 'RR', title: 'Change of a registration', use: 'record', right: 'charge', refersTo: ['RG'], amount: 'none' },
  { code: 'DR', title: 'Removal of a registration', use: 'record', right: 'charge', refersTo: ['RG'], amount: 'none' },
  { code: 'TE', title: 'Extension of a registration', use: 'record', right: 'charge', refersTo: ['RG'], amount: 'none' },
  { code: 'SD', title: 'Schedule', use: 'record', right: 'charge', refersTo: ['RG'], amount: 'required' },
  { code: 'RS', title: 'Change of a schedule', use: 'record', right: 'charge', refersTo: ['SD'], amount: 'optional' },
  { code: 'DS', title: 'End of a schedule', use: 'record', right: 'charge', refersTo: ['SD'], amount: 'none' },
]

/** The types that a schedule can execute and `overridePaymentType[brand]` can name. */
export const scheduledPaymentTypes = ['PA', 'DB', 'CD'] as const

/**
 * Follow-ups that extend an authorisation: a PA with this `standingInstruction.industryPractice`.
 */
export const authorisationExtensions = ['INCREMENTAL_AUTH', 'REAUTHORIZATION'] as const

/**
 * Values of the query filter `paymentTypes`. The list is wider than the types of the engine,
 * because clients of this API family send all of them; a code without records matches nothing.
 */
export const queryPaymentTypes = [
  'CB', 'CD', 'CR', 'DB', 'CP', 'IV', 'PA', 'RB', 'RC', 'RF', 'RL', 'RV', 'AD', 'IN', 'FI', 'CL', 'CF', 'DR', 'RG',
  'RR', 'TE', 'CT', 'DS', 'RS', 'SD', 'AC', 'MD', 'EA', 'RI', '3D', 'SA', 'EN', 'ID', 'IC', 'DP', 'CG', 'TG', 'SF',
  'IS', 'VD', 'DV', 'AF', 'GK', 'RD', 'TM', 'FT', 'KT', 'AR', 'AL', 'PL', 'FN', 'FZ', 'RE', 'RX', 'FO', 'CS', 'EX',
  'SE', 'AU', 'TK', 'TF', 'ER',
] as const

/** Values of the query filter `paymentMethods`, including the methods of brands. */
export const queryPaymentMethods = [
  'DD', 'CT', 'CC', 'WA', 'VA', 'UA', 'OT', 'DC', 'ET', 'NT', 'IV', 'PP', 'OD', 'RM',
] as const

const byCode: ReadonlyMap<string, PaymentType> = new Map(paymentTypes.map((type) => [type.code, type]))

export function paymentTypeOf(code: string): PaymentType | undefined {
  return byCode.get(code)
}

/** Whether a transaction of type `on` can be followed by `type`, judged by types alone. */
export function mayFollow(type: string, on: string): boolean {
  return byCode.get(type)?.use === 'followUp' && byCode.get(type)!.refersTo.includes(on)
}
