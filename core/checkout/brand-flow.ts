/** How a shopper pays with a brand at a checkout. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { type Brand, brandOf } from '@tollgate/schemas'
import { encryptedWallet } from '../request/account.ts'
import { refuse, textOf } from '../request/values.ts'

export type Flow = 'card' | 'redirect' | 'bank'

/** Undefined: the brand is paid with elsewhere. */
export function flowOf(brand: Brand): Flow | undefined {
  if (brand.account === 'card') return 'card'
  if (brand.flow === 'redirect' && !brand.accountNeeded) return 'redirect'
  return brand.account === 'bankAccount' ? 'bank' : undefined
}

/**
 * A brand that needs neither an account nor a page of its own would be paid by whoever knows the id of the checkout.
 *
 * @param fixed by the merchant, who may offer any brand. @param fields of the complete request.
 * @throws GatewayError 100.150.100 for a brand that no checkout offers.
 */
export function refuseOtherBrand(fixed: string | undefined, fields: RequestFields): void {
  const name = textOf(fields, 'paymentBrand')
  const brand = name === undefined || fixed !== undefined ? undefined : brandOf(name)
  if (brand === undefined || flowOf(brand) !== undefined) return
  // A wallet's own token pays, and nothing else under the wallet's brand.
  if (brand.account !== null && encryptedWallet(fields) === brand.account) return
  throw refuse('100.150.100', 'paymentBrand', 'is not offered by this checkout', name)
}
