/** What a page shows before the shopper presses: a press is for that, and for nothing that the merchant changed since. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { currencyOf } from '@tollgate/schemas'
import { GatewayError } from '../errors.ts'
import { textOf } from '../request/values.ts'
import type { Checkout } from './types.ts'

/** The press is for another amount, or to store an account without paying. It is no try. */
export class OtherThanShown extends GatewayError {}

export function priceOf({ request }: Pick<Checkout, 'request'>): {
  readonly amount: string
  readonly currency: string
} {
  const fields = request as RequestFields
  const [amount = '', currency = ''] = [textOf(fields, 'amount'), textOf(fields, 'currency')]
  return { amount: currencyOf(currency)?.exponent === 0 ? amount : withCents(amount), currency }
}

const withCents = (amount: string) => (amount.includes('.') ? amount : `${amount}.00`)

/** The amount with its currency; `registration` for a checkout that only stores an account. */
export function shownOf(checkout: Pick<Checkout, 'kind' | 'request'>): string {
  if (checkout.kind === 'registration') return 'registration'
  const { amount, currency } = priceOf(checkout)
  return `${amount} ${currency}`
}

/**
 * A page that does not say what it shows is believed.
 *
 * @param isToStore The press was sent to the address of checkouts that only store an account.
 * @throws OtherThanShown
 */
export function refuseOtherThanShown(
  checkout: Pick<Checkout, 'kind' | 'request'>,
  submitted: RequestFields,
  isToStore: boolean,
): void {
  const said = textOf(submitted, 'shown')
  const isAsShown = said === undefined || said === shownOf(checkout)
  if (isAsShown && !(isToStore && checkout.kind === 'payment')) return
  throw new OtherThanShown('200.300.404', {
    parameterErrors: [{ name: 'shown', message: 'the merchant changed the checkout since' }],
  })
}
