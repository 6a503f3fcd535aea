/** People who read with their ears, type with one finger, or see little. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { newContext } from './support/browser.ts'
import { type ScriptedGateway, scriptedGateway, scriptOf } from './support/scripted-gateway.ts'
import { openShop, type Shop, type ShopPage } from './support/shop.ts'
import { cvvField, fillCard, numberField, pay } from './support/shopper.ts'

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

const stored = [
  {
    id: 'a'.repeat(32),
    brand: 'VISA',
    last4: '4242',
    expiryMonth: '08',
    expiryYear: '2030',
    cvv: 'asked',
  },
  {
    id: 'b'.repeat(32),
    brand: 'MASTER',
    last4: '1234',
    expiryMonth: '01',
    expiryYear: '2029',
    cvv: 'not',
  },
]

describe('people', () => {
  let gateway: ScriptedGateway
  let shop: Shop
  before(async () => {
    gateway = await scriptedGateway({ checkout: {} })
    shop = await openShop(() => scriptOf(gateway))
  })
  after(async () => {
    await Promise.all([shop?.close(), gateway?.close()])
  })
  const open = async (shown: ShopPage, options: BrowserContextOptions = {}) => {
    shop.show(shown)
    const context = await newContext(options)
    const page = await context.newPage()
    await page.goto(shop.address)
    await page.locator('.wpwl-button-pay').first().waitFor()
    return page
  }
  const isClean = async (page: Page, state: string) => {
    // The bank's page is the bank's.
    const { violations } = await new AxeBuilder({ page })
      .withTags(rules)
      .exclude(['.wpwl-target', '.bank'])
      .analyze()
    const found = violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' ')}`,
    )
    assert.deepEqual(found, [], state)
  }

  test('find no barrier in any state of the form', async () => {
    const page = await open({ brands: 'VISA MASTER DIRECTDEBIT_SEPA PAYPAL CARTEBANCAIRE' })
    await numberField(page).waitFor()
    await isClean(page, 'empty')
    await pay(page)
    await page.locator('.wpwl-hint').first().waitFor()
    await isClean(page, 'error')
    await fillCard(page)
    await isClean(page, 'filled')
    gateway.script.replies = [{ state: 'declined' }]
    await pay(page)
    await page.locator('.wpwl-message-error').waitFor()
    await isClean(page, 'declined')
    gateway.script.replies = [{ state: 'busy' }]
    gateway.script.states = [{ state: 'busy' }]
    await cvvField(page).pressSequentially('123')
    await pay(page)
    await page.locator('.wpwl-message-info').waitFor()
    await isClean(page, 'busy')
    await page.context().close()
  })

  test('find none in the dark, among stored cards, and while the bank asks', async () => {
    const redirect = {
      url: `${gateway.origin}/bank`,
      method: 'POST',
      parameters: [{ name: 'creq', value: 'x' }],
    }
    gateway.script.checkout = { registrations: stored }
    gateway.script.replies = [{ state: 'waiting', redirect, inFrame: true }]
    gateway.script.states = [{ state: 'busy', redirect, inFrame: true }]
    const dark = '<style>:root{color-scheme:dark;background:#111;color:#eee}</style>'
    const page = await open({ head: dark }, { colorScheme: 'dark' })
    await isClean(page, 'stored cards')
    await cvvField(page, '.wpwl-form-registrations').pressSequentially('123')
    await pay(page, 'registrations')
    await page.frameLocator('.wpwl-target').frameLocator('.bank').getByRole('button').waitFor()
    await isClean(page, 'challenge')
    gateway.script.checkout = {}
    await page.context().close()
  })

  test('hear the first wrong field, and stand in it', async () => {
    const page = await open({})
    await numberField(page).waitFor()
    await pay(page)
    await page.frameLocator('.wpwl-control-cardNumber').locator('input:focus').waitFor()
    const focused = await page.evaluate(() => document.activeElement?.className ?? '')
    assert.match(focused, /wpwl-control-cardNumber/)
    const described = await numberField(page).evaluate(
      (field) => document.getElementById(field.getAttribute('aria-describedby') ?? '')?.textContent,
    )
    assert.equal(described, 'Check the card number.')
    await page
      .locator('.wpwl-live', { hasText: 'Check the card number.' })
      .waitFor({ state: 'attached' })
    assert.equal(await page.locator('[aria-live]').count(), 1)
    const expiry = page.locator('.wpwl-control-expiry')
    const hint = page.locator(`#${await expiry.getAttribute('aria-describedby')}`)
    assert.match(await hint.innerText(), /month and year/)
    await page.context().close()
  })

  test('go through the fields in their order, and pay with Enter', async () => {
    gateway.script.replies = [{ state: 'declined' }]
    const page = await open({})
    await numberField(page).waitFor()
    await page.locator('.wpwl-label-cardNumber').click()
    for (const text of ['4200000000000000', '1230', '123', 'Jane Jones']) {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    const button = await page.evaluate(() => document.activeElement?.className ?? '')
    assert.match(button, /wpwl-button-pay/)
    const before = gateway.submitted.length
    await numberField(page).press('Enter')
    await page.locator('.wpwl-message-error').waitFor()
    assert.equal(gateway.submitted.length, before + 1)
    await page.context().close()
  })

  test('have room for fingers on a small screen, and no need to scroll sideways', async () => {
    const page = await open(
      { brands: 'VISA MASTER DIRECTDEBIT_SEPA PAYPAL' },
      { viewport: { width: 320, height: 640 }, hasTouch: true },
    )
    await numberField(page).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320)
    const sizes = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('.wpwl-control, .wpwl-button')]
        .filter((one) => one.offsetParent !== null)
        .map((one) => [one.offsetHeight, Number.parseFloat(getComputedStyle(one).fontSize)]),
    )
    assert.ok(sizes.length > 6)
    for (const [height, font] of sizes) assert.ok(height! >= 44 && font! >= 16, `${height} ${font}`)
    for (const field of [numberField(page), cvvField(page)]) {
      assert.equal(await field.evaluate((one) => getComputedStyle(one).fontSize), '16px')
    }
    await page.context().close()
  })

  test('read from right to left, with numbers from left to right', async () => {
    const page = await open({ language: 'ar' })
    await fillCard(page)
    const container = page.locator('.wpwl-container-card')
    assert.equal(await container.getAttribute('dir'), 'rtl')
    assert.equal(await container.getAttribute('lang'), 'ar')
    assert.equal(await numberField(page).inputValue(), '4200 0000 0000 0000')
    const look = await numberField(page).evaluate((field) => [
      getComputedStyle(field).direction,
      getComputedStyle(field).textAlign,
      document.documentElement.lang,
    ])
    assert.deepEqual(look, ['ltr', 'right', 'ar'])
    await isClean(page, 'ar')
    await page.context().close()
  })
})
