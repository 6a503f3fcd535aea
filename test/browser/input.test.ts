/** Typing, pasting and correcting in the fields of a card. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { newContext } from './support/browser.ts'
import { type ScriptedGateway, scriptedGateway, scriptOf } from './support/scripted-gateway.ts'
import { openShop, type Shop } from './support/shop.ts'
import { cvvField, fillCard, numberField, pay, payRefused } from './support/shopper.ts'

describe('the fields of a card', () => {
  let gateway: ScriptedGateway
  let shop: Shop
  let context: BrowserContext
  let page: Page
  before(async () => {
    gateway = await scriptedGateway({ checkout: {} })
    shop = await openShop(() => scriptOf(gateway))
    context = await newContext()
    page = await context.newPage()
  })
  after(async () => {
    await context?.close()
    await Promise.all([shop?.close(), gateway?.close()])
  })
  beforeEach(async () => {
    shop.show({ brands: 'VISA MASTER AMEX DINERS' })
    await page.goto(shop.address)
    await numberField(page).waitFor()
  })
  const hint = (group: string) => page.locator(`.wpwl-group-${group} .wpwl-hint`)
  const paste = (text: string) =>
    numberField(page).evaluate((field: HTMLInputElement, pasted) => {
      field.focus()
      field.value = pasted
      field.dispatchEvent(new InputEvent('input', { inputType: 'insertFromPaste', bubbles: true }))
    }, text)

  test('are written in the groups of the brand', async () => {
    for (const [typed, shown] of [
      ['4200000000000000', '4200 0000 0000 0000'],
      ['377777777777770', '3777 777777 77770'],
      ['36227206271667', '3622 720627 1667'],
      ['6205500000000000004', '6205 5000 0000 0000 004'],
      ['42000000000000001239999', '4200 0000 0000 0000 123'],
    ] as const) {
      await numberField(page).fill('')
      await numberField(page).pressSequentially(typed)
      assert.equal(await numberField(page).inputValue(), shown)
    }
  })

  test('keep the caret where the shopper corrects', async () => {
    const field = numberField(page)
    await field.pressSequentially('4200000000000000')
    const caret = () => field.evaluate((input: HTMLInputElement) => input.selectionStart)
    await field.evaluate((input: HTMLInputElement) => input.setSelectionRange(7, 7))
    await field.press('5')
    assert.equal(await field.inputValue(), '4200 0050 0000 0000 0')
    assert.equal(await caret(), 8)
    await field.press('Backspace')
    assert.equal(await caret(), 7)
    await field.evaluate((input: HTMLInputElement) => input.setSelectionRange(5, 5))
    await field.press('Backspace')
    assert.equal(await field.inputValue(), '4200 0000 0000 000', 'the digit before the blank goes')
    assert.equal(await caret(), 3)
    await field.evaluate((input: HTMLInputElement) => input.setSelectionRange(4, 4))
    await field.press('Delete')
    assert.equal(await field.inputValue(), '4200 0000 0000 00')
  })

  test('take numbers as people paste them', async () => {
    for (const text of [
      '4200 0000 0000 0000',
      '4200-0000-0000-0000',
      ' 4200\t00000000.0000\n',
      '４２００００００００００００００',
      '٤٢٠٠ ٠٠٠٠ ٠٠٠٠ ٠٠٠٠',
    ]) {
      await paste(text)
      assert.equal(await numberField(page).inputValue(), '4200 0000 0000 0000', text)
    }
  })

  test('show brand and length of the security code while the number is typed', async () => {
    await numberField(page).pressSequentially('37')
    await page.locator('.wpwl-brand').nth(1).waitFor({ state: 'detached' })
    assert.equal(await page.locator('.wpwl-brand-AMEX').count(), 1)
    await cvvField(page).pressSequentially('12345')
    assert.equal(await cvvField(page).inputValue(), '1234')
    await numberField(page).fill('4')
    await page.locator('.wpwl-brand-VISA').waitFor()
    assert.equal(await cvvField(page).inputValue(), '123')
    await numberField(page).fill('')
    await page.locator('.wpwl-brand-DINERS').waitFor()
    assert.equal(await page.locator('.wpwl-brand').count(), 4)
  })

  test('say what is wrong when they are left, and stop once it is right', async () => {
    await numberField(page).pressSequentially('4200000000000001')
    await numberField(page).blur()
    await hint('cardNumber').waitFor()
    assert.equal(await numberField(page).getAttribute('aria-invalid'), 'true')
    await numberField(page).press('End')
    await numberField(page).press('Backspace')
    await numberField(page).press('0')
    await hint('cardNumber').waitFor({ state: 'detached' })
    assert.equal(await numberField(page).getAttribute('aria-invalid'), 'false')
    await numberField(page).fill('6759649826438453')
    await numberField(page).blur()
    await hint('cardNumber').waitFor()
    assert.match(await hint('cardNumber').innerText(), /not accepted/)
  })

  test('take expiry dates as people and browsers write them', async () => {
    const expiry = page.locator('.wpwl-control-expiry')
    for (const [typed, shown] of [
      ['1230', '12 / 30'],
      ['1/30', '01 / 30'],
      ['01/2030', '01 / 30'],
      ['730', '07 / 30'],
    ] as const) {
      await expiry.fill('')
      await expiry.pressSequentially(typed)
      assert.equal(await expiry.inputValue(), shown, typed)
    }
    await expiry.fill('2030-01')
    assert.equal(await expiry.inputValue(), '01 / 30', 'as a browser fills it in')
    await expiry.fill('')
    await expiry.pressSequentially('0120')
    await expiry.blur()
    assert.match(await hint('expiry').innerText(), /expired/)
    await expiry.press('End')
    for (let key = 0; key < 7; key++) await expiry.press('Backspace')
    assert.equal(await expiry.inputValue(), '')
  })

  test('are known to browsers that fill in forms, with a keyboard of digits', async () => {
    const kept = async (field: { getAttribute: (name: string) => Promise<string | null> }) => [
      await field.getAttribute('autocomplete'),
      await field.getAttribute('inputmode'),
    ]
    assert.deepEqual(await kept(numberField(page)), ['cc-number', 'numeric'])
    assert.deepEqual(await kept(cvvField(page)), ['cc-csc', 'numeric'])
    assert.deepEqual(await kept(page.locator('.wpwl-control-expiry')), ['cc-exp', 'numeric'])
    assert.equal((await kept(page.locator('.wpwl-control-cardHolder')))[0], 'cc-name')
  })

  test('send what was typed, and nothing of a holder that is a number', async () => {
    const before = gateway.submitted.length
    await fillCard(page, { holder: '4200000000000000' })
    await payRefused(page)
    await hint('cardHolder').waitFor()
    assert.equal(gateway.submitted.length, before)
    await page.locator('.wpwl-control-cardHolder').fill('Jane Jones')
    await pay(page)
    await page.locator('.wpwl-message').waitFor()
    const sent = gateway.submitted.at(-1)!
    assert.equal(sent['card.number'], '4200000000000000')
    assert.equal(sent['card.expiryMonth'], '12')
    assert.equal(sent['card.expiryYear'], '2030')
    assert.equal(sent['card.cvv'], '123')
    assert.equal(sent['card.holder'], 'Jane Jones')
    assert.equal(sent.paymentBrand, 'VISA')
    assert.equal(sent.origin, shop.origin)
    assert.equal(sent.resultUrl, `${shop.origin}/result?order=7`)
    assert.equal(sent.challenge, 'frame')
    assert.match(sent.nonce!, /^[\w-]{16,64}$/)
  })

  test('let the shopper choose between two brands of one card', async () => {
    shop.show({ brands: 'VISA MASTER CARTEBANCAIRE' })
    await page.goto(shop.address)
    await fillCard(page)
    await page.locator('.wpwl-control-brand').selectOption('CARTEBANCAIRE')
    await pay(page)
    await page.locator('.wpwl-message').waitFor()
    assert.equal(gateway.submitted.at(-1)!.paymentBrand, 'CARTEBANCAIRE')
  })

  test('have the markup that deployed pages rely on', async () => {
    for (const name of [
      'container',
      'container-card',
      'form',
      'form-card',
      'button-pay',
      'brand-VISA',
    ]) {
      assert.ok((await page.locator(`.wpwl-${name}`).count()) > 0, name)
    }
    for (const name of ['brand', 'cardNumber', 'expiry', 'cardHolder', 'cvv']) {
      for (const part of ['group', 'label', 'wrapper', 'control']) {
        assert.equal(
          await page.locator(`.wpwl-${part}-${name}.wpwl-${part}`).count(),
          1,
          `${part}-${name}`,
        )
      }
    }
    assert.equal(
      await page.locator('.wpwl-group-submit .wpwl-wrapper-submit .wpwl-button-pay').count(),
      1,
    )
    assert.equal(await page.locator('iframe.wpwl-control-iframe').count(), 2)
    await pay(page)
    await page.locator('.wpwl-button-error').waitFor()
    assert.equal(await page.locator('.wpwl-has-error').count(), 4)
    for (const name of ['cardNumber', 'expiry', 'cardHolder', 'cvv']) {
      assert.equal(await page.locator(`.wpwl-hint-${name}Error`).count(), 1, name)
    }
    await fillCard(page)
    await page.locator('.wpwl-control-cardHolder').blur()
    await page.locator('.wpwl-button-error').waitFor({ state: 'detached' })
  })
})
