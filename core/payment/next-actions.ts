/** The follow-ups that a payment allows. */
import type { Balance, Payment } from './types.ts'

/** The follow-ups that the payment allows now. Without a balance: those of a fresh payment. */
export function nextActions(payment: Payment, balance: Balance | undefined): string[] {
  if (payment.state !== 'approved') return []
  const next = requests(payment, balance)
  // Merchants post chargebacks to the simulator alone; acquirers report theirs.
  return payment.mode === 'INTERNAL' ? [...next, ...disputes(payment, balance)] : next
}

/** Chargebacks, and reversals of chargebacks. */
function disputes(
  { effect, paymentType, parentId }: Payment,
  balance: Balance | undefined,
): string[] {
  if (effect === 'chargeback') {
    // Outside of the sums nothing is left to reverse.
    if (parentId === null) return []
    return balance === undefined || balance.chargedBack > 0n ? ['CR'] : []
  }
  const isDisputable = effect === 'sale' || effect === 'capture' || effect === 'refund'
  if (!isDisputable || paymentType === 'CD') return []
  return balance === undefined || disputable(balance) > 0n ? ['CB'] : []
}

/** The amount that a posted chargeback can have. */
export const disputable = (sums: Balance): bigint =>
  sums.captured - sums.refunded - sums.refunding - sums.reversed - sums.reversing - sums.chargedBack

function requests(payment: Payment, balance: Balance | undefined): string[] {
  if (payment.effect === 'chargeback') return []
  if (balance === undefined) return freshActions(payment)
  if (balance.chargedBack > 0n || balance.closedBy !== null) return []
  const next: string[] = []
  if (balance.kind === 'authorisation') {
    if (balance.isFrozen) return []
    const rest =
      balance.authorised -
      balance.captured -
      balance.capturing -
      balance.reversed -
      balance.reversing
    const isCountLeft = balance.maxCaptures === null || balance.captures < balance.maxCaptures
    if (rest > 0n && balance.reversing === 0n) {
      if (isCountLeft && balance.captureFinalBy === null) next.push('CP', 'RC')
      if (balance.capturing === 0n && balance.reverseFinalBy === null) next.push('RV')
    }
    if (balance.captureFinalBy === null && !(balance.reversed > 0n && rest <= 0n)) next.push('PA')
    return next
  }
  if (balance.kind === 'refund') return []
  const isWhole = balance.refunding + balance.refunded + balance.reversing + balance.reversed === 0n
  const isOpen =
    balance.reversing + balance.reversed === 0n &&
    balance.refundFinalBy === null &&
    !balance.isFrozen
  if (isOpen && balance.refunded + balance.refunding < balance.captured) next.push('RF')
  const isSettled = balance.settlement !== null
  if (payment.paymentType !== 'CD' && isWhole && !balance.isFrozen && !isSettled) next.push('RV')
  if (payment.paymentType === 'DB' && balance.reversed === 0n) next.push('RB')
  return next
}

/** The follow-ups of a payment that has none yet. */
function freshActions({ effect, paymentType, amount, approvedMinor }: Payment): string[] {
  switch (effect) {
    case 'authorisation':
    case 'replacement':
      // Of nothing, nothing can be captured or released.
      return (approvedMinor ?? amount.minor) === 0n ? ['PA'] : ['CP', 'RC', 'RV', 'PA']
    case 'sale':
      return paymentType === 'CD'
        ? ['RF']
        : paymentType === 'DB'
          ? ['RF', 'RV', 'RB']
          : ['RF', 'RV']
    case 'capture':
      return ['RF', 'RV']
    default:
      return []
  }
}
