/** Which follow-ups a payment allows, and their effects. Pure. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { type PaymentType, paymentTypes, type Reason } from '@tollgate/schemas'
import { GatewayError } from '../errors.ts'
import { parseAmount } from '../money.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import { isOpen } from './late-word-table.ts'
import { type Effect, handlerOf } from './operation-kinds.ts'
import type { Balance, Payment } from './types.ts'
import { whyUnfit } from './why-refused.ts'

export function refuseUnusable(payment: Payment, type: PaymentType): void {
  if (!type.refersTo.includes(payment.paymentType)) {
    throw new GatewayError('700.300.100', { parameterErrors: [whyUnfit(payment, type)] })
  }
  if (isOpen(payment.state)) throw new GatewayError('700.400.570')
  if (payment.state !== 'approved') {
    throw new GatewayError(type.refusedUnusable ?? '700.100.100')
  }
}

/** Null: the whole rest, for types that allow an absent amount. */
export function amountOf(
  fields: RequestFields,
  payment: Payment,
  type: PaymentType,
): bigint | null {
  const amount = textOf(fields, 'amount')
  const currency = textOf(fields, 'currency')
  if (type.amount === 'required') {
    if (amount === undefined) throw refuse('200.300.404', 'amount', `is required for ${type.code}`)
    if (currency === undefined)
      throw refuse('200.300.404', 'currency', `is required for ${type.code}`)
  }
  if (currency !== undefined && currency !== payment.amount.currency) {
    throw refuse(
      '700.100.500',
      'currency',
      `must be ${payment.amount.currency} as in the referenced payment`,
      currency,
    )
  }
  if (amount === undefined) return null
  const minor = parseAmount(amount, payment.amount.currency)
  if (minor === 0n) throw refuse('100.550.300', 'amount', 'must be above 0.00')
  return minor
}

export function effectOn(payment: Payment, type: PaymentType, fields: RequestFields): Effect {
  switch (type.code) {
    case 'CP':
    case 'RC':
      return 'capture'
    case 'RV':
      return payment.paymentType === 'PA' ? 'release' : 'void'
    case 'RF':
      return 'refund'
    case 'CB':
      return 'chargeback'
    case 'CR':
      return 'chargeback-reversal'
    case 'PA':
      return practiceOf(fields) === 'INCREMENTAL_AUTH' ? 'increase' : 'replacement'
    default:
      return 'sale'
  }
}

export function practiceOf(fields: RequestFields): string | undefined {
  return textOf(groupOf(fields, 'standingInstruction'), 'industryPractice')
}

export function handlerKind(effect: Effect, type: PaymentType) {
  return effect === 'increase' ? 'increment' : (handlerOf[type.code] ?? 'verify')
}

/**
 * A new authorisation and a rebill carry the card; other follow-ups carry the acquirer's reference.
 */
export function carriedOver(
  payment: Payment,
  effect: Effect,
): Record<string, Record<string, string>> {
  if (effect !== 'replacement' && effect !== 'sale') return {}
  const carried: Record<string, Record<string, string>> = {}
  for (const name of ['card', 'bankAccount', 'tokenAccount', 'virtualAccount']) {
    const group = payment.request[name]
    if (typeof group === 'object' && group !== null) carried[name] = group as Record<string, string>
  }
  return carried
}

export function refusalCode(
  balance: Balance | undefined,
  type: PaymentType,
  effect: Effect,
): Reason {
  if (balance !== undefined && balance.chargedBack > 0n) return '700.300.600'
  // A rebill leaves the money of the payment alone.
  if (balance?.isFrozen === true && effect !== 'sale') return '700.300.600'
  if (effect === 'increase' || effect === 'replacement') return '700.300.300'
  return type.refusedExhausted ?? '700.300.300'
}

/** The row of the types table for a follow-up. Refuses other types. */
export function followUpType(fields: RequestFields): PaymentType {
  const code = textOf(fields, 'paymentType') ?? ''
  if (code === 'PA') {
    const practice = practiceOf(fields)
    if (practice === 'INCREMENTAL_AUTH' || practice === 'REAUTHORIZATION') return authorisationAgain
    throw refuse(
      '200.300.404',
      'standingInstruction.industryPractice',
      'must be INCREMENTAL_AUTH or REAUTHORIZATION for a PA that refers to another one',
    )
  }
  const found = paymentTypes.find((type) => type.code === code && type.use === 'followUp')
  if (found !== undefined) return found
  throw refuse(
    '200.300.404',
    'paymentType',
    'must be CP, RV, RF, RB, RC, CB, CR or PA for a payment that refers to another one',
    code,
  )
}

const authorisationAgain: PaymentType = {
  code: 'PA',
  title: 'Preauthorization that adds to another one or replaces it',
  use: 'followUp',
  right: 'charge',
  refersTo: ['PA'],
  amount: 'required',
  refusedUnusable: '700.100.100',
  refusedExhausted: '700.300.300',
}
