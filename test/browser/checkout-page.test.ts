/** The hosted page in a real browser: without scripts, in every state without barriers. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { release } from '@tollgate/widget'
import type { Page } from 'playwright-core'
import { type Hosted, startHost } from '../host/http/hosted.ts'
import { barriersOf } from '../rig/barriers.ts'
import { sampled } from '../rig/scope.ts'
import { newContext } from './support/browser.ts'
import { serve } from './support/servers.ts'

type Fields = Readonly<Record<string, string>>
const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }

describe('the hosted page in a browser', () => {
  let host: Hosted
  let shop: Awaited<ReturnType<typeof serve>>
  before(async () => {
    let origin: string | undefined
    host = await startHost({}, { widget: release(), publicUrl: () => origin })
    origin = host.url
    await host.gateway.entities.configure(host.channel, { threeDSecure: 'on' })
    shop = await serve('localhost', () => ({
      headers: { 'Content-Type': 'text/html' },
      body: '<!doctype html><html lang="en"><title>Shop</title><h1>Back in the shop</h1></html>',
    }))
  })
  after(async () => {
    await shop?.close()
    await host?.close()
  })

  const post = async (path: string, fields: Fields): Promise<{ id: string }> => {
    const response = await fetch(host.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.token}` },
      body: new URLSearchParams(fields),
    })
    return (await response.json()) as { id: string }
  }
  const checkout = async (more: Fields = {}) =>
    (await post('/v1/checkouts', { ...basket, ...more })).id
  const addressOf = (id: string, query = '?brands=VISA+MASTER') =>
    `${host.url}/v1/checkouts/${id}/page${query}`
  const open = async (options: Parameters<typeof newContext>[0] = {}) => {
    const context = await newContext(options)
    const page = await context.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    return { context, page, said }
  }
  const fill = async (page: Page, number: string) => {
    await page.getByLabel('Card number').fill(number)
    await page.getByLabel('Expiry date').fill('05/34')
    await page.getByLabel('Security code').fill('123')
    await page.getByLabel('Name on card').fill('Jane Jones')
    await page.getByLabel('Street and number').fill('Main Street 1')
    await page.getByLabel('Postcode').fill('SW1A 1AA')
    await page.getByLabel('City').fill('London')
    await page.getByLabel('Country').selectOption('GB')
  }
  const pay = (page: Page) => page.getByRole('button', { name: 'Pay €92.00' }).click()

  test('a challenge is met without any script', async () => {
    const { page, context } = await open({ javaScriptEnabled: false })
    const id = await checkout({ shopperResultUrl: `${shop.origin}/thanks` })
    await page.goto(addressOf(id))
    await fill(page, '4200 0000 0000 0018')
    await pay(page)
    const code = page.locator('input[autocomplete=one-time-code]')
    // A bank that takes a form is reached by a button.
    const next = page.getByRole('button', { name: 'Continue' })
    await code.or(next).first().waitFor()
    if (await next.isVisible()) await next.click()
    await code.fill('1234')
    await page.locator('form:has(input[autocomplete=one-time-code]) button').first().click()
    await page.getByText('Back in the shop').waitFor()
    assert.equal(new URL(page.url()).searchParams.get('id'), id)
    const [payment] = await host.sql<{ state: string }>(
      'select state from tollgate.payment where checkout_id = $1',
      [id],
    )
    assert.equal(payment?.state, 'approved')
    await context.close()
  })

  test('without a page of the merchant, the bank leads back to the result in the language of the shopper', async () => {
    const { page, context } = await open({ javaScriptEnabled: false, locale: 'de-DE' })
    const id = await checkout({
      'billing.street1': 'Main Street 1',
      'billing.city': 'London',
      'billing.postcode': 'SW1A 1AA',
      'billing.country': 'GB',
    })
    await page.goto(addressOf(id))
    const field = (name: string) => page.locator(`input[name^="${name}~"]`)
    await field('card.number').fill('4200 0000 0000 0018')
    await field('expiry').fill('05/34')
    await field('card.cvv').fill('123')
    await field('card.holder').fill('Jane Jones')
    await page.getByRole('button', { name: /92,00/ }).click()
    const code = page.locator('input[autocomplete=one-time-code]')
    const next = page.getByRole('button', { name: 'Weiter' })
    await code.or(next).first().waitFor()
    if (await next.isVisible()) await next.click()
    await code.fill('1234')
    await page.locator('form:has(input[autocomplete=one-time-code]) button').first().click()
    await page.getByText('Ihre Zahlung war erfolgreich.').waitFor()
    assert.equal(page.url(), addressOf(id, ''))
    await context.close()
  })

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? 'by itself' : 'by a button'
    test(`the bank looks at the browser ${how}, then asks for the code`, async () => {
      const { page, context } = await open({ javaScriptEnabled })
      const seen: string[] = []
      page.on('request', (request) => {
        if (request.url().includes('/device/'))
          seen.push(`${request.method()} ${request.postData()}`)
      })
      const id = await checkout({ shopperResultUrl: `${shop.origin}/thanks` })
      await page.goto(addressOf(id))
      await fill(page, '4200 0000 0000 0042')
      await pay(page)
      if (!javaScriptEnabled) {
        // A script leaves this page in no time.
        await page.getByText('Opening your bank’s page …').waitFor()
        const looked = page.waitForResponse((response) => response.url().includes('/device/'))
        await page.getByRole('button', { name: 'Continue' }).click()
        await looked
        await page.getByRole('link', { name: 'Open it in this tab' }).click()
      }
      await page.locator('input[autocomplete=one-time-code]').fill('1234')
      await page.locator('form:has(input[autocomplete=one-time-code]) button').first().click()
      await page.getByText('Back in the shop').waitFor()
      const data = Buffer.from('{"simulated":true}').toString('base64url')
      assert.deepEqual(seen, [`POST threeDSMethodData=${data}`])
      assert.equal((await host.gateway.checkouts.state(id)).state, 'paid')
      await context.close()
    })
  }

  test('a wrong field has the focus and its message, and the next try pays', async () => {
    const { page, context } = await open({ javaScriptEnabled: false })
    await page.goto(addressOf(await checkout()))
    await fill(page, '4200 0000 0000 0001')
    await pay(page)
    await page.getByRole('alert').waitFor()
    const number = page.locator('input[name^="card.number"]')
    assert.equal(await number.getAttribute('aria-invalid'), 'true')
    assert.equal(await number.inputValue(), '')
    await page.keyboard.type('4200 0000 0000 0000')
    assert.equal(await number.inputValue(), '4200 0000 0000 0000', 'it has the focus')
    await fill(page, '4200 0000 0000 0000')
    await pay(page)
    await page.getByText('Your payment was successful.').waitFor()
    await context.close()
  })

  test('going back restores nothing that was typed', async () => {
    const { page, context } = await open()
    await page.goto(addressOf(await checkout()))
    await fill(page, '4000000000000002')
    await pay(page)
    await page.getByText('The payment was not accepted.').waitFor()
    await page.goBack()
    await page.getByLabel('Card number').waitFor()
    for (const label of ['Card number', 'Expiry date', 'Security code', 'Name on card']) {
      assert.equal(await page.getByLabel(label).inputValue(), '', label)
    }
    assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0)
    await context.close()
  })

  test('an empty form is not sent', async () => {
    const { page, context } = await open({ javaScriptEnabled: false })
    const address = addressOf(await checkout())
    await page.goto(address)
    await pay(page)
    assert.equal(page.url(), address)
    await context.close()
  })

  const isTooWide = (page: Page) =>
    page.evaluate(() => {
      const isOutside = (logo: Element) => {
        const inner = logo.getBoundingClientRect()
        const outer = logo.closest('.field')!.getBoundingClientRect()
        return outer.width > 0 && (inner.left < outer.left || inner.right > outer.right + 0.5)
      }
      const logos = [...document.querySelectorAll('.logos .logo')]
      return document.documentElement.scrollWidth > window.innerWidth || logos.some(isOutside)
    })

  const looks = [
    {
      name: 'light',
      colorScheme: 'light',
      viewport: { width: 1000, height: 800 },
      query: '',
      isThorough: true,
    },
    { name: 'dark', colorScheme: 'dark', viewport: { width: 1000, height: 800 }, query: '' },
    {
      name: 'with forced colours',
      colorScheme: 'dark',
      forcedColors: 'active',
      viewport: { width: 320, height: 640 },
      query: 'locale=de&',
    },
    {
      name: 'narrow and from right to left',
      colorScheme: 'light',
      viewport: { width: 320, height: 640 },
      query: 'locale=ar&',
    },
  ] as const
  for (const look of sampled(looks, 2)) {
    test(`no state has a barrier: ${look.name}`, async () => {
      const {
        name: _,
        query,
        isThorough = false,
        ...options
      } = look as typeof look & {
        readonly isThorough?: boolean
      }
      const { page, context, said } = await open(options)
      const stored = await post('/v1/registrations', {
        paymentBrand: 'VISA',
        ...{ 'card.number': '4200000000000000', 'card.holder': 'Jane Jones' },
        ...{ 'card.expiryMonth': '05', 'card.expiryYear': '2034' },
      })
      const free = await checkout({ 'registrations[0].id': stored.id })
      const busy = await checkout({ shopperResultUrl: 'https://shop.example/thanks' })
      const html = await (await fetch(addressOf(busy))).text()
      const nonce = /name="nonce" value="([^"]+)"/.exec(html)?.[1] ?? ''
      await fetch(addressOf(busy), {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ nonce, paymentBrand: 'PAYPAL' }),
      })
      const registration = await post('/v1/checkouts', { createRegistration: 'true' })
      const few = [
        addressOf(free, `?${query}method=card&error=card.number:invalid&error=card.cvv:required`),
        addressOf(busy, `?${query}`),
      ]
      const others = [
        addressOf(free, `?${query}`),
        addressOf(free, `?${query}brands=VISA`),
        addressOf(free, `?${query}method=card&error=paymentBrand:required`),
        addressOf(free, `?${query}method=bank&error=bankAccount.iban:invalid`),
        addressOf(free, `?${query}method=${stored.id}&error=card.cvv:invalid`),
        addressOf(free, `?${query}outcome=declined`),
        addressOf(registration.id, `?${query}`),
        addressOf(`${'AB12'.repeat(8)}.node`, `?${query}`),
      ]
      for (const address of isThorough ? [...few, ...sampled(others, 4)] : few) {
        await page.goto(address)
        assert.equal(await isTooWide(page), false, address)
        for (const summary of await page.locator('summary').all()) await summary.click()
        assert.deepEqual(await barriersOf(page), [], `${address} opened`)
        assert.equal(await isTooWide(page), false, `${address} opened`)
      }
      assert.deepEqual(
        said.filter((text) => !text.includes('404')),
        [],
      )
      await context.close()
    })
  }
})
