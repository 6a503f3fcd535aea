/** Buttons of wallets in a merchant's page, with stand-ins for what browsers and wallets bring. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import {
  configOf,
  createDevices,
  type Field,
  tokenOf,
  walletNames,
  walletPlugins,
} from '../rig/wallets.ts'
import { newContext } from './support/browser.ts'
import { type RealGateway, realGateway } from './support/real-gateway.ts'
import { type Served, serve } from './support/servers.ts'
import { openShop, type Shop, type ShopPage } from './support/shop.ts'

const identity = `-----BEGIN CERTIFICATE-----\n${'QUJD'.repeat(30)}\n-----END CERTIFICATE-----\n`
const googleScript = 'https://pay.google.com/gp/p/js/pay.js'

describe('the buttons of wallets', () => {
  const devices = createDevices()
  let gateway: RealGateway
  let shop: Shop
  let apple: Served
  let checkoutId = ''
  const asked: { url: string; body: unknown }[] = []
  let isRecognised = true

  before(async () => {
    apple = await serve('127.0.0.1', (request, sent) => {
      asked.push({ url: request.url!, body: JSON.parse(sent) })
      const body = JSON.stringify({ merchantSessionIdentifier: 'session-1' })
      return isRecognised
        ? { status: 200, headers: { 'Content-Type': 'application/json' }, body }
        : { status: 417, body: 'not a domain of this merchant' }
    })
    const config = configOf(devices)
    gateway = await realGateway({
      plugins: walletPlugins,
      connectors: {
        ...config,
        'apple-pay': { ...config['apple-pay'], testSessionUrl: `${apple.origin}/paymentSession` },
      },
    })
    const accounts: [Field, Record<string, unknown>][] = [
      [
        'applePay',
        {
          ...devices.applePay.settings.account,
          ...{ merchantName: 'Example Shop', country: 'DE' },
          ...{ identityCertificate: identity, identityKey: identity },
        },
      ],
      ['googlePay', { ...devices.googlePay.settings.account, merchantName: 'Example Shop' }],
    ]
    for (const [field, settings] of accounts) {
      await gateway.host.gateway.accounts.add({
        channelId: gateway.host.channel,
        connector: walletNames[field],
        mode: 'EXTERNAL',
        settings,
      })
    }
    shop = await openShop(() => gateway.scriptOf(checkoutId))
  })
  after(async () => {
    await Promise.all([shop?.close(), gateway?.close(), apple?.close()])
  })

  /** Everything that a test can make the shopper's device do. */
  type Device = {
    readonly apple?: 'pays' | 'cancels'
    readonly google?: 'pays' | 'cancels' | 'has no card'
    readonly token?: (field: Field) => string
    readonly page?: ShopPage
  }
  type Opened = {
    readonly context: BrowserContext
    readonly page: Page
    readonly said: string[]
    /** What the sheets were told. */
    readonly told: Record<string, unknown>[]
    readonly requested: string[]
  }

  const open = async (device: Device): Promise<Opened> => {
    checkoutId = (await gateway.checkout()).id
    shop.show({ brands: 'VISA MASTER APPLEPAY GOOGLEPAY', ...device.page })
    const context = await newContext()
    const page = await context.newPage()
    const [said, told, requested]: [string[], Record<string, unknown>[], string[]] = [[], [], []]
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    page.on('request', (request) => requested.push(request.url()))
    const token = device.token ?? ((field: Field) => tokenOf(devices[field]))
    await context.exposeFunction(
      'tellTest',
      (what: Record<string, unknown>) => void told.push(what),
    )
    await context.exposeFunction('deviceToken', token)
    if (device.apple !== undefined) await page.addInitScript(appleStandIn, device.apple)
    await context.route(googleScript, (route) =>
      route.fulfill({
        contentType: 'text/javascript',
        body: `(${googleStandIn.toString()})(${JSON.stringify(device.google ?? 'pays')})`,
      }),
    )
    await page.goto(shop.address)
    await page.locator('.wpwl-container-card').waitFor()
    return { context, page, said, told, requested }
  }
  const appleButton = (page: Page) => page.getByRole('button', { name: /Apple Pay/ })
  const googleButton = (page: Page) => page.getByRole('button', { name: /Google Pay/ })
  const inline = { options: '{ inlineFlow: ["GOOGLEPAY"] }' }

  test('Apple Pay: the sheet shows the amount, knows the merchant, and its token pays', async () => {
    asked.length = 0
    const { context, page, told, said } = await open({ apple: 'pays' })
    await appleButton(page).click()
    await page.waitForURL(/\/result/)
    const { result, paymentBrand, amount } = await gateway.result(checkoutId)
    assert.equal(result.code, '000.100.110')
    assert.deepEqual([paymentBrand, amount], ['VISA', '92.00'])
    const request = told.find((what) => what.is === 'request') as {
      request: {
        total: object
        countryCode: string
        currencyCode: string
        supportedNetworks: string[]
      }
    }
    assert.deepEqual(request.request.total, { label: 'Example Shop', amount: '92.00' })
    assert.equal(request.request.countryCode, 'DE')
    assert.equal(request.request.currencyCode, 'EUR')
    assert.ok(request.request.supportedNetworks.includes('visa'))
    assert.deepEqual(
      told.find((what) => what.is === 'merchant'),
      {
        is: 'merchant',
        session: { merchantSessionIdentifier: 'session-1' },
      },
    )
    assert.deepEqual(
      told.find((what) => what.is === 'completed'),
      { is: 'completed', status: 0 },
    )
    assert.deepEqual(asked, [
      {
        url: '/paymentSession',
        body: {
          merchantIdentifier: 'merchant.com.example.sandbox',
          displayName: 'Example Shop',
          initiative: 'web',
          initiativeContext: '127.0.0.1',
        },
      },
    ])
    assert.deepEqual(said, [])
    await context.close()
  })

  test('Apple Pay: a closed sheet pays nothing, and the button works again', async () => {
    const { context, page, told } = await open({ apple: 'cancels' })
    await appleButton(page).click()
    await page.waitForFunction(() => document.body.dataset.sheet === 'cancelled')
    assert.equal(await page.locator('.wpwl-message-error').count(), 0)
    await appleButton(page).click()
    await page.waitForFunction(() => document.body.dataset.sheets === '2')
    assert.equal(told.filter((what) => what.is === 'request').length, 2)
    assert.match((await gateway.result(checkoutId)).result.code, /^000\.200/)
    await context.close()
  })

  test('Apple Pay: a refused token is told to the sheet and to the shopper, and a card pays', async () => {
    const token = (field: Field) => tokenOf(devices[field], {}, 'wrong-tag')
    const { context, page, told } = await open({ apple: 'pays', token })
    await appleButton(page).click()
    await page.locator('.wpwl-message-error').first().waitFor()
    assert.deepEqual(
      told.find((what) => what.is === 'completed'),
      { is: 'completed', status: 1 },
    )
    assert.equal(await page.locator('.wpwl-container-card').isVisible(), true)
    await context.close()
  })

  test('Apple Pay: a page that the wallet does not recognise opens no payment', async () => {
    isRecognised = false
    const { context, page, told } = await open({ apple: 'pays' })
    await appleButton(page).click()
    await page.locator('.wpwl-message-error').first().waitFor()
    assert.ok(told.some((what) => what.is === 'aborted'))
    assert.match((await gateway.result(checkoutId)).result.code, /^000\.200/)
    isRecognised = true
    await context.close()
  })

  test('a browser without wallets shows no button, and loads nothing of theirs', async () => {
    const { context, page, requested, said } = await open({})
    await page.locator('.wpwl-control-cardNumber').waitFor()
    assert.equal(await appleButton(page).count(), 0)
    assert.equal(await googleButton(page).count(), 0)
    assert.equal(
      requested.some((url) => url.includes('google')),
      false,
    )
    assert.deepEqual(said, [])
    await context.close()
  })

  test('Google Pay: a page that names it in inlineFlow gets its sheet, and the token pays', async () => {
    const { context, page, told, said } = await open({ page: inline })
    await googleButton(page).click()
    await page.waitForURL(/\/result/)
    assert.equal((await gateway.result(checkoutId)).result.code, '000.100.110')
    const { request } = told.find((what) => what.is === 'request') as {
      request: {
        allowedPaymentMethods: { tokenizationSpecification: object }[]
        transactionInfo: object
      }
    }
    assert.deepEqual(request.allowedPaymentMethods[0]!.tokenizationSpecification, {
      type: 'PAYMENT_GATEWAY',
      parameters: { gateway: 'sandbox', gatewayMerchantId: 'merchant-1' },
    })
    assert.deepEqual(request.transactionInfo, {
      totalPriceStatus: 'FINAL',
      totalPrice: '92.00',
      currencyCode: 'EUR',
    })
    assert.deepEqual(said, [])
    await context.close()
  })

  test('Google Pay: a closed sheet pays nothing', async () => {
    const { context, page } = await open({ page: inline, google: 'cancels' })
    await googleButton(page).click()
    await page.waitForFunction(() => document.body.dataset.sheet === 'cancelled')
    assert.equal(await page.locator('.wpwl-message-error').count(), 0)
    assert.match((await gateway.result(checkoutId)).result.code, /^000\.200/)
    await context.close()
  })

  test('Google Pay: without a card in it there is no button', async () => {
    const { context, page } = await open({ page: inline, google: 'has no card' })
    await page.waitForFunction(() => document.body.dataset.asked === 'true')
    assert.equal(await googleButton(page).count(), 0)
    await context.close()
  })

  test('Google Pay: a policy of the page that refuses its script has no button, and the card form works', async () => {
    const policy = `script-src ${gateway.origin} 'unsafe-inline'`
    const headers = { 'Content-Security-Policy': policy }
    const head = `<script>
      addEventListener('securitypolicyviolation', ({ blockedURI }) => {
        document.documentElement.dataset.refused = blockedURI
      })
    </script>`
    const { context, page } = await open({ page: { ...inline, headers, head } })
    await page.locator('.wpwl-control-cardNumber').waitFor()
    await page.locator(`html[data-refused="${googleScript}"]`).waitFor({ state: 'attached' })
    assert.equal(await googleButton(page).count(), 0)
    await context.close()
  })

  test('an amount that the merchant changed while the sheet was open is not paid', async () => {
    let release = () => {}
    const changed = new Promise<void>((resolve) => {
      release = resolve
    })
    const token = async (field: Field) => {
      await changed
      return tokenOf(devices[field])
    }
    const { context, page } = await open({ page: inline, token: token as never })
    await googleButton(page).click()
    await page.waitForFunction(() => document.body.dataset.sheets === '1')
    await gateway.update(checkoutId, { amount: '93.00' })
    release()
    await page.locator('.wpwl-message-info').first().waitFor()
    assert.match((await gateway.result(checkoutId)).result.code, /^000\.200/)
    await context.close()
  })

  test('a page that names other brands has no buttons of wallets', async () => {
    const { context, page } = await open({ apple: 'pays', page: { brands: 'VISA MASTER' } })
    await page.locator('.wpwl-control-cardNumber').waitFor()
    assert.equal(await appleButton(page).count(), 0)
    await context.close()
  })
})

