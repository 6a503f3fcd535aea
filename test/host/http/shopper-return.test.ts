/** The way back from a bank over HTTP: redirects to the merchant, pages of our own, and nothing in the log. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Hosted, startHost } from './hosted.ts'

type Answer = {
  readonly id: string
  readonly result: { readonly code: string; readonly parameterErrors?: readonly { name: string }[] }
  readonly redirect: { readonly url: string }
}

const shop = 'https://shop.example/thanks?order=7'

describe('shoppers who come back over HTTP', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({}, { publicUrl: 'https://pay.example' })
  })
  after(() => host.close())

  const post = async (fields: Record<string, string>) => {
    const response = await fetch(`${host.url}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.token}` },
      body: new URLSearchParams(fields),
    })
    return { status: response.status, body: (await response.json()) as Answer }
  }
  const read = async (id: string) => {
    const headers = { authorization: `Bearer ${host.token}` }
    const response = await fetch(`${host.url}/v1/payments/${id}`, { headers })
    return (await response.json()) as Answer
  }
  /** A payment whose shopper is at the bank, with the path of the bank's page. */
  const away = async () => {
    const { status, body } = await post({
      amount: '92.00',
      currency: 'EUR',
      paymentType: 'DB',
      paymentBrand: 'PAYPAL',
      'virtualAccount.accountId': 'jane',
      shopperResultUrl: shop,
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.result.code, '000.200.000')
    const { url } = body.redirect
    assert.match(url, /^https:\/\/pay\.example\/v1\/pages\/simulator\/(?:@1\/)?bank\//)
    return { id: body.id, page: url.slice('https://pay.example'.length) }
  }
  /** Presses a button on the bank's page; returns the path of the way back. */
  const press = async (page: string, button: 'approve' | 'cancel') => {
    const sent = await fetch(`${host.url}${page}/${button}`, { method: 'POST', redirect: 'manual' })
    assert.equal(sent.status, 303)
    const back = sent.headers.get('location') ?? ''
    assert.ok(back.startsWith('https://pay.example/v1/return/'), back)
    return back.slice('https://pay.example'.length)
  }
  const location = (id: string) =>
    `https://shop.example/thanks?order=7&id=${id}&resourcePath=%2Fv1%2Fpayments%2F${id}`

  for (const method of ['GET', 'POST'] as const) {
    test(`a shopper who paid comes back by ${method} and goes on to the merchant`, async () => {
      const { id, page } = await away()
      const path = await press(page, 'approve')
      const response = await fetch(`${host.url}${path}`, {
        method,
        redirect: 'manual',
        ...(method === 'POST' ? { body: new URLSearchParams({ PaRes: 'from the bank' }) } : {}),
      })
      assert.equal(response.status, 303)
      assert.equal(response.headers.get('location'), location(id))
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
      assert.equal((await read(id)).result.code, '000.100.110')
    })
  }

  test('a shopper whose bank posts too large a form goes on to the merchant without it', async () => {
    const { id, page } = await away()
    const path = await press(page, 'approve')
    for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
      const response = await fetch(`${host.url}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: `PaRes=${'x'.repeat(70_000)}`,
      })
      assert.equal(response.status, 303)
      assert.equal(response.headers.get('location'), location(id))
    }
    assert.equal((await read(id)).result.code, '000.100.110')
  })

  test('a shopper who comes back without having paid may go to the bank again', async () => {
    const { id, page } = await away()
    // The bank's page holds its way back, signed.
    const [visit = ''] = page.slice(page.lastIndexOf('/') + 1).split('.')
    const { returnUrl } = JSON.parse(Buffer.from(visit, 'base64url').toString('utf8'))
    const path = returnUrl.slice('https://pay.example'.length)
    const response = await fetch(`${host.url}${path}?status=approved`, { redirect: 'manual' })
    assert.equal(response.headers.get('location'), location(id))
    assert.equal((await read(id)).result.code, '000.200.000')
    assert.equal(await press(page, 'approve'), path)
    await fetch(`${host.url}${path}`, { redirect: 'manual' })
    assert.equal((await read(id)).result.code, '000.100.110')
  })

  test('a shopper who cancelled has not paid, whatever the browser says', async () => {
    const { id, page } = await away()
    const path = await press(page, 'cancel')
    const response = await fetch(`${host.url}${path}?status=approved`, { redirect: 'manual' })
    assert.equal(response.headers.get('location'), location(id))
    assert.equal((await read(id)).result.code, '100.396.101')
  })

  test('another token is a plain page with status 404, and no token is in the log', async () => {
    const one = await away()
    const other = await press((await away()).page, 'approve')
    const token = other.slice(other.lastIndexOf('/') + 1)
    const headers = { 'accept-language': 'fr' }
    const response = await fetch(`${host.url}/v1/return/${one.id}/${token}`, { headers })
    assert.equal(response.status, 404)
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.match(await response.text(), /<html lang="fr" dir="ltr">.*Ce paiement n’existe pas/s)
    assert.ok(host.lines.length > 0)
    assert.ok(!JSON.stringify(host.lines).includes(token))
  })

  test('a method that sends the shopper away needs a page to come back to', async () => {
    const { status, body } = await post({
      amount: '92.00',
      currency: 'EUR',
      paymentType: 'DB',
      paymentBrand: 'PAYPAL',
    })
    assert.equal(status, 400)
    assert.deepEqual(
      body.result.parameterErrors?.map(({ name }) => name),
      ['shopperResultUrl'],
    )
  })
})
