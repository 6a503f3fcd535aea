/** The page of the merchant around the widget, as far as its browser says the truth. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Addressee } from '../entity/directory.ts'
import { isListed, isWebPage } from '../payment/merchant-page.ts'
import { refuse, textOf } from '../request/values.ts'
import { hasOwnPage, ownPageOf } from './complete-request.ts'
import type { Checkout } from './types.ts'

/**
 * A form sends its shopper to a page of its own origin, and where the channel has a list of origins,
 * to one of those. The checkout's own page needs no check: the merchant's server named it.
 *
 * @throws GatewayError 400 for another page.
 */
export function refuseForeignPage(
  { settings }: Pick<Addressee, 'settings'>,
  checkout: Checkout,
  submitted: RequestFields,
): void {
  const { widgetOrigins } = settings as { widgetOrigins?: readonly string[] }
  const origin = textOf(submitted, 'origin')
  if (widgetOrigins !== undefined && origin !== undefined && !widgetOrigins.includes(origin)) {
    throw refuse('200.300.404', 'origin', 'is no origin that may show the widget')
  }
  const page = textOf(submitted, 'resultUrl')
  if (page === undefined || hasOwnPage(checkout)) return
  if (origin === undefined) throw refuse('200.300.404', 'origin', 'required with resultUrl')
  const own = new URL(page).origin
  if (own !== origin || widgetOrigins?.includes(own) === false) {
    throw refuse('200.300.404', 'resultUrl', 'must have the origin of the page of the widget')
  }
}

/**
 * The page that Tollgate itself calls about a payment: the checkout's own, or the payment's where the channel
 * lists its origin. A page that only a browser named is never called: strangers would choose the address.
 *
 * @param request of the payment.
 */
export function pageToCall(
  { settings }: Pick<Addressee, 'settings'>,
  checkout: Checkout,
  request: RequestFields,
): string | undefined {
  const own = ownPageOf(checkout)
  // The link of an app opens on a device alone.
  if (own !== undefined) return isWebPage(own) ? own : undefined
  const page = textOf(request, 'shopperResultUrl')
  return page !== undefined && isListed(settings, page) === true ? page : undefined
}