declare global {
  interface Window {
    tellTest(what: object): Promise<void>
    deviceToken(field: string): Promise<string>
  }
}

/** In the page: what browsers with Apple Pay have. */
function appleStandIn(way: string): void {
  let sheets = 0
  class Session {
    static readonly STATUS_SUCCESS = 0
    static readonly STATUS_FAILURE = 1
    static canMakePayments = () => true
    onvalidatemerchant?: (event: object) => void
    onpaymentauthorized?: (event: object) => void
    oncancel?: () => void
    constructor(_version: number, request: object) {
      if (!navigator.userActivation.isActive) throw new Error('no press of the shopper')
      void window.tellTest({ is: 'request', request })
    }
    begin() {
      sheets += 1
      document.body.dataset.sheets = String(sheets)
      if (way === 'cancels') {
        document.body.dataset.sheet = 'cancelled'
        return this.oncancel?.()
      }
      this.onvalidatemerchant?.({ validationURL: 'https://apple.example/session' })
    }
    completeMerchantValidation(session: object) {
      void window.tellTest({ is: 'merchant', session })
      void window
        .deviceToken('applePay')
        .then((text) =>
          this.onpaymentauthorized?.({ payment: { token: { paymentData: JSON.parse(text) } } }),
        )
    }
    completePayment(status: number) {
      void window.tellTest({ is: 'completed', status })
    }
    abort() {
      void window.tellTest({ is: 'aborted' })
    }
  }
  Object.assign(window, { ApplePaySession: Session })
}

/** In the page: what the script of Google Pay brings. */
function googleStandIn(way: string): void {
  let sheets = 0
  class PaymentsClient {
    async isReadyToPay() {
      document.body.dataset.asked = 'true'
      return { result: way !== 'has no card' }
    }
    async loadPaymentData(request: object) {
      sheets += 1
      document.body.dataset.sheets = String(sheets)
      void window.tellTest({ is: 'request', request })
      if (way === 'cancels') {
        document.body.dataset.sheet = 'cancelled'
        throw { statusCode: 'CANCELED' }
      }
      const token = await window.deviceToken('googlePay')
      return { paymentMethodData: { tokenizationData: { token } } }
    }
  }
  Object.assign(window, { google: { payments: { api: { PaymentsClient } } } })
}
