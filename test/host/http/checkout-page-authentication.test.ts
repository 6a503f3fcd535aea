/** The hosted page where shoppers are authenticated: the billing address, and the look at the browser. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { card, pageOf, shop, typed } from './checkout-page.ts'
import { type Hosted, startHost } from './hosted.ts'

describe('the hosted page before an authentication', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({}, { publicUrl: 'https://pay.example' })
    await host.gateway.entities.configure(host.channel, { threeDSecure: 'on' })
  })
  after(() => host.close())
  const { post, checkout, get, tryWith } = pageOf(() => host)
  const address = {
    'billing.street1': 'Main Street 1',
    'billing.postcode': 'SW1A 1AA',
    'billing.city': 'London',
    'billing.country': 'GB',
  }
  const namesIn = (html: string) =>
    [...html.matchAll(/name="(billing\.\w+)~/g)].map(([, name]) => name)

  test('the card form asks for the address that the merchant left empty', async () => {
    const id = await checkout({ 'billing.city': 'Leeds', 'billing.country': 'GB' })
    const { html } = await get(id, '?locale=de')
    assert.deepEqual(namesIn(html), ['billing.street1', 'billing.postcode'])
    assert.match(html, /<legend>Rechnungsadresse<\/legend>/)
    const { location } = await tryWith(id, {
      ...card,
      'billing.street1': ' ',
      'billing.postcode': 'SW1A 1AA',
    })
    assert.equal(location, 'page?method=card&error=billing.street1%3Arequired')
    const again = await get(id, location.slice('page'.length))
    assert.match(again.html, /aria-describedby="card-billing-street1-error" autofocus/)
    assert.match(again.html, /id="card-billing-street1-error">Fill in this field\./)
    assert.doesNotMatch(again.html, /SW1A|Jane/)
    await tryWith(id, { ...card, ...address, 'billing.city': 'London' })
    const paid = (await host.gateway.checkouts.payment(id)) as { billing?: unknown }
    const { 'billing.street1': street1, 'billing.postcode': postcode } = address
    assert.deepEqual(paid.billing, { street1, postcode, city: 'Leeds', country: 'GB' })
  })

  test('countries have the names of the language, in its order', async () => {
    const id = await checkout()
    const { html } = await get(id, '?locale=de')
    assert.deepEqual(namesIn(html).sort(), Object.keys(address).sort())
    const [, list = ''] = /<select id="card-billing-country"[^>]*>(.*?)<\/select>/s.exec(html) ?? []
    const names = [...list.matchAll(/>([^<]+)<\/option>/g)].map(([, name]) => name)
    assert.ok(names.indexOf('Österreich') < names.indexOf('Pakistan') && names.length > 240)
    const wrong = { ...card, ...address, 'billing.street1': '12345' }
    const { location } = await tryWith(id, wrong)
    assert.equal(location, 'page?method=card&error=billing.street1%3Ainvalid')
  })

  test('no other form asks for it, and no registration does', async () => {
    const id = await checkout()
    assert.deepEqual(namesIn((await get(id, '?brands=DIRECTDEBIT_SEPA+PAYPAL')).html), [])
    const registration = await post('/v1/checkouts', { createRegistration: 'true' })
    assert.deepEqual(namesIn((await get(registration.id)).html), [])
  })

  test('the bank looks at the browser in a frame, for ten seconds at most', async () => {
    const id = await checkout({ shopperResultUrl: shop })
    const step = await tryWith(id, { ...card, ...address, 'card.number': '4200000000000042' })
    assert.equal(step.location, 'page')
    const cookie = step.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const { html, headers } = await get(id, '?locale=fr', { cookie })
    assert.equal(headers.get('refresh'), '10;url=page?locale=fr&device=done')
    assert.match(html, /<iframe class="unseen"[^>]* src="page\?locale=fr&#38;device=frame"/)
    assert.match(
      html,
      /<noscript>.*<form method="post" action="https:\/\/pay\.example\/v1\/pages\//s,
    )
    assert.match(html, /href="page\?locale=fr&#38;device=done"/)
    assert.doesNotMatch(html, /<script/)
    assert.match(headers.get('content-security-policy') ?? '', /frame-src 'self' https: http:/)
    const frame = await get(id, '?locale=fr&device=frame', { cookie })
    const [, script = ''] = /<script>(.*)<\/script>/s.exec(frame.html) ?? []
    const hash = createHash('sha256').update(script).digest('base64')
    const policy = frame.headers.get('content-security-policy') ?? ''
    assert.ok(policy.includes(`script-src 'sha256-${hash}'; frame-src https: http:`), policy)
    assert.match(policy, /frame-ancestors 'self'$/)
    assert.equal(frame.headers.get('x-frame-options'), 'SAMEORIGIN')
    const onward = await get(id, '?device=done', { cookie })
    assert.equal(onward.status, 303)
    assert.match(onward.location, /^https:\/\/pay\.example\/v1\/pages\//)
    for (const text of [html, frame.html]) assert.doesNotMatch(text, typed)
  })
})
