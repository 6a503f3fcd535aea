/** Checkouts of tests, and the presses of their shoppers. */
import type { Gateway } from '../../../core/index.ts'
import type { TestGateway } from '../../rig/gateway.ts'

let presses = 0

/** A nonce of its own for every press. */
export const nonce = (): string => {
  presses += 1
  return `press-${String(presses).padStart(12, '0')}`
}

export const cardFields = (number = '4200000000000000') => ({
  number,
  holder: 'Jane Jones',
  expiryMonth: '05',
  expiryYear: '2034',
  cvv: '123',
})

export const shop = 'https://shop.example/thanks?order=7'

export const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }

/** The id of a new checkout of 92.00 EUR. */
export async function newCheckout(
  run: Pick<TestGateway, 'gateway' | 'channel'>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const fields = { entityId: run.channel, shopperResultUrl: shop, ...basket, ...more }
  return (await run.gateway.checkouts.create(fields as never)).id
}

/** A press of the pay button with a card. */
export const press = (gateway: Gateway, id: string, more: Readonly<Record<string, unknown>> = {}) =>
  gateway.checkouts.submit(id, { nonce: nonce(), card: cardFields(), ...more } as never, {
    address: '192.0.2.7',
    accept: 'text/html',
  })

export const pageOf = (id: string, kind = 'payment') =>
  `${shop}&id=${id}&resourcePath=${encodeURIComponent(`/v1/checkouts/${id}/${kind}`)}`
