/** Why a payment refuses an operation, in words: the amount that is left, or what stands in the way. Pure. */
import type { PaymentType } from '@tollgate/schemas'
import type { ParameterError } from '../errors.ts'
import { shownAmount } from '../money.ts'
import type { Effect } from './operation-kinds.ts'
import type { Balance, Payment } from './types.ts'

/** The type of the payment allows no such operation. */
export function whyUnfit(payment: Payment, { code, refersTo }: PaymentType): ParameterError {
  const isToBeCaptured = payment.paymentType === 'PA' && refersTo.includes('CP')
  const hint = isToBeCaptured ? ': name one of its captures' : ''
  return {
    name: 'paymentType',
    value: code,
    message: `${code} follows ${refersTo.join(', ')}, and this payment is a ${payment.paymentType}${hint}`,
  }
}

type Asked = {
  readonly effect: Effect
  /** Null: the whole rest. */
  readonly amountMinor: bigint | null
}

/** Undefined where the result code tells all there is to tell. */
export function whyRefused(
  balance: Balance,
  { effect, amountMinor }: Asked,
  currency: string,
): ParameterError | undefined {
  const message = standingInTheWay(balance, effect)
  if (message !== undefined) return { name: 'paymentType', message }
  const shown = (minor: bigint) => `${shownAmount(minor, currency)} ${currency}`
  const isWhole = effect === 'void' && amountMinor !== null && amountMinor !== balance.captured
  if (isWhole) {
    const whole = `must be ${shown(balance.captured)}, the whole amount, or be left out`
    return { name: 'amount', message: `${whole}; a part is given back by a refund` }
  }
  const left = leftFor(balance, effect)
  if (left === undefined) return undefined
  if (left <= 0n) return { name: 'paymentType', message: nothingLeft(balance, effect) }
  return { name: 'amount', message: `must be at most ${shown(left)}, which is left of the payment` }
}

function standingInTheWay(balance: Balance, effect: Effect): string | undefined {
  if (balance.chargedBack > 0n) return 'waits: a chargeback of this payment stands'
  if (balance.isFrozen) return 'waits until an operator has ended an entry about this payment'
  if (balance.closedBy !== null) {
    return 'is not possible: another authorisation replaced this payment, or it failed'
  }
  switch (effect) {
    case 'capture':
      if (balance.captureFinalBy !== null) return 'is not possible: the last capture was made'
      if (balance.maxCaptures !== null && balance.captures >= balance.maxCaptures) {
        return `is not possible: all ${balance.maxCaptures} captures of numberOfCaptures are used`
      }
      return balance.reversing > 0n ? underWay : undefined
    case 'refund':
      if (balance.refundFinalBy !== null) return 'is not possible: the last refund was made'
      return balance.reversing + balance.reversed > 0n ? reversed : undefined
    case 'release':
      if (balance.reverseFinalBy !== null) return 'is not possible: the last reversal was made'
      return balance.capturing + balance.reversing + balance.increasing + balance.refunding > 0n
        ? underWay
        : undefined
    case 'void':
      if (balance.reversing + balance.reversed > 0n) return reversed
      if (balance.refunding + balance.refunded > 0n) {
        return 'is not possible: a part was refunded; refund the rest'
      }
      return balance.settlement === null ? undefined : 'is not possible after settlement; refund it'
    default:
      return undefined
  }
}

const underWay = 'waits: another operation on this payment is under way'
const reversed = 'is not possible: the payment is reversed'

function leftFor(balance: Balance, effect: Effect): bigint | undefined {
  const { authorised, captured, capturing, reversed, refunded, refunding } = balance
  if (effect === 'capture') return authorised - captured - capturing - reversed
  if (effect === 'release') return authorised - captured - reversed
  return effect === 'refund' ? captured - refunded - refunding : undefined
}

function nothingLeft({ captured, capturing }: Balance, effect: Effect): string {
  if (effect === 'refund') return 'is not possible: the whole amount is refunded'
  if (effect === 'release' && captured > 0n) {
    return 'is not possible: the rest is captured; refund or reverse the captures'
  }
  return captured + capturing > 0n
    ? 'is not possible: the whole amount is captured'
    : 'is not possible: the payment is reversed'
}
