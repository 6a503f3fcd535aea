/** Where a merchant reads a payment that a shopper made: at its checkout, where there is one. */
import type { Payment } from './types.ts'

export function resourceOf({
  id,
  checkoutId,
  effect,
}: Pick<Payment, 'id' | 'checkoutId' | 'effect'>): { readonly id: string; readonly path: string } {
  if (checkoutId === null) return { id, path: `/v1/payments/${id}` }
  const kind = effect === 'verification' ? 'registration' : 'payment'
  return { id: checkoutId, path: pathOfCheckout(checkoutId, kind) }
}

export const pathOfCheckout = (id: string, kind: 'payment' | 'registration'): string =>
  `/v1/checkouts/${id}/${kind}`
