/** The server of a merchant, as far as a payment needs one: two requests to the gateway. */
import type { Credentials } from '../demo.ts'

export type Fields = Readonly<Record<string, string>>

/** A request with its response, to be shown. */
export type Exchange = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly fields: Fields
  readonly status: number
  readonly answer: Answer
}
export type Answer = {
  readonly id?: string
  readonly integrity?: string
  readonly result?: { readonly code: string; readonly description: string }
  readonly [name: string]: unknown
}

export async function ask(
  { baseUrl, entityId, accessToken }: Credentials,
  method: Exchange['method'],
  path: string,
  given: Fields = {},
): Promise<Exchange> {
  const fields = { entityId, ...given }
  const text = new URLSearchParams(fields)
  const response = await fetch(method === 'POST' ? baseUrl + path : `${baseUrl}${path}?${text}`, {
    method,
    headers: { Authorization: `Bearer ${accessToken}` },
    ...(method === 'POST' ? { body: text } : {}),
  })
  const answer = (await response.json()) as Answer
  return { method, path, fields, status: response.status, answer }
}

/** The one product of the shop. */
export const product = { name: 'Harbour lamp', price: '92.00', currency: 'EUR' } as const

/** The address on the order. Without it, the gateway's own page would ask the shopper for it. */
const billing = {
  'billing.street1': 'Harbour Street 1',
  'billing.postcode': '10115',
  'billing.city': 'Berlin',
  'billing.country': 'DE',
} as const

/** The brands of the shop, in the order of the form. */
export const brands = ['VISA', 'MASTER', 'AMEX', 'PAYPAL'] as const

/** A checkout for the product. Its id goes into the page; the access token never leaves the server. */
export function prepareCheckout(
  credentials: Credentials,
  more: Fields,
  registrations: readonly string[],
): Promise<Exchange> {
  const stored = registrations.map((id, at): [string, string] => [`registrations[${at}].id`, id])
  return ask(credentials, 'POST', '/v1/checkouts', {
    amount: product.price,
    currency: product.currency,
    paymentType: 'DB',
    integrity: 'true',
    ...billing,
    ...Object.fromEntries(stored),
    ...more,
  })
}

/**
 * The result, read by the path that the shopper brought back. Only a path of a checkout is asked for: the address
 * comes from the browser.
 */
export async function readResult(
  credentials: Credentials,
  resourcePath: string | null,
): Promise<Exchange | undefined> {
  if (
    resourcePath === null ||
    !/^\/v1\/checkouts\/[A-Za-z0-9.-]+\/(payment|registration)$/.test(resourcePath)
  ) {
    return undefined
  }
  return ask(credentials, 'GET', resourcePath)
}
