/** The hosted page and the pages of the simulated bank in every language: no barrier, no word of English. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { release } from '@tollgate/widget'
import type { Page } from 'playwright-core'
import { languageCodes, tagOf } from '../../plugins/widget/texts/languages.ts'
import { type Hosted, startHost } from '../host/http/hosted.ts'
import { barriersOf, leftInEnglish, textsOf } from './support/barriers.ts'
import { newContext } from './support/browser.ts'

type Fields = Readonly<Record<string, string>>
type View = { readonly name: string; readonly address: (code: string) => string }

/** Brands and words that languages share. */
const names = new Set(['Mastercard', 'PayPal', 'IBAN', 'MM / YY', 'TEST'])
const same: Readonly<Record<string, readonly string[]>> = {
  nl: ['Postcode'],
  ro: ['Card'],
}

const card = {
  'card.number': '4200000000000000',
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
  'card.cvv': '123',
}

describe('pages of shoppers in every language', () => {
  let host: Hosted
  let page: Page
  before(async () => {
    let origin: string | undefined
    host = await startHost({}, { widget: release(), publicUrl: () => origin })
    origin = host.url
    await host.gateway.entities.configure(host.channel, { threeDSecure: 'on' })
    page = await (await newContext({ viewport: { width: 320, height: 640 } })).newPage()
  })
  after(async () => {
    await page?.context().close()
    await host?.close()
  })

  const post = async (path: string, fields: Fields) => {
    const response = await fetch(host.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.token}` },
      body: new URLSearchParams(fields),
    })
    return (await response.json()) as { id: string; redirect?: { url: string } }
  }
  const checkout = async (more: Fields = {}) => {
    const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
    return (await post('/v1/checkouts', { ...basket, ...more })).id
  }
  /** Pays as a browser does. */
  const submit = (id: string, fields: Fields) =>
    post(`/v1/checkouts/${id}/payment`, {
      nonce: `nonce-${id}`.slice(0, 40).replace('.', '-'),
      ...fields,
    })
  const hosted =
    (id: string, query = '') =>
    (code: string) =>
      `${host.url}/v1/checkouts/${id}/page?locale=${code}${query}`
  const inLanguage = (address: string) => (code: string) =>
    `${address}?lang=${encodeURIComponent(tagOf(code as 'en'))}`

  /** Every language of a view: its barriers, and its texts beside those of English. */
  const judge = async ({ name, address }: View) => {
    let english: readonly string[] = []
    for (const code of languageCodes) {
      await page.goto(address(code))
      await page.evaluate(() => {
        for (const part of document.querySelectorAll('details')) {
          // Parts of one name exclude each other.
          part.removeAttribute('name')
          part.open = true
        }
      })
      assert.equal(await page.locator('html').getAttribute('lang'), tagOf(code), `${name} ${code}`)
      const look = { isAlone: true, areColoursKnown: code !== 'en' }
      assert.deepEqual(await barriersOf(page, look), [], `${name} ${code}`)
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      assert.ok(width <= 320, `${name} ${code} is ${width} pixels wide`)
      const texts = await textsOf(page, 'body')
      if (code === 'en') english = texts
      else {
        const left = leftInEnglish(texts, english, new Set([...names, ...(same[code] ?? [])]))
        assert.deepEqual(left, [], `${name} ${code}`)
      }
    }
    assert.ok(english.length > 2, `${name}: ${english}`)
  }

  test('the hosted page, with every form and every message beside a field', async () => {
    const stored = await post('/v1/registrations', {
      paymentBrand: 'VISA',
      ...card,
      'card.cvv': '',
    })
    const id = await checkout({ 'registrations[0].id': stored.id })
    const brands = '&brands=VISA+MASTER+CARTEBANCAIRE+DIRECTDEBIT_SEPA+PAYPAL'
    const faults = [
      ...['card.number:invalid', 'card.cvv:required', 'card.holder:required'],
      ...['card.expiryMonth:expired', 'billing.street1:required', 'billing.country:invalid'],
    ]
    const wrong = faults.map((fault) => `&error=${fault}`).join('')
    await judge({ name: 'card', address: hosted(id, `${brands}&method=card${wrong}`) })
    const ofBank = '&method=bank&error=bankAccount.iban:invalid&error=bankAccount.holder:required'
    const onlyBank = '&brands=DIRECTDEBIT_SEPA'
    await judge({ name: 'bank', address: hosted(await checkout(), onlyBank + ofBank) })
    await judge({ name: 'declined', address: hosted(id, '&brands=PAYPAL&outcome=declined') })
  })

  test('the hosted page before and after a payment', async () => {
    const leaving = await checkout({ shopperResultUrl: 'https://shop.example/thanks' })
    await submit(leaving, { paymentBrand: 'PAYPAL' })
    await judge({ name: 'leaving', address: hosted(leaving) })
    const device = await checkout({ shopperResultUrl: 'https://shop.example/thanks' })
    await submit(device, { ...card, 'card.number': '4200000000000042' })
    // The frame of the bank would take the page on.
    await page.route(/device=frame/, (route) =>
      route.fulfill({ body: '<!doctype html><title>-</title>' }),
    )
    await judge({ name: 'device', address: hosted(device) })
    const paid = await checkout()
    await submit(paid, card)
    await judge({ name: 'paid', address: hosted(paid) })
    await judge({ name: 'unknown', address: hosted(`${'AB12'.repeat(8)}.node`) })
  })

  test('the page on which the bank asks for a code', async () => {
    const id = await checkout({ shopperResultUrl: 'https://shop.example/thanks' })
    const { redirect } = await submit(id, { ...card, 'card.number': '4200000000000018' })
    const address = inLanguage(redirect!.url)
    const say = (form: Fields) =>
      fetch(redirect!.url, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(form),
      })
    await judge({ name: 'code', address })
    await say({ code: '99' })
    await judge({ name: 'wrong code', address })
    await say({ do: 'cancel' })
    await judge({ name: 'cancelled', address })
  })

  test('the page on which the bank asks for a payment', async () => {
    const id = await checkout({ shopperResultUrl: 'https://shop.example/thanks' })
    const { redirect } = await submit(id, { paymentBrand: 'PAYPAL' })
    await judge({ name: 'bank', address: inLanguage(redirect!.url) })
  })
})
