/** The hosted page over HTTP: every post is answered by a redirect, and nothing that a shopper typed comes back. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { languageCodes, tagOf } from '../../../plugins/widget/texts/languages.ts'
import type { Texts } from '../../../plugins/widget/texts/types.ts'
import { workedMs } from '../../rig/worked.ts'
import { card, nonceIn, pageOf, shop, typed } from './checkout-page.ts'
import { type Hosted, startHost } from './hosted.ts'

describe('the hosted page of a checkout', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({}, { publicUrl: 'https://pay.example' })
  })
  after(() => host.close())

  const { post, checkout, get, send, tryWith, payments } = pageOf(() => host)

  test('has no scripts, its own policy, and is never kept or framed', async () => {
    const { status, headers, html } = await get(await checkout())
    assert.equal(status, 200)
    const css = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? ''
    const hash = createHash('sha256').update(css).digest('base64')
    assert.equal(
      headers.get('content-security-policy'),
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'self' https: http:; frame-ancestors 'none'`,
    )
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.doesNotMatch(html, /<script|javascript:| on[a-z]+=| style="/i)
    assert.match(html, /€92\.00/)
    for (const name of ['cc-number', 'cc-exp', 'cc-csc', 'cc-name']) {
      assert.match(html, new RegExp(`autocomplete="${name}"`))
    }
  })

  test('a paid checkout leads to the merchant, whichever way the page is opened', async () => {
    const id = await checkout({ shopperResultUrl: shop })
    const { status, location, html } = await tryWith(id, card)
    assert.equal(status, 303)
    const onward = `https://shop.example/thanks?order=7&id=${id}&resourcePath=%2Fv1%2Fcheckouts%2F${id}%2Fpayment`
    assert.equal(location, onward)
    assert.equal(html, '')
    assert.deepEqual(await payments(id), [{ state: 'approved', brand: 'VISA' }])
    const again = await get(id)
    assert.equal(again.status, 303)
    assert.equal(again.location, onward)
  })

  test('without a page of the merchant the page says that it is paid', async () => {
    const id = await checkout()
    assert.equal((await tryWith(id, card)).location, 'page')
    assert.match((await get(id)).html, /Your payment was successful\./)
    assert.match((await get(id, '?locale=de')).html, /Ihre Zahlung war erfolgreich\./)
  })

  test('a payment that only the acquirer can finish has a link to the shop', async () => {
    const pending = { ...card, 'card.holder': '800.400.500' }
    const id = await checkout({ shopperResultUrl: shop })
    assert.equal((await tryWith(id, pending)).location, 'page')
    const { html, headers } = await get(id)
    assert.match(html, /Your payment is being processed/)
    const page = `${shop}&id=${id}&resourcePath=%2Fv1%2Fcheckouts%2F${id}%2Fpayment`
    assert.ok(
      html.includes(`<a href="${page.replaceAll('&', '&#38;')}">Back to the shop</a>`),
      html,
    )
    assert.equal(headers.get('refresh'), '5', 'the page looks again by itself')
    assert.doesNotMatch(html, /Use another payment method/)
    assert.match((await get(id, '?other=1')).html, /Your payment is being processed/)
    const refused = await send(id, { nonce: 'another-press-of-a-button', ...card })
    assert.equal(refused.location, 'page?outcome=busy')
    assert.match((await get(id, '?outcome=busy')).html, /This payment is already under way/)
    assert.equal((await payments(id)).length, 1)
    const alone = await checkout()
    await tryWith(alone, pending)
    assert.doesNotMatch((await get(alone)).html, /Back to the shop/)
  })

  test('names the shop and its order, as text', async () => {
    const named = { 'merchant.name': 'Bits & <b>Bobs', merchantTransactionId: 'order<7>' }
    const { html } = await get(await checkout(named))
    assert.match(
      html,
      /<p class="merchant"><bdi>Bits &#38; &#60;b&#62;Bobs<\/bdi><small><bdi>order&#60;7&#62;</,
    )
    const plain = (await get(await checkout())).html
    assert.doesNotMatch(plain, /class="merchant"/)
  })

  test('offers a few brands with pages of their own unless the address names some, and none without a page to return to', async () => {
    const buttonsIn = (html: string) =>
      [...html.matchAll(/>Pay with ([^<]+)</g)].map(([, name]) => name)
    const id = await checkout({ shopperResultUrl: shop })
    assert.deepEqual(buttonsIn((await get(id)).html), ['PayPal', 'iDEAL', 'Sofort'])
    assert.deepEqual(buttonsIn((await get(id, '?brands=TWINT+PAYPAL')).html), ['TWINT', 'PayPal'])
    assert.deepEqual(buttonsIn((await get(await checkout(), '?brands=PAYPAL')).html), [])
  })

  test('the paths without a version do the same', async () => {
    const id = await checkout()
    const response = await fetch(`${host.url}/checkouts/${id}/page`)
    assert.equal(response.status, 200)
    assert.match(await response.text(), /action="page"/)
  })

  test('wrong fields are named beside them, and nothing typed comes back', async () => {
    const id = await checkout()
    const wrong = { ...card, 'card.number': '4200 0000 0000 0001', expiry: '05 / 20' }
    const { status, location } = await tryWith(id, wrong)
    assert.equal(status, 303)
    assert.match(location, /^page\?method=card&error=card\.number%3Ainvalid/)
    assert.doesNotMatch(location, typed)
    const { html } = await get(id, location.slice('page'.length))
    assert.match(html, /id="card-card-number"[^>]*aria-invalid="true"/)
    assert.match(html, /aria-describedby="card-card-number-error"[^>]*autofocus/)
    assert.match(html, /id="card-card-number-error">Check the card number\.</)
    assert.match(html, /role="alert">Please check your entries\.</)
    assert.doesNotMatch(html, typed)
    assert.deepEqual(await payments(id), [])
  })

  test('an expired card, a missing name and an unreadable date have words of their own', async () => {
    const id = await checkout()
    for (const [fields, error] of [
      [{ ...card, expiry: '05/20' }, 'This card has expired.'],
      [{ ...card, expiry: 'soon' }, 'Enter month and year, for example 08 / 30.'],
      [{ ...card, expiry: '' }, 'Enter month and year, for example 08 / 30.'],
      [{ ...card, 'card.number': '' }, 'Check the card number.'],
      [{ ...card, 'card.cvv': '12' }, 'Check the security code.'],
      [{ ...card, 'card.holder': '' }, 'Enter the name as printed on the card.'],
      [{ ...card, 'card.holder': '4200 0000 0000 0000' }, 'Enter a name here, not a card number.'],
    ] as const) {
      const { location } = await tryWith(id, fields)
      assert.match(location, /error=/, JSON.stringify(fields))
      assert.doesNotMatch(location, /4200(?:%20|\W)*0000/)
      const { html } = await get(id, location.slice('page'.length))
      assert.ok(html.includes(error), `${error} ${location}`)
    }
    assert.deepEqual(await payments(id), [])
  })

  test('everything that is wrong with a card is named at once, in the order of the page', async () => {
    const id = await checkout()
    const wrongIn = async (fields: Readonly<Record<string, string>>) => {
      const { location } = await tryWith(id, { ...card, ...fields })
      return new URL(location, 'http://page').searchParams.getAll('error')
    }
    const all = { 'card.number': '4200000000000001', expiry: '05/20', 'card.cvv': '1234' }
    assert.deepEqual(await wrongIn({ ...all, 'card.holder': '' }), [
      'card.number:invalid',
      'card.expiryYear:expired',
      'card.cvv:invalid',
      'card.holder:required',
    ])
    assert.deepEqual(await wrongIn({ expiry: 'soon', 'card.holder': '4200000000000000' }), [
      'card.expiryMonth:invalid',
      'card.holder:digits',
    ])
    const amex = { 'card.number': '377777777777770', 'card.cvv': '123' }
    assert.deepEqual(await wrongIn(amex), ['card.cvv:invalid'])
    assert.deepEqual(await payments(id), [])
  })

  test('a card of a brand that the address left out is refused, with everything else', async () => {
    const id = await checkout()
    const amex = { ...card, 'card.number': '377777777777770' }
    const { html } = await get(id, '?brands=VISA+MASTER')
    const nonce = nonceIn(html)
    const { location } = await send(id, { nonce, ...amex }, '?brands=VISA+MASTER')
    assert.match(location, /&error=paymentBrand%3Ainvalid&error=card\.cvv%3Ainvalid$/)
    const shown = await get(id, location.slice('page'.length))
    assert.match(
      shown.html,
      /id="card-card-number-error">This type of card is not accepted here\.</,
    )
    const chosen = { ...amex, 'card.cvv': '1234', paymentBrand: 'AMEX' }
    const named = await send(id, { nonce, ...chosen }, '?brands=VISA+MASTER')
    assert.match(named.location, /&error=paymentBrand%3Ainvalid$/)
    assert.deepEqual(await payments(id), [])
    await send(id, { nonce, ...card }, '?brands=CARTEBANCAIRE')
    assert.deepEqual(await payments(id), [{ state: 'approved', brand: 'CARTEBANCAIRE' }])
  })

  test('dates and digits are read as shoppers write them', async () => {
    for (const expiry of ['0534', '5/34', '05-2034', '2034-05', '٠٥/٣٤', '05/34']) {
      const id = await checkout()
      const number = '4200-0000.0000 0000'
      assert.equal((await tryWith(id, { ...card, expiry, 'card.number': number })).location, 'page')
      assert.equal((await payments(id))[0]?.state, 'approved', expiry)
    }
  })

  test('an amount that changed while the page was open is shown before it is charged', async () => {
    const id = await checkout({ shopperResultUrl: shop })
    const { html } = await get(id)
    const shown = /name="shown" value="([^"]+)"/.exec(html)?.[1] ?? ''
    assert.equal(shown, '92.00 EUR')
    await post(`/v1/checkouts/${id}`, { amount: '95.00', currency: 'EUR' })
    const sent = await send(id, { nonce: nonceIn(html), shown, ...card })
    assert.equal(sent.location, 'page?method=card&outcome=changed')
    assert.deepEqual(await payments(id), [])
    const again = await get(id, '?method=card&outcome=changed')
    assert.match(again.html, /The amount has changed/)
    assert.match(again.html, /Pay €95\.00/)
    // A page of an older version says nothing about what it shows.
    assert.equal((await send(id, { nonce: nonceIn(again.html), ...card })).status, 303)
    assert.equal((await payments(id)).length, 1)
  })

  test('a declined card can be followed by another, and the shopper learns no code', async () => {
    const id = await checkout()
    const { location } = await tryWith(id, { ...card, 'card.number': '4000000000000002' })
    assert.equal(location, 'page?method=card&outcome=declined')
    const { html } = await get(id, location.slice('page'.length))
    assert.match(html, /The payment was not accepted\./)
    assert.doesNotMatch(html, /800\.100/)
    await tryWith(id, { ...card, 'card.number': '5555555555554444' })
    assert.deepEqual(await payments(id), [
      { state: 'declined', brand: 'VISA' },
      { state: 'approved', brand: 'MASTER' },
    ])
  })

  test('a form that is sent twice pays once', async () => {
    const id = await checkout()
    const nonce = nonceIn((await get(id)).html)
    const both = await Promise.all([send(id, { nonce, ...card }), send(id, { nonce, ...card })])
    for (const { status, location } of both) {
      assert.equal(status, 303)
      assert.equal(location, 'page')
    }
    assert.equal((await payments(id)).length, 1)
  })

  test('a stored card asks for its security code alone', async () => {
    const stored = await post('/v1/registrations', {
      paymentBrand: 'VISA',
      'card.number': '4200000000000000',
      'card.holder': 'Jane Jones',
      'card.expiryMonth': '05',
      'card.expiryYear': '2034',
    })
    const id = await checkout({ 'registrations[0].id': stored.id })
    const { html } = await get(id)
    assert.match(html, /<details name="method" open><summary><span>Visa ending in 0000/)
    assert.match(html, /Expires 05\/34/)
    const missing = await tryWith(id, { registrationId: stored.id, 'card.cvv': '' })
    assert.equal(missing.location, `page?method=${stored.id}&error=card.cvv%3Arequired`)
    for (const registrationId of ['0'.repeat(32), 'https://evil.example/', 'card\r\nx']) {
      const foreign = await tryWith(id, { registrationId, 'card.cvv': '' })
      assert.equal(foreign.location, 'page?method=card&error=card.cvv%3Arequired')
    }
    const shown = await get(id, missing.location.slice('page'.length))
    assert.match(shown.html, new RegExp(`id="${stored.id}-card-cvv-error"`))
    await tryWith(id, { registrationId: stored.id, 'card.cvv': '123' })
    assert.equal((await payments(id))[0]?.state, 'approved')
  })

  test('a bank account is debited', async () => {
    const id = await checkout()
    assert.match((await get(id)).html, /SEPA direct debit/)
    const account = { paymentBrand: 'DIRECTDEBIT_SEPA', 'bankAccount.holder': 'Jane Jones' }
    const wrong = await tryWith(id, {
      ...account,
      'bankAccount.iban': 'DE89 3704 0044 0532 0130 01',
    })
    assert.match(wrong.location, /^page\?method=bank&error=bankAccount\.iban%3Ainvalid/)
    await tryWith(id, { ...account, 'bankAccount.iban': 'DE89 3704 0044 0532 0130 00' })
    assert.deepEqual(await payments(id), [{ state: 'approved', brand: 'DIRECTDEBIT_SEPA' }])
  })

  test('a brand with a page of its own leads there, and only the browser that pressed', async () => {
    const id = await checkout({ shopperResultUrl: shop })
    const { status, location, headers } = await tryWith(id, { paymentBrand: 'PAYPAL' })
    assert.equal(status, 303)
    assert.match(location, /^https:\/\/pay\.example\/v1\/pages\//)
    const kept = headers.get('set-cookie') ?? ''
    assert.match(kept, /^tollgate-press=[\w-]{16,64}; Max-Age=1800; HttpOnly; SameSite=Lax$/)
    const cookie = kept.split(';', 1)[0]!
    const { html } = await get(id, '', { cookie })
    assert.match(html, /Your bank asks you to confirm the payment\./)
    assert.match(html, /<a class="button" href="https:\/\/pay\.example\/v1\/pages\//)
    assert.match(html, /href="page\?other=1"/)
    assert.match((await get(id, '?other=1', { cookie })).html, /name="card\.number~/)
    for (const other of [{}, { cookie: `tollgate-press=${'a'.repeat(32)}` }]) {
      const shown = await get(id, '', other)
      assert.doesNotMatch(shown.html, /v1\/pages/)
      assert.match(shown.html, /href="page\?other=1"/)
    }
    const pressed = await send(id, { nonce: 'n'.repeat(16), paymentBrand: 'PAYPAL' })
    assert.notEqual(pressed.location, location)
  })

  test('blanks around the number of a press are no part of it', async () => {
    const id = await checkout({ shopperResultUrl: shop })
    const { html } = await get(id)
    const sent = await send(id, { nonce: ` ${nonceIn(html)}\r\n`, paymentBrand: 'PAYPAL' })
    assert.equal(sent.status, 303)
    assert.match(
      sent.headers.get('set-cookie') ?? '',
      new RegExp(`^tollgate-press=${nonceIn(html)};`),
    )
  })

  test('a page of a bank without a method is opened by GET', async () => {
    const id = await checkout({ shopperResultUrl: shop })
    const press = { nonce: 'without-a-method', paymentBrand: 'PAYPAL' }
    const { location, headers } = await send(id, press)
    await host.sql(
      "update tollgate.payment set answer = answer #- '{redirect,method}' where checkout_id = $1",
      [id],
    )
    assert.equal((await send(id, press)).location, location)
    const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const { html } = await get(id, '', { cookie })
    assert.match(html, /<a class="button" href="https:\/\/pay\.example\/v1\/pages\//)
    assert.doesNotMatch(html, /<form method="post" action="https:/)
    assert.equal((await get(id, '?device=done', { cookie })).location, location)
  })

  for (const [currency, amount, shown] of [
    ['HUF', '1234.56', 'HUF\u00a01,234.56'],
    ['IQD', '9.25', 'IQD\u00a09.25'],
    ['HUF', '1234.00', 'HUF\u00a01,234'],
    ['JPY', '92.00', '¥92'],
    ['KWD', '9.25', 'KWD\u00a09.250'],
  ] as const) {
    test(`${amount} ${currency} is shown as it is charged`, async () => {
      const id = await checkout({ amount, currency })
      const { html } = await get(id, '?locale=en')
      assert.ok(html.includes(`<bdi>${shown}</bdi>`), /<bdi>.*?<\/bdi>/.exec(html)?.[0])
    })
  }

  test('a registration is stored', async () => {
    const { id } = await post('/v1/checkouts', { createRegistration: 'true' })
    const { html } = await get(id)
    assert.match(html, /<h1 class="alone">Save a payment method<\/h1>/)
    assert.match(html, /<button>Save<\/button>/)
    await tryWith(id, card)
    assert.match((await get(id)).html, /Your payment method was saved\./)
  })

  test('the shopper decides whether the card is kept, unless the merchant has', async () => {
    const kept = async (id: string) => {
      const rows = await host.sql<{ state: string }>(
        'select p.state from tollgate.registration r join tollgate.payment p on p.id = r.payment_id where p.checkout_id = $1',
        [id],
      )
      return rows.map(({ state }) => state)
    }
    const id = await checkout()
    const { html } = await get(id)
    assert.equal(html.match(/type="checkbox"[^>]*name="createRegistration~/g)?.length, 2)
    assert.doesNotMatch(html, / checked/)
    const nonce = nonceIn(html)
    await send(id, { nonce, ...card, [`createRegistration~${nonce.slice(-8)}`]: 'true' })
    assert.deepEqual(await kept(id), ['approved'])
    const other = await checkout()
    await tryWith(other, card)
    assert.deepEqual(await kept(other), [])
    for (const createRegistration of ['true', 'false']) {
      const decided = await checkout({ createRegistration })
      assert.doesNotMatch((await get(decided)).html, /createRegistration/)
      await tryWith(decided, { ...card, createRegistration: 'true' })
      assert.deepEqual(await kept(decided), createRegistration === 'true' ? ['approved'] : [])
    }
  })

  test('a card with two brands is paid as the shopper chooses', async () => {
    const query = '?brands=VISA+AMEX+CARTEBANCAIRE'
    for (const [chosen, paid] of [
      ['CARTEBANCAIRE', 'CARTEBANCAIRE'],
      ['', 'VISA'],
    ] as const) {
      const id = await checkout()
      const { html } = await get(id, query)
      const [, options = ''] =
        /<select id="card-paymentBrand"[^>]*>(.*?)<\/select>/s.exec(html) ?? []
      assert.deepEqual(
        [...options.matchAll(/value="(\w*)"/g)].map(([, value]) => value),
        ['', 'CARTEBANCAIRE'],
      )
      await send(id, { nonce: nonceIn(html), ...card, paymentBrand: chosen }, query)
      assert.deepEqual(await payments(id), [{ state: 'approved', brand: paid }])
    }
    assert.doesNotMatch((await get(await checkout(), '?brands=VISA+MASTER')).html, /<select/)
    const id = await checkout()
    const amex = { ...card, 'card.number': '3777 777777 77770', 'card.cvv': '1234' }
    const { html } = await get(id, query)
    const wrong = { nonce: nonceIn(html), ...amex, paymentBrand: 'CARTEBANCAIRE' }
    assert.match((await send(id, wrong, query)).location, /&error=card\.number%3Ainvalid/)
  })

  test('every language is spoken: by the address, the checkout, the browser', async () => {
    const id = await checkout()
    for (const code of languageCodes) {
      const path = `../../../plugins/widget/texts/${code}.ts`
      const { default: texts } = (await import(path)) as { default: Texts }
      const { html } = await get(id, `?locale=${code}`)
      const direction = code === 'ar' ? 'rtl' : 'ltr'
      assert.ok(html.includes(`<html lang="${tagOf(code)}" dir="${direction}">`), code)
      assert.ok(html.includes(`<title>${texts.page.title}</title>`), code)
      assert.ok(html.includes(texts.labels.cardNumber), code)
      assert.match(html, /92[.,]00/, code)
      const byBrowser = await get(id, '', { 'accept-language': `${tagOf(code)};q=0.9, en;q=0.1` })
      assert.ok(byBrowser.html.includes(`<html lang="${tagOf(code)}"`), code)
    }
    const french = await checkout({ locale: 'fr_FR' })
    assert.match((await get(french, '', { 'accept-language': 'de' })).html, /lang="fr"/)
    assert.match((await get(french, '?locale=se')).html, /lang="sv"/)
  })

  test('the address chooses brands, and keeps them with the language', async () => {
    const id = await checkout({ shopperResultUrl: shop })
    const query = '?locale=de&brands=VISA+PAYPAL'
    const { html } = await get(id, query)
    assert.match(html, /Mit PayPal bezahlen/)
    assert.doesNotMatch(html, /Bankkonto|Mit iDEAL/)
    const nonce = nonceIn(html)
    const { location } = await send(id, { nonce, ...card, 'card.number': '1' }, query)
    assert.match(location, /^page\?locale=de&brands=VISA\+PAYPAL&method=card&error=/)
  })

  test('a long address makes no long page, and slow text no slow answer', async () => {
    const id = await checkout({ shopperResultUrl: shop })
    const plain = (await get(id)).html.length
    const { html } = await get(id, `?brands=${'PAYPAL,'.repeat(2_000)}`)
    assert.equal(html.match(/<form/g)?.length, 1)
    const copied = await get(id, `?locale=${'y'.repeat(7_000)}&x=${'y'.repeat(7_000)}`)
    assert.ok(html.length < plain, `${html.length} ${plain}`)
    assert.ok(copied.html.length < plain + 5_000, `${copied.html.length} ${plain}`)
    const started = workedMs()
    const expiry = `1${' '.repeat(15_000)}x`
    for (let count = 0; count < 20; count += 1) await send(id, { nonce: 'n'.repeat(16), expiry })
    assert.ok(workedMs() - started < 5_000)
  })

  test('a page that only a browser named is no way on', async () => {
    const planted = { resultUrl: 'https://evil.example/', origin: 'https://evil.example' }
    const fields = { ...card, 'card.expiryMonth': '05', 'card.expiryYear': '2034' }
    const { expiry: _, ...submitted } = { ...fields, 'card.number': '4200000000000000' }
    const id = await checkout()
    const reply = await post(`/v1/checkouts/${id}/payment`, {
      ...submitted,
      ...planted,
      nonce: 'planted-planted-planted',
    })
    assert.equal((reply as unknown as { state: string }).state, 'paid')
    const { status, html } = await get(id)
    assert.equal(status, 200)
    assert.doesNotMatch(html, /evil/)
    assert.equal((await send(id, { nonce: 'n'.repeat(16), ...card })).location, 'page')
  })

  test('nothing in an address becomes markup', async () => {
    const id = await checkout()
    const evil = encodeURIComponent('"><script>alert(1)</script>')
    for (const name of ['locale', 'brands', 'method', 'outcome', 'error', 'other', 'x']) {
      const { html } = await get(id, `?${name}=${evil}`)
      assert.doesNotMatch(html, /<script>|"><script/, name)
    }
    assert.doesNotMatch((await get(id, `?error=${evil}:invalid`)).html, /alert\(1\)"/)
  })

  test('unknown and removed checkouts say so, in the language of the browser', async () => {
    for (const id of [`${'AB12'.repeat(8)}.node`, 'nonsense']) {
      const { status, html } = await get(id, '', { 'accept-language': 'it' })
      assert.equal(status, 404)
      assert.match(html, /Questo pagamento non esiste/)
      assert.equal((await send(id, { nonce: '0123456789abcdef', ...card })).location, 'page')
    }
    const id = await checkout()
    await fetch(`${host.url}/v1/checkouts/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${host.token}` },
    })
    assert.match((await get(id)).html, /This payment can no longer be made\./)
  })

  test('no log line has a number, a name or the id of a checkout', () => {
    const text = JSON.stringify([host.lines, host.logs])
    assert.doesNotMatch(text, /4200 ?0000|Jane Jones|[0-9A-F]{32}\./)
  })
})
