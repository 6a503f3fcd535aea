/** The demo shop among strangers: notifications that nobody signed, and result addresses in other hands. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { release } from '@tollgate/widget'
import { type DemoShop, openDemoShop } from '../../../host/serve/demo-shop/demo-shop.ts'
import { Notifications, notificationPath } from '../../../host/serve/demo-shop/notifications.ts'
import { type Hosted, startHost } from '../http/hosted.ts'

const card = {
  'card.number': '4200000000000000',
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
  'card.cvv': '123',
}

const signed = (body: string, key: Buffer) => {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', key).update(`evt.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': 'evt',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

describe('the demo shop among strangers', () => {
  let host: Hosted
  let shop: DemoShop
  const own = { url: 'http://127.0.0.1:1' }
  const credentials = () => ({
    baseUrl: host.url,
    entityId: host.channel,
    accessToken: host.token,
  })
  before(async () => {
    host = await startHost({}, { publicUrl: () => own.url, widget: release() })
    own.url = host.url
    shop = await openDemoShop(credentials(), { host: '127.0.0.1', port: 0 })
  })
  after(async () => {
    await shop.close()
    await host.close()
  })

  test('no notification is taken without a secret, whatever signed it', async () => {
    const notifications = new Notifications()
    const body = JSON.stringify({ payload: { ndc: 'checkout' } })
    assert.equal(notifications.take(signed(body, Buffer.alloc(0)), body), false)
    // A refused endpoint has no secret.
    await notifications.subscribe({ ...credentials(), accessToken: 'none' }, 'http://shop.example')
    assert.equal(notifications.take(signed(body, Buffer.alloc(0)), body), false)
    const unsigned = await fetch(shop.url + notificationPath, { method: 'POST', body })
    assert.equal(unsigned.status, 400)
  })

  test('a signed body that is no JSON is refused, and the latest messages are kept', async () => {
    const key = Buffer.from('k'.repeat(32))
    const notifications = new Notifications(key)
    for (const body of ['not json', '', '"text"', 'null']) {
      assert.equal(notifications.take(signed(body, key), body), false, body)
    }
    const take = (ndc: string, no: number) => {
      const body = JSON.stringify({ no, payload: { ndc } })
      assert.equal(notifications.take(signed(body, key), body), true)
    }
    for (let no = 0; no < 60; no += 1) take(`c${no}`, no)
    assert.deepEqual(await notifications.of('c59'), [{ no: 59, payload: { ndc: 'c59' } }])
    assert.deepEqual(await notifications.of('c10'), [{ no: 10, payload: { ndc: 'c10' } }])
    assert.deepEqual(await notifications.of('c9'), [])
    for (let no = 0; no < 7; no += 1) take('one', no)
    const seen = (await notifications.of('one')) as { no: number }[]
    assert.deepEqual(
      seen.map(({ no }) => no),
      [2, 3, 4, 5, 6],
    )
  })

  test('a stored card is kept for the browser that has the checkout, and for no other', async () => {
    const [victim, stranger] = ['a', 'b'].map((sign) => `shopper=${sign.repeat(32)}`) as [
      string,
      string,
    ]
    const open = async (path: string, cookie: string) =>
      (await fetch(shop.url + path, { headers: { cookie } })).text()
    const [, id = ''] = /checkoutId=([\w.-]+)/.exec(await open('/', victim)) ?? []
    const paid = await fetch(`${host.url}/v1/checkouts/${id}/payment`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ nonce: 'v'.repeat(20), createRegistration: 'true', ...card }),
    })
    assert.equal(((await paid.json()) as { state: string }).state, 'paid')
    const result = `/result?id=${id}&resourcePath=/v1/checkouts/${id}/payment`
    await open(result, stranger)
    assert.doesNotMatch(await open('/', stranger), /registrations\[0\]\.id/)
    await open(result, victim)
    assert.match(await open('/', victim), /registrations\[0\]\.id/)
  })
})
