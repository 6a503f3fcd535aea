/** A shopper without scripts on the hosted page: forms in, redirects and markup out. */
import assert from 'node:assert/strict'
import type { Hosted } from './hosted.ts'

type Fields = Readonly<Record<string, string>>

const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
export const shop = 'https://shop.example/thanks?order=7'
export const card = {
  'card.number': '4200 0000 0000 0000',
  'card.holder': 'Jane Jones',
  expiry: '05 / 34',
  'card.cvv': '123',
}
/** Everything of that card which must not come back. */
export const typed = /4200|0000 ?0000|Jane|05 ?\/ ?34|2034|value="123"/

type Made = { readonly id: string; readonly result: { readonly code: string } }

export const nonceIn = (html: string) => /name="nonce" value="([^"]+)"/.exec(html)?.[1] ?? ''

const summaryOf = ({ status, headers }: Response) => ({
  status,
  headers,
  location: headers.get('location') ?? '',
})

export function pageOf(host: () => Hosted) {
  const post = async (path: string, fields: Fields): Promise<Made> => {
    const response = await fetch(host().url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${host().token}` },
      body: new URLSearchParams(fields),
    })
    return (await response.json()) as Made
  }
  const checkout = async (more: Fields = {}) => {
    const { id, result } = await post('/v1/checkouts', { ...basket, ...more })
    assert.equal(result.code, '000.200.100')
    return id
  }
  const get = async (id: string, query = '', headers: Fields = {}) => {
    const address = `${host().url}/v1/checkouts/${id}/page${query}`
    const response = await fetch(address, { headers, redirect: 'manual' })
    return { ...summaryOf(response), html: await response.text() }
  }
  const send = async (id: string, fields: Fields, query = '') => {
    const response = await fetch(`${host().url}/v1/checkouts/${id}/page${query}`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
    })
    return { ...summaryOf(response), html: await response.text() }
  }
  /** Opens the page, fills the form in and sends it. */
  const tryWith = async (id: string, fields: Fields) => {
    const { html } = await get(id)
    return send(id, { nonce: nonceIn(html), ...fields })
  }
  const payments = (id: string) =>
    host().sql<{ state: string; brand: string }>(
      'select state, brand from tollgate.payment where checkout_id = $1 order by created_at',
      [id],
    )
  return { post, checkout, get, send, tryWith, payments }
}
