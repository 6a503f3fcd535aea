import { bankAccountBrands, brandTitles } from '../../generated/brand-titles.ts'
import { isCardBrand } from '../fields/card-brands.ts'
import { widgetError } from './options.ts'

export type Flow = 'card' | 'bank' | 'redirect'

export type StoredCard = {
  readonly id: string
  readonly brand: string
  readonly last4?: string
  readonly expiryMonth?: string
  readonly expiryYear?: string
  readonly cvv?: 'asked' | 'not'
}

/** A wallet whose sheet may open here, with what it needs to know of the merchant. */
export type OfferedWallet = {
  readonly field: 'applePay' | 'googlePay'
  readonly environment?: string
  readonly gateway?: string
  readonly gatewayMerchantId?: string
  readonly merchantId?: string
  readonly merchantName?: string
  readonly country?: string
}

/** The facts of a checkout that a shopper may see. */
export type Checkout = {
  readonly kind: 'payment' | 'registration'
  readonly amount?: string
  readonly currency?: string
  /** The gateway's word for what is paid: it travels back with a press. */
  readonly shown?: string
  readonly brands: readonly { readonly brand: string; readonly flow: Flow }[]
  readonly wallets?: readonly OfferedWallet[]
  readonly registrations: readonly StoredCard[]
  readonly createRegistration: boolean
  readonly locale?: string
  readonly test: boolean
  /** Whether the checkout names its own result page. */
  readonly result: boolean
  /** Names of fields that the merchant has sent already. */
  readonly merchantFields?: Readonly<Record<string, unknown>> | readonly string[]
  /** Origin of the fields, when it is not the one of the script. */
  readonly fieldsUrl?: string
}

/** Where the script comes from, and which checkout it is for. */
export type Place = {
  /** `https://pay.example/v1` */
  readonly base: string
  readonly checkoutId: string
}

export async function loadCheckout(place: Place, loading: Promise<Response>): Promise<Checkout> {
  let response: Response
  try {
    response = await loading
  } catch (thrown) {
    throw widgetError('WidgetError', `The gateway ${place.base} cannot be reached: ${thrown}`)
  }
  if (response.status === 404 || response.status === 400 || response.status === 410) {
    throw widgetError(
      'InvalidCheckoutIdError',
      `The checkout ${place.checkoutId.slice(0, 8)}… is unknown, expired or closed`,
    )
  }
  if (!response.ok) throw widgetError('WidgetError', `The gateway answered ${response.status}`)
  return (await response.json()) as Checkout
}

/** What the merchant changed since: the amount, or whether anything is paid. False without an answer. */
export async function renewTerms(place: Place, checkout: Checkout): Promise<boolean> {
  try {
    const response = await fetch(`${wholePlace(place)}/widget`, {
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      headers: { Accept: 'application/json' },
    })
    if (!response.ok) return false
    const { kind, amount, currency, shown } = (await response.json()) as Checkout
    Object.assign(checkout, { kind, amount, currency, shown })
    return true
  } catch {
    return false
  }
}

export const titleOf = (code: string) => brandTitles[code] ?? code

/** How a brand is paid with: as the checkout says, else as the tables say. */
export function flowOf(checkout: Checkout, code: string): Flow | null {
  const known = checkout.brands.find(({ brand }) => brand === code)
  if (known !== undefined) return known.flow
  if (checkout.brands.length > 0) return null
  if (isCardBrand(code)) return 'card'
  return bankAccountBrands.includes(code) ? 'bank' : 'redirect'
}

export function merchantSent(checkout: Checkout, name: string): boolean {
  const { merchantFields = [] } = checkout
  return Array.isArray(merchantFields) ? merchantFields.includes(name) : name in merchantFields
}

export const wholePlace = ({ base, checkoutId }: Place) =>
  `${base}/checkouts/${encodeURIComponent(checkoutId)}`
