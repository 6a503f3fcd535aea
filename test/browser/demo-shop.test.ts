/** The demo shop in a real browser: from the product to what the merchant's server gets. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { release } from '@tollgate/widget'
import type { Page } from 'playwright-core'
import { type DemoShop, openDemoShop } from '../../host/serve/demo-shop/demo-shop.ts'
import { type Hosted, startHost } from '../host/http/hosted.ts'
import { barriersOf } from '../rig/barriers.ts'
import { newContext } from './support/browser.ts'
import { challengeFrame, fillCard, numberField, pay } from './support/shopper.ts'

describe('the demo shop', () => {
  let host: Hosted
  let shop: DemoShop
  before(async () => {
    let origin: string | undefined
    host = await startHost({}, { widget: release(), publicUrl: () => origin, role: 'all' })
    origin = host.url
    await host.gateway.entities.configure(host.channel, { threeDSecure: 'on' })
    const credentials = { baseUrl: host.url, entityId: host.channel, accessToken: host.token }
    shop = await openDemoShop(credentials, { host: '127.0.0.1', port: 0 })
  })
  after(async () => {
    await shop?.close()
    await host?.close()
  })

  const open = async (options: Parameters<typeof newContext>[0] = {}) => {
    const context = await newContext(options)
    const page = await context.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    return { context, page, said }
  }
  // The documents of the fields have tests of their own.
  const faultsOf = (page: Page) => barriersOf(page, { exclude: ['.wpwl-control-iframe'] })

  test('a card is paid, and the result shows the response and the signed webhook', async () => {
    const { page, context, said } = await open()
    await page.goto(shop.url)
    await numberField(page).waitFor()
    assert.deepEqual(await faultsOf(page), [])
    await fillCard(page)
    await pay(page)
    await page.waitForURL(/\/result/)
    await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
    // The page waits a moment for the webhook, and then has a link.
    const again = page.getByRole('link', { name: 'Look again' })
    while ((await again.count()) > 0) await again.click()
    const text = await page.locator('main').innerText()
    assert.match(text, /"code": "000\.100\.110"/)
    assert.match(text, /"type": "PAYMENT"/)
    assert.doesNotMatch(text, new RegExp(host.token))
    assert.deepEqual(await faultsOf(page), [])
    assert.deepEqual(said, [])
    await context.close()
  })

  test('a click on a test card copies its number, or selects it where that is refused', async () => {
    for (const [refusal, says] of [
      ['async () => {}', '4200 0000 0000 0000 copied'],
      ["() => Promise.reject(Error('refused'))", '4200 0000 0000 0000 is selected'],
    ] as const) {
      const { page, context, said } = await open()
      await context.addInitScript(`navigator.clipboard.writeText = ${refusal}`)
      await page.goto(shop.url)
      const button = page.getByRole('button', { name: 'Copy 4200 0000 0000 0000' })
      await button.click()
      const status = page.getByText(says)
      await status.waitFor()
      const marked = await button.evaluate((one) => getComputedStyle(one, '::after').content)
      assert.equal(marked, says.endsWith(' copied') ? '" ✓"' : 'none')
      assert.equal(await page.evaluate(() => String(getSelection())), '4200 0000 0000 0000')
      assert.deepEqual(said, [])
      await context.close()
    }
  })

  test('a stored card is offered at the next visit', async () => {
    const { page, context } = await open()
    await page.goto(shop.url)
    await fillCard(page, { number: '5555555555554444' })
    await page.locator('.wpwl-form-card input[name=createRegistration]').check()
    await pay(page)
    await page.waitForURL(/\/result/)
    await page.goto(shop.url)
    await page.getByText(/Mastercard ending in .?4444/).waitFor()
    await context.close()
  })

  test('a challenge is answered inside the form', async () => {
    const { page, context } = await open()
    await page.goto(shop.url)
    await fillCard(page, { number: '4200000000000042' })
    await pay(page)
    const bank = challengeFrame(page).frameLocator('iframe.bank')
    await bank.locator('input[autocomplete=one-time-code]').fill('1234')
    await bank.locator('button[type=submit], button:not([type])').first().click()
    await page.waitForURL(/\/result/)
    await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
    assert.match(await page.locator('main').innerText(), /"eci": "05"/)
    await context.close()
  })

  test('the page of the gateway does the same without scripts', async () => {
    const { page, context } = await open({ javaScriptEnabled: false })
    await page.goto(shop.url)
    await page.getByRole('link', { name: /own page/ }).click()
    await page.getByLabel('Card number').fill('4200 0000 0000 0000')
    await page.getByLabel('Expiry date').fill('05/34')
    await page.getByLabel('Security code').first().fill('123')
    await page.getByLabel('Name on card').fill('Jane Jones')
    await page
      .getByRole('button', { name: /^Pay €92/ })
      .first()
      .click()
    await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
    await context.close()
  })

  test('addresses from the browser lead to nothing else', async () => {
    for (const path of [
      '/result?resourcePath=/v1/payments/0123456789abcdef0123456789abcdef',
      '/result?resourcePath=https://elsewhere.example/v1/checkouts/a/payment',
      '/result?resourcePath=/v1/checkouts/..%2F..%2Fpayments/payment',
      '/result',
      '/nowhere',
      '/__proto__',
      '//',
    ]) {
      assert.equal((await fetch(shop.url + path)).status, 404, path)
    }
    const forged = await fetch(`${shop.url}/demo-shop/notifications`, {
      method: 'POST',
      headers: { 'webhook-id': '1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
      body: '{}',
    })
    assert.equal(forged.status, 400)
  })
})
