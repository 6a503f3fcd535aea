/** The options of deployed pages: each works as its name says. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { newContext } from './support/browser.ts'
import { type ScriptedGateway, scriptedGateway, scriptOf } from './support/scripted-gateway.ts'
import { openShop, type Shop, type ShopPage } from './support/shop.ts'
import { cvvField, fillCard, numberField, pay, payRefused } from './support/shopper.ts'

describe('options of a page', () => {
  let gateway: ScriptedGateway
  let shop: Shop
  let page: Page
  const said: string[] = []
  before(async () => {
    gateway = await scriptedGateway({ checkout: {} })
    shop = await openShop(() => scriptOf(gateway))
    page = await (await newContext()).newPage()
    page.on('console', (message) => said.push(message.text()))
  })
  after(async () => {
    await page?.context().close()
    await Promise.all([shop?.close(), gateway?.close()])
  })
  const open = async (options: string, more: ShopPage = {}) => {
    said.length = 0
    shop.show({ options, ...more })
    await page.goto(shop.address)
    await page.locator('.wpwl-button-pay').first().waitFor()
  }
  const hears = async (word: string) => {
    while (!said.includes(word)) await page.waitForEvent('console')
  }

  test('callbacks tell the page how far the shopper is', async () => {
    gateway.script.replies = [{ state: 'declined' }]
    await open(`{
      onReady(containers) { console.log('ready', containers.length) },
      onReadyIframeCommunication() { console.log('frame', this.dataset.tollgate) },
      onFocusIframe() { console.log('focus', this.dataset.tollgate) },
      onDetectBrand(brands) { console.log('brands', brands.join()) },
      onDetectBin(bin) { console.log('bin', bin) },
      onBlurCardNumber(isValid) { console.log('number', isValid) },
      onBlurCardHolder(isValid) { console.log('holder', isValid) },
      onBlurSecurityCode(isValid) { console.log('cvv', isValid) },
      onBeforeSubmitCard(event) { console.log('before', event.type); return true },
      onBeforeSubmitCardPromise: () => Promise.resolve(console.log('promise')),
      onAfterSubmit() { console.log('after') },
    }`)
    await fillCard(page)
    await pay(page)
    for (const word of [
      'ready 1',
      'frame number',
      'frame cvv',
      'focus number',
      'focus cvv',
      'brands VISA',
      'bin 420000',
      'number true',
      'cvv true',
      'holder true',
      'before submit',
      'promise',
      'after',
    ]) {
      await hears(word)
    }
    await page.locator('.wpwl-message').waitFor()
  })

  test('a page that answers no sends nothing', async () => {
    const before = gateway.submitted.length
    for (const options of [
      '{ onBeforeSubmitCard: () => false }',
      '{ onBeforeSubmitCardPromise: async () => false }',
    ]) {
      await open(options)
      await fillCard(page)
      await pay(page)
      await page.locator('.wpwl-form[aria-busy="false"]').waitFor()
      assert.equal(gateway.submitted.length, before)
    }
  })

  test('fields that may be empty are', async () => {
    gateway.script.replies = [{ state: 'declined' }]
    await open(
      '{ allowEmptyCvv: true, allowEmptyCardHolderName: true, disableCardExpiryDateValidation: true }',
    )
    await fillCard(page, { cvv: '', holder: '', expiry: '0120' })
    await pay(page)
    await page.locator('.wpwl-message-error').waitFor()
    const sent = gateway.submitted.at(-1)!
    assert.equal(sent['card.expiryYear'], '2020')
    assert.ok(!('card.cvv' in sent) && !('card.holder' in sent))
    await open('{ requireCvv: false }')
    await numberField(page).waitFor()
    assert.equal(await page.locator('.wpwl-group-cvv').count(), 0)
  })

  test('the look follows the page', async () => {
    await open(
      '{ style: "plain", showLabels: false, showPlaceholders: false, maskCvv: true, showCVVHint: true, numberFormatting: false, autofocus: "card.holder", labels: { submit: "Buy" } }',
      {
        head: '<style>.wpwl-control { color: rgb(4, 5, 6); font-size: 20px } .wpwl-button-pay { background: rgb(1, 2, 3) }</style>',
      },
    )
    await numberField(page).pressSequentially('377777777777770')
    assert.equal(await numberField(page).inputValue(), '377777777777770')
    assert.equal(await cvvField(page).getAttribute('type'), 'password')
    assert.match(await page.locator('.wpwl-hint-cvv').innerText(), /four digits/)
    assert.equal(await page.locator('.wpwl-button-pay').innerText(), 'Buy')
    assert.equal(await page.locator('.wpwl-control-cardHolder').getAttribute('placeholder'), '')
    const colour = (field: Element) =>
      getComputedStyle(field).color + getComputedStyle(field).fontSize
    assert.equal(await numberField(page).evaluate(colour), 'rgb(4, 5, 6)20px')
    const button = page.locator('.wpwl-button-pay')
    assert.equal(
      await button.evaluate((one) => getComputedStyle(one).backgroundColor),
      'rgb(1, 2, 3)',
    )
    await open('{ style: "none" }')
    await numberField(page).waitFor()
    assert.equal(await page.locator('link[href*=widget]').count(), 0)
  })

  test('the language is the wish of the page, of the checkout, of the document', async () => {
    for (const [options, language, checkout, label] of [
      ['{ locale: "dk" }', 'de', {}, 'da'],
      ['{ locale: "zh-CN" }', 'de', {}, 'zh-CN'],
      ['{}', 'de', { locale: 'fr' }, 'fr'],
      ['{}', 'pt-BR', {}, 'pt'],
      ['{}', 'xx', {}, 'en'],
    ] as const) {
      gateway.script.checkout = checkout
      await open(options, { language })
      assert.equal(await page.locator('.wpwl-container').getAttribute('lang'), label)
      await numberField(page).waitFor()
      assert.equal(await numberField(page).evaluate(() => document.documentElement.lang), label)
    }
    gateway.script.checkout = {}
  })

  test('the shopper chooses the brand where the page wants it', async () => {
    gateway.script.replies = [{ state: 'declined' }]
    await open('{ brandDetection: false }')
    await payRefused(page)
    await page.locator('.wpwl-hint-brandError').waitFor()
    await page.locator('.wpwl-control-brand').selectOption('VISA')
    await fillCard(page)
    await pay(page)
    await page.locator('.wpwl-message-error').waitFor()
    assert.equal(gateway.submitted.at(-1)!.paymentBrand, 'VISA')
    await open('{ brandDetectionPriority: ["CARTEBANCAIRE"] }', { brands: 'VISA CARTEBANCAIRE' })
    await fillCard(page)
    assert.equal(await page.locator('.wpwl-control-brand').inputValue(), 'CARTEBANCAIRE')
  })

  test('fields of the page and of the billing address travel, others do not', async () => {
    gateway.script.checkout = { merchantFields: ['billing.city'] }
    await open(
      `{ mandatoryBillingFields: { country: true, city: true }, billingAddress: { street1: 'Main Street 1' },
        onReady() {
          const form = document.querySelector('.wpwl-form-card')
          for (const [name, value] of [['customParameters[SHOPPER_note]', 'gift'], ['customParameters[other]', 'no'], ['amount', '1.00'], ['customer.email', 'jane@example.com']]) {
            const input = document.createElement('input'); input.name = name; input.value = value; input.type = 'hidden'; form.append(input)
          }
        } }`,
      { inForm: '<input type="checkbox" name="createRegistration" value="true">' },
    )
    await fillCard(page)
    await payRefused(page)
    await page.locator('.wpwl-hint-countryError').waitFor()
    await page.locator('.wpwl-control-country').fill('de')
    await page.locator('.wpwl-control-createRegistration').check()
    await pay(page)
    await page.locator('.wpwl-message-error').waitFor()
    const sent = gateway.submitted.at(-1)!
    assert.equal(sent['billing.country'], 'DE')
    assert.equal(sent['billing.street1'], 'Main Street 1')
    assert.equal(sent['customParameters[SHOPPER_note]'], 'gift')
    assert.equal(sent['customer.email'], 'jane@example.com')
    assert.equal(sent.createRegistration, 'true')
    assert.ok(
      !('amount' in sent) && !('customParameters[other]' in sent) && !('billing.city' in sent),
    )
    gateway.script.checkout = {}
  })

  test('stored cards can hide the other forms until they are wanted', async () => {
    gateway.script.checkout = {
      registrations: [
        {
          id: 'c'.repeat(32),
          brand: 'VISA',
          last4: '4242',
          expiryMonth: '08',
          expiryYear: '2030',
          cvv: 'not',
        },
      ],
    }
    await open(
      '{ registrations: { requireCvv: false, hideInitialPaymentForms: true }, onBeforeSubmitOneClickCard: () => { console.log("one click") } }',
    )
    assert.equal(await page.locator('.wpwl-form-card').isVisible(), false)
    assert.equal(await page.locator('.wpwl-form-registrations .wpwl-group-cvv').count(), 0)
    await pay(page, 'registrations')
    await hears('one click')
    await page.locator('.wpwl-form-registrations .wpwl-message-error').waitFor()
    assert.equal(gateway.submitted.at(-1)!.registrationId, 'c'.repeat(32))
    await page.locator('.wpwl-button-other').click()
    await numberField(page).waitFor()
    gateway.script.checkout = {}
  })

  test('options may come after the script', async () => {
    shop.show({
      after:
        '<script>var wpwlOptions = { style: "none", locale: "de", labels: { submit: "Los" } }</script>',
    })
    await page.goto(shop.address)
    await numberField(page).waitFor()
    assert.equal(await page.locator('.wpwl-button-pay').innerText(), 'Los')
    assert.equal(await page.locator('.wpwl-container').getAttribute('lang'), 'de')
    assert.equal(await page.locator('link[href*=widget]').count(), 0)
  })

  test('given name and surname are the name on the card and of the customer', async () => {
    gateway.script.replies = [{ state: 'declined' }]
    await open(
      '{ forceCardHolderEqualsBillingName: true, autofocus: "card.holder", onBlurCardHolder(isValid) { console.log("names", isValid) } }',
    )
    const [given, surname] = ['givenName', 'surName'].map((name) =>
      page.locator(`.wpwl-group-cardHolder .wpwl-control-${name}`),
    ) as [Locator, Locator]
    assert.equal(await page.locator('.wpwl-control-cardHolder').count(), 0)
    await given.and(page.locator(':focus')).waitFor()
    await numberField(page).pressSequentially('4200000000000000')
    await page.locator('.wpwl-control-expiry').pressSequentially('1230')
    await cvvField(page).pressSequentially('123')
    await given.fill('Jane')
    await pay(page)
    await page.locator('.wpwl-hint-surNameError').waitFor()
    await surname.and(page.locator(':focus')).waitFor()
    assert.equal(await page.locator('.wpwl-hint').count(), 1)
    const before = gateway.submitted.length
    await given.fill('4200 0000')
    await surname.fill('0000 0000')
    await pay(page)
    await page.getByText('Enter a name here, not a card number.').first().waitFor()
    assert.equal(gateway.submitted.length, before)
    await given.fill('Jane')
    await surname.fill('Jones')
    await given.focus()
    await hears('names true')
    await pay(page)
    await page.locator('.wpwl-message-error').waitFor()
    const sent = gateway.submitted.at(-1)!
    assert.equal(sent['card.holder'], 'Jane Jones')
    assert.equal(sent['customer.givenName'], 'Jane')
    assert.equal(sent['customer.surname'], 'Jones')
  })

  test('a page that waits for a summary is paid at once, by a button that says so', async () => {
    gateway.script.replies = [{ state: 'paid', resultUrl: `${shop.origin}/result` }]
    await open(
      '{ useSummaryPage: true, labels: { submit: "Next" }, onSaveTransactionData() { console.log("saved") } }',
    )
    const button = page.locator('.wpwl-button-pay')
    assert.equal(await button.innerText(), 'Pay €92.00')
    await fillCard(page)
    await pay(page)
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    assert.ok(!said.includes('saved'))
  })

  test('the page of a brand opens in the tab, also where the shop wants it inline', async () => {
    const redirect = { url: `${gateway.origin}/bank`, method: 'GET' }
    gateway.script.replies = [{ state: 'waiting', redirect }]
    await open('{ inlineFlow: ["PAYPAL"] }', { brands: 'PAYPAL' })
    await pay(page, 'virtualAccount')
    await page.getByRole('heading', { name: 'Example Bank' }).waitFor()
    assert.equal(page.url(), redirect.url)
  })

  test('Enter pays, unless the page wants a press of the button', async () => {
    gateway.script.replies = [{ state: 'declined' }]
    await open('{ disableSubmitOnEnter: true }')
    await fillCard(page)
    const before = gateway.submitted.length
    await numberField(page).press('Enter')
    await page.locator('.wpwl-control-cardHolder').press('Enter')
    await pay(page)
    await page.locator('.wpwl-message-error').waitFor()
    assert.equal(gateway.submitted.length, before + 1)
    await open('{}')
    await fillCard(page)
    await page.locator('.wpwl-control-cardHolder').press('Enter')
    await page.locator('.wpwl-message-error').waitFor()
    assert.equal(gateway.submitted.length, before + 2)
  })
})
