/** Habits of deployed shop pages: what their scripts call, read and rewrite in the widget. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { bankAccountBrands, brandTitles } from '../../plugins/widget/generated/brand-titles.ts'
import { newContext } from './support/browser.ts'
import {
  ordinary,
  type ScriptedGateway,
  scriptedGateway,
  scriptOf,
} from './support/scripted-gateway.ts'
import { openShop, type Shop, type ShopPage } from './support/shop.ts'
import { cvvField, fillCard, numberField, pay } from './support/shopper.ts'

const stored = (letter: string, last4: string) => ({
  id: letter.repeat(32),
  brand: 'VISA',
  last4,
  expiryMonth: '08',
  expiryYear: '2030',
  cvv: 'asked',
})
const declined = '.wpwl-message-error'

describe('pages of deployed shops', () => {
  let gateway: ScriptedGateway
  let shop: Shop
  let page: Page
  const said: string[] = []
  before(async () => {
    gateway = await scriptedGateway({ checkout: {}, replies: [{ state: 'declined' }] })
    shop = await openShop(() => scriptOf(gateway))
    page = await (await newContext()).newPage()
    page.on('console', (message) => said.push(message.text()))
  })
  after(async () => {
    await page?.context().close()
    await Promise.all([shop?.close(), gateway?.close()])
  })
  afterEach(() => {
    gateway.script.checkout = {}
  })
  const open = async (options: string | undefined, more: ShopPage = {}) => {
    said.length = 0
    gateway.submitted.length = 0
    shop.show({ ...(options === undefined ? {} : { options }), ...more })
    await page.goto(shop.address)
    await page.locator('.wpwl-button-pay').first().waitFor({ state: 'attached' })
  }
  const hears = async (word: string) => {
    while (!said.includes(word)) await page.waitForEvent('console')
  }
  const tells = (part: string) => said.filter((text) => text.includes(part)).length

  test('a page with a button of its own pays through executePayment', async () => {
    const names = ['wpwl-container-card', 'wpwl-container.wpwl-container-card.wpwl-clearfix']
    for (const name of names) {
      await open(undefined, {
        head: '<style>.wpwl-button-pay { display: none }</style>',
        after: `<button id="order" onclick="wpwl.executePayment('${name}')">Order</button>`,
      })
      await fillCard(page)
      await page.locator('#order').click()
      await page.locator(declined).waitFor()
      assert.equal(gateway.submitted.length, 1, name)
    }
  })

  test('a rule of one class wins in every state, and leaves buttons of brands readable', async () => {
    await open(undefined, {
      brands: 'VISA PAYPAL',
      head: `<style>.wpwl-button-pay { background: rgb(1, 2, 3); color: rgb(250, 250, 250) }
        .wpwl-control { border-color: rgb(4, 5, 6) }
        .wpwl-button { transition: none } .wpwl-control { transition: none }</style>`,
    })
    const styleOf = (selector: string, property: string) =>
      page
        .locator(selector)
        .evaluate((one, name) => getComputedStyle(one).getPropertyValue(name), property)
    const card = '.wpwl-form-card .wpwl-button-pay'
    await page.locator(card).hover()
    assert.equal(await styleOf(card, 'background-color'), 'rgb(1, 2, 3)')
    const holder = '.wpwl-control-cardHolder'
    await page.locator(holder).focus()
    await page.locator(holder).hover()
    assert.equal(await styleOf(holder, 'border-top-color'), 'rgb(4, 5, 6)')
    const brand = '.wpwl-button-pay.wpwl-button-brand'
    assert.equal(await styleOf(brand, 'background-color'), 'rgb(255, 255, 255)')
    assert.equal(await styleOf(brand, 'color'), 'rgb(27, 32, 51)')
  })

  test('executePayment shows wrong fields, and names a container that is not there', async () => {
    await open('{ onError(error) { console.log(error.name, error.message) } }')
    await page.evaluate("wpwl.executePayment('wpwl-container-card')")
    await page.locator('.wpwl-hint-cardNumberError').waitFor()
    await page.evaluate("wpwl.executePayment('wpwl-container-cards')")
    await hears('WidgetError executePayment: the page has no form in .wpwl-container-cards')
    assert.equal(gateway.submitted.length, 0)
  })

  test('callbacks about a field reach the field and its form', async () => {
    await open(`{
      onReadyIframeCommunication() { console.log('ready', this.$iframe[0].title) },
      onFocusIframe() { this.$iframe[0].style.outline = '2px solid orange' },
      onBlurCardNumber(isValid) {
        console.log('blur', isValid, this.$form[0].querySelector('.wpwl-control-brand').value)
      },
      onBlurCardHolder() { console.log('holder', this.$form[0].className.includes('card')) },
    }`)
    await hears('ready Card number')
    await numberField(page).pressSequentially('4200000000000000')
    const outline = await page
      .locator('.wpwl-control-cardNumber')
      .evaluate((frame: HTMLElement) => frame.style.outlineColor)
    assert.equal(outline, 'orange')
    await page.locator('.wpwl-control-cardHolder').fill('Jane Jones')
    await hears('blur true VISA')
    await page.locator('.wpwl-control-expiry').focus()
    await hears('holder true')
  })

  test('callbacks about a field get collections of the jQuery that the page brings', async () => {
    await open(
      `{ onReadyIframeCommunication() {
        console.log(this.$iframe.kind, this.$form.find('.wpwl-button-pay').length)
      } }`,
      {
        head: `<script>window.jQuery = (element) => ({
          0: element, length: 1, kind: 'of the page',
          find: (selector) => element.querySelectorAll(selector),
        })</script>`,
      },
    )
    await hears('of the page 1')
  })

  test('a page hears the brands, the one that counts, and its change', async () => {
    await open(
      `{
        onDetectBrand(brands, active) { console.log('brands', brands.join(), 'active', active) },
        onChangeBrand(brand) { console.log('now', brand) },
      }`,
      { brands: 'VISA MASTER' },
    )
    await numberField(page).pressSequentially('4')
    await hears('now VISA')
    await numberField(page).fill('')
    await numberField(page).pressSequentially('5')
    await hears('brands MASTER active MASTER')
    await hears('now MASTER')
  })

  test('a page hears of a domestic brand only when it counts', async () => {
    const callback = 'onDetectBrand(brands, active) { console.log(brands.join(), active) }'
    for (const [options, heard] of [
      [`{ ${callback} }`, 'VISA VISA'],
      [
        `{ brandDetectionPriority: ['CARTEBANCAIRE'], ${callback} }`,
        'CARTEBANCAIRE,VISA CARTEBANCAIRE',
      ],
    ] as const) {
      await open(options, { brands: 'VISA CARTEBANCAIRE' })
      await numberField(page).pressSequentially('4200000000000000')
      await hears(heard)
      assert.deepEqual(said, [heard])
    }
  })

  test('options may be declared with let, and their switches may be text', async () => {
    gateway.script.checkout = { registrations: [stored('c', '4242')] }
    await open(undefined, {
      after: `<script>let wpwlOptions = {
        style: 'none', maskCvv: 'true', showLabels: 'false',
        registrations: { hideInitialPaymentForms: 'true', requireCvv: 'true' },
      }</script>`,
    })
    assert.equal(await page.locator('.wpwl-form-card').isVisible(), false)
    assert.equal(await page.locator('link[href*=widget]').count(), 0)
    const code = cvvField(page, '.wpwl-form-registrations')
    assert.equal(
      await code.evaluate((input) =>
        getComputedStyle(input).getPropertyValue('-webkit-text-security'),
      ),
      'disc',
    )
    assert.deepEqual(said, [])
  })

  test('a page that calls jQuery without bringing it is told so, and can pay', async () => {
    await open("{ onReady() { $('.wpwl-control-brand').hide() } }")
    await fillCard(page)
    await pay(page)
    await page.locator(declined).waitFor()
    assert.equal(tells('$ is not defined'), 1)
    assert.equal(tells('the widget brings none: load it in the page'), 1)
  })

  test('fields that do not travel with the payment are named on the console, once', async () => {
    await open(
      `{ onReady() {
        document.querySelector('form.wpwl-form-card .wpwl-button').insertAdjacentHTML('beforebegin',
          '<select name="recurring.numberOfInstallments"><option>3</option></select>' +
          '<input type="checkbox" name="createRegistration" value="true" checked>')
      } }`,
      { inForm: '<input type="hidden" name="form_key" value="k1">' },
    )
    await fillCard(page)
    await pay(page)
    await page.locator(declined).waitFor()
    await cvvField(page).fill('123')
    await pay(page)
    await page.waitForFunction("document.querySelector('.wpwl-form').ariaBusy !== 'true'")
    const [sent] = gateway.submitted
    assert.equal(sent!.createRegistration, 'true')
    assert.ok(!('recurring.numberOfInstallments' in sent!) && !('form_key' in sent!))
    assert.equal(tells('recurring.numberOfInstallments is left out'), 1)
    assert.equal(tells('form_key is left out'), 1)
    assert.equal(tells('is left out'), 2)
  })

  test("a page's own check marks a field and stops the payment", async () => {
    await open(`{ allowEmptyCardHolderName: true, onBeforeSubmitCard() {
      const holder = document.querySelector('.wpwl-control-cardHolder')
      if (holder.value.trim().length > 1) return true
      holder.classList.add('wpwl-has-error')
      holder.insertAdjacentHTML('afterend', '<div class="wpwl-hint wpwl-hint-cardHolderError">Who pays?</div>')
      return false
    } }`)
    await fillCard(page, { holder: '' })
    await pay(page)
    await page.getByText('Who pays?').waitFor()
    assert.equal(gateway.submitted.length, 0)
    await page.locator('.wpwl-control-cardHolder').fill('Jane Jones')
    await pay(page)
    await page.locator(declined).waitFor()
    assert.equal(gateway.submitted.length, 1)
  })

  test("a page's own check that fails stops the payment, and so does every way to say no", async () => {
    const error = '"told", error.name, error.message'
    await open(
      `{ onBeforeSubmitCard: () => check(), onBeforeSubmitCardPromise: () => later(), onError: (error) => console.log(${error}) }`,
      { head: '<script>var check, later = () => {}</script>' },
    )
    await fillCard(page)
    const pays = async (check: string, later = '() => {}') => {
      const both = `check = ${check}; later = () => { console.log('asked'); return (${later})() }`
      said.length = 0
      await page.evaluate(both)
      await pay(page)
    }
    for (const [name, check, later] of [
      ['onBeforeSubmitCard', "() => { throw Error('mine') }"],
      ['onBeforeSubmitCard', "async () => { throw Error('mine') }"],
      ['onBeforeSubmitCard', "() => { if (!$('#terms').is(':checked')) return false }"],
      ['onBeforeSubmitCardPromise', '() => {}', "() => Promise.reject(Error('mine'))"],
    ] as const) {
      await pays(check, later)
      await page.locator('.wpwl-message-error', { hasText: 'Please try again' }).waitFor()
      assert.equal(tells(`told WidgetError wpwlOptions.${name} failed, so no payment was sent`), 1)
      assert.equal(tells('load it in the page'), check.includes('$') ? 1 : 0)
    }
    for (const no of ['() => false', '() => 0', "() => 'false'", 'async () => false']) {
      await pays('() => {}', no)
      await hears('asked')
      assert.equal(await page.locator('.wpwl-message-error').isVisible(), false)
    }
    await pays("async () => { setTimeout(() => console.log('late'), 100); return false }")
    await hears('late')
    assert.equal(tells('asked'), 0, 'the second check is asked after the first')
    assert.equal(gateway.submitted.length, 0)
    await pays('() => {}')
    await page.locator(declined).waitFor()
    assert.equal(gateway.submitted.length, 1, 'a check that returns nothing agrees')
  })

  test('a page finds the parts of stored cards, rewrites them, and pays with the chosen one', async () => {
    gateway.script.checkout = {
      ...ordinary,
      registrations: [stored('c', '4242'), stored('d', '0005')],
    }
    await open(
      `{ registrations: { requireCvv: true }, onReady() {
        for (const row of document.querySelectorAll('#wpwl-registrations .wpwl-group-registration')) {
          const part = (name) => row.querySelector('.wpwl-wrapper-registration-' + name)
          const text = ['number', 'expiry', 'holder'].map((name) => part(name).innerText).join('|')
          console.log(text.replace(/[\\u2066\\u2069]/g, ''))
          part('registrationId').innerHTML += part('brand').innerHTML
          part('brand').remove()
        }
      } }`,
      {
        after: `<button id="order" onclick="wpwl.executePayment('wpwl-container-registration')">Order</button>`,
      },
    )
    await hears('Visa ending in 4242|Expires 08/30|')
    await page.locator('.wpwl-registration').nth(1).click()
    assert.match(
      (await page.locator('.wpwl-registration').nth(1).getAttribute('class')) ?? '',
      /wpwl-selected/,
    )
    await cvvField(page, '.wpwl-form-registrations').pressSequentially('123')
    await page.locator('#order').click()
    await page.locator(`.wpwl-form-registrations ${declined}`).waitFor()
    assert.equal(gateway.submitted[0]!.registrationId, 'd'.repeat(32))
  })

  test('a form without brands shows those with a mark in test, and names bank forms that look the same', async () => {
    const [first, second] = bankAccountBrands.filter((code) => code !== 'DIRECTDEBIT_SEPA')
    const bank = (brand: string) => ({ brand, flow: 'bank' })
    const redirect = (brand: string) => ({ brand, flow: 'redirect' })
    const brands = [
      { brand: 'VISA', flow: 'card' },
      ...['DIRECTDEBIT_SEPA', first!, second!].map(bank),
      ...['PAYPAL', 'TWINT'].map(redirect),
    ]
    const titles = () => page.locator('.wpwl-form-title').allInnerTexts()
    const buttons = () => page.locator('.wpwl-button-brand').allInnerTexts()
    gateway.script.checkout = { brands }
    await open(undefined, { brands: '' })
    assert.equal(await page.locator('.wpwl-form-directDebit').count(), 1)
    assert.deepEqual([await titles(), await buttons()], [[], ['Pay with PayPal']])
    gateway.script.checkout = { brands, test: false }
    await open(undefined, { brands: '' })
    assert.equal(await page.locator('.wpwl-form-directDebit').count(), 3)
    const named = ['DIRECTDEBIT_SEPA', first!, second!].map((code) => brandTitles[code] ?? code)
    assert.deepEqual(await titles(), named)
    assert.deepEqual(await buttons(), ['Pay with PayPal', 'Pay with TWINT'])
  })

  test('brands written inside the form count like data-brands, which comes first', async () => {
    const box = '<label>Save <input type="checkbox" name="createRegistration" value="true"></label>'
    const offered = async (brands: string, inForm: string) => {
      await open(undefined, { brands, inForm: `${inForm}${box}` })
      const forms = page.locator('.wpwl-form-card, .wpwl-form-directDebit, .wpwl-button-brand')
      return [await forms.count(), await page.locator('.wpwl-form-card').count()]
    }
    assert.deepEqual(await offered('', '\n  VISA MASTER\n  AMEX\n'), [1, 1])
    assert.equal(await page.locator('form.paymentWidgets').isVisible(), false)
    assert.deepEqual(await offered('', 'PAYPAL'), [1, 0])
    assert.deepEqual(await offered('PAYPAL', 'VISA MASTER'), [1, 0])
    assert.deepEqual(await offered('', 'Loading PCI form'), [3, 1])
    assert.equal(tells('does not accept'), 0)
    await offered('', 'VISA TWINT')
    assert.equal(tells('this checkout does not accept TWINT'), 1)
  })

  test('texts of a page under names that the widget knows are shown, others are named on the console', async () => {
    await open(`{
      labels: { submit: 'Buy', cvvPlaceholder: '123', foo: 'bar' },
      errorMessages: { expiryMonthError: 'Month', declined: 'Not today', cardNumber: 'Number' },
    }`)
    const about = said.filter((text) => text.includes('has no effect'))
    assert.deepEqual(about, [
      'Tollgate widget: wpwlOptions.labels.foo has no effect',
      'Tollgate widget: wpwlOptions.errorMessages.cardNumber has no effect',
    ])
    await fillCard(page)
    await pay(page)
    await page.locator(declined, { hasText: 'Not today' }).waitFor()
  })

  test('a page can hide the list of stored cards by its id', async () => {
    gateway.script.checkout = { registrations: [stored('c', '4242')] }
    await open(undefined, {
      head: '<style>#wpwl-registrations { display: none !important }</style>',
    })
    await fillCard(page)
    assert.equal(await page.locator('.wpwl-form-registrations').isVisible(), false)
  })

  test('a security code that the channel asks for is shown against the wish of the page', async () => {
    gateway.script.checkout = { registrations: [stored('c', '4242')] }
    await open('{ registrations: { requireCvv: false } }')
    await cvvField(page, '.wpwl-form-registrations').pressSequentially('123')
    await pay(page, 'registrations')
    await page.locator(`.wpwl-form-registrations ${declined}`).waitFor()
    assert.equal(tells('the channel asks for the security code'), 1)
  })

  test('a page moves the widget after its fields are ready, and the shopper pays there', async () => {
    await open(undefined, { after: '<div id="drawer"></div>', brands: 'VISA AMEX' })
    await numberField(page).pressSequentially('377777777777770')
    await page.evaluate(
      "document.querySelector('#drawer').append(document.querySelector('.wpwl-widget'))",
    )
    const inDrawer = page.frameLocator('#drawer .wpwl-control-cardNumber').locator('input')
    await page.locator('.wpwl-control-cvv').scrollIntoViewIfNeeded()
    await inDrawer.waitFor()
    assert.equal(await inDrawer.inputValue(), '')
    await fillCard(page, { number: '377777777777770', cvv: '12345' })
    assert.equal(await cvvField(page).inputValue(), '1234')
    await pay(page)
    await page.locator(declined).waitFor()
    assert.equal(gateway.submitted[0]!['card.holder'], 'Jane Jones')
  })
})
