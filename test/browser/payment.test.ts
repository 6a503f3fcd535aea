/** Payments from a merchant's page to the books, with a real browser, host and engine. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newContext } from './support/browser.ts'
import { type RealGateway, realGateway } from './support/real-gateway.ts'
import { openShop, type Shop } from './support/shop.ts'
import { challengeFrame, cvvField, fillCard, numberField, pay } from './support/shopper.ts'

describe('a payment in the widget', () => {
  let gateway: RealGateway
  let shop: Shop
  let checkoutId = ''
  before(async () => {
    gateway = await realGateway()
    // Cards of the simulator that are not enrolled pay without a challenge all the same.
    await gateway.host.gateway.entities.configure(gateway.host.channel, { threeDSecure: 'on' })
    shop = await openShop(() => gateway.scriptOf(checkoutId))
  })
  after(async () => {
    await Promise.all([shop?.close(), gateway?.close()])
  })
  const newPage = async () => {
    const context = await newContext()
    const page = await context.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    return { context, page, said }
  }

  test('an accepted card leads to the result page, and the merchant reads the payment', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({})
    const { page, context, said } = await newPage()
    await page.goto(shop.address)
    await fillCard(page)
    await pay(page)
    await page.waitForURL(/\/result/)
    const address = new URL(page.url())
    assert.equal(address.searchParams.get('order'), '7')
    assert.equal(address.searchParams.get('id'), checkoutId)
    assert.equal(address.searchParams.get('resourcePath'), `/v1/checkouts/${checkoutId}/payment`)
    const { result, card, ...payment } = await gateway.result(checkoutId)
    assert.match(result.code, /^000\.100\.1/)
    assert.equal((card as { last4Digits: string }).last4Digits, '0000')
    assert.equal(payment.amount, '92.00')
    assert.deepEqual(said, [])
    await page.goBack()
    await page.locator('.wpwl-message', { hasText: 'successful' }).waitFor()
    assert.equal(await page.locator('.wpwl-button-pay').isVisible(), false)
    await context.close()
  })

  test('a declined card leaves the form for another, and the second one pays', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({})
    const { page, context } = await newPage()
    await page.goto(shop.address)
    await fillCard(page, { number: '4000000000000002' })
    await pay(page)
    await page.locator('.wpwl-message-error').waitFor()
    assert.doesNotMatch(await page.locator('body').innerText(), /800\.100/)
    assert.equal(await cvvField(page).inputValue(), '', 'the security code is not kept')
    await numberField(page).fill('')
    await numberField(page).pressSequentially('5555555555554444')
    await cvvField(page).pressSequentially('123')
    await pay(page)
    await page.waitForURL(/\/result/)
    const { paymentBrand } = await gateway.result(checkoutId)
    assert.equal(paymentBrand, 'MASTER')
    await context.close()
  })

  test('an amount that the merchant changed is shown before it is paid', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({})
    const { page, context } = await newPage()
    await page.goto(shop.address)
    await fillCard(page)
    const button = page.locator('.wpwl-button-pay')
    assert.equal(await button.innerText(), 'Pay €92.00')
    await gateway.update(checkoutId, { amount: '95.00' })
    await pay(page)
    await page.locator('.wpwl-message', { hasText: 'The amount has changed' }).waitFor()
    assert.equal(await button.innerText(), 'Pay €95.00')
    assert.equal((await gateway.result(checkoutId)).result.code, '000.200.000')
    await pay(page)
    await page.waitForURL(/\/result/)
    assert.equal((await gateway.result(checkoutId)).amount, '95.00')
    await context.close()
  })

  test('a page with words of its own on the button pays the present amount', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({ options: '{ labels: { submit: "Order" } }' })
    const { page, context } = await newPage()
    await page.goto(shop.address)
    await fillCard(page)
    await gateway.update(checkoutId, { amount: '95.00' })
    await pay(page)
    await page.waitForURL(/\/result/)
    assert.equal((await gateway.result(checkoutId)).amount, '95.00')
    await context.close()
  })

  test('a stored card of the list pays with its security code', async () => {
    const first = await gateway.checkout({ createRegistration: 'true' })
    checkoutId = first.id
    shop.show({})
    const { page, context } = await newPage()
    await page.goto(shop.address)
    await fillCard(page)
    await pay(page)
    await page.waitForURL(/\/result/)
    const { registrationId } = await gateway.result(checkoutId)
    checkoutId = (await gateway.checkout({ 'registrations[0].id': String(registrationId) })).id
    await page.goto(shop.address)
    assert.match(await page.locator('.wpwl-registration').innerText(), /Visa ending in .*0000/)
    await cvvField(page, '.wpwl-form-registrations').pressSequentially('123')
    await pay(page, 'registrations')
    await page.waitForURL(/\/result/)
    const paid = await gateway.result(checkoutId)
    assert.match(paid.result.code, /^000\.100\.1/)
    assert.equal(paid.registrationId, registrationId)
    await context.close()
  })

  test('a checkout without a payment stores the card', async () => {
    checkoutId = (await gateway.checkout({ createRegistration: 'only' })).id
    shop.show({ inForm: '<input type="checkbox" name="createRegistration" value="true" checked>' })
    const { page, context } = await newPage()
    await page.goto(shop.address)
    assert.equal(await page.locator('.wpwl-button-pay').innerText(), 'Save')
    assert.equal(await page.locator('[type=checkbox]').filter({ visible: true }).count(), 0)
    await fillCard(page)
    await pay(page)
    await page.waitForURL(/\/result/)
    const path = new URL(page.url()).searchParams.get('resourcePath')
    assert.equal(path, `/v1/checkouts/${checkoutId}/registration`)
    await context.close()
  })

  test('a bank account pays with its mandate', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({ brands: 'DIRECTDEBIT_SEPA' })
    const { page, context } = await newPage()
    await page.goto(shop.address)
    assert.match(await page.locator('.wpwl-mandate').innerText(), /SEPA direct debit/)
    await page.locator('.wpwl-control-accountHolder').fill('Jane Jones')
    const iban = page.locator('.wpwl-control-accountIban')
    await iban.pressSequentially('de89370400440532013001')
    await pay(page, 'directDebit')
    await page.locator('.wpwl-hint-accountIbanError').waitFor()
    await iban.press('Backspace')
    await iban.press('0')
    assert.equal(await iban.inputValue(), 'DE89 3704 0044 0532 0130 00')
    await pay(page, 'directDebit')
    await page.waitForURL(/\/result/)
    const { result, bankAccount } = await gateway.result(checkoutId)
    assert.match(result.code, /^000\.100\.1/)
    assert.doesNotMatch(JSON.stringify(bankAccount), /DE89370400440532013000/)
    await context.close()
  })

  test('a brand with a page of its own takes the tab there and back', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({ brands: 'PAYPAL' })
    const { page, context } = await newPage()
    await page.goto(shop.address)
    await pay(page, 'virtualAccount')
    await page.waitForURL((address) => address.origin === gateway.origin)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(/\/result/)
    const { result, paymentBrand } = await gateway.result(checkoutId)
    assert.match(result.code, /^000\.100\.1/)
    assert.equal(paymentBrand, 'PAYPAL')
    await context.close()
  })

  test('a challenge in the form pays once the shopper has confirmed', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({})
    const { page, context, said } = await newPage()
    await page.goto(shop.address)
    await fillCard(page, { number: '4200000000000018' })
    await pay(page)
    const bank = challengeFrame(page).frameLocator('.bank')
    await bank.getByRole('textbox').fill('1234')
    await bank.getByRole('button').first().click()
    await page.waitForURL(/\/result/)
    const { result } = await gateway.result(checkoutId)
    assert.match(result.code, /^000\.100\.1/)
    assert.deepEqual(said, [])
    await context.close()
  })

  test('a refused challenge leaves the form, a device is looked at before the next', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({})
    const { page, context } = await newPage()
    await page.goto(shop.address)
    const bank = challengeFrame(page).frameLocator('.bank')
    await fillCard(page, { number: '4200000000000018' })
    await pay(page)
    await bank.getByRole('textbox').fill('3333')
    await bank.getByRole('button').first().click()
    await page.locator('.wpwl-message-error').waitFor()
    await numberField(page).fill('')
    await numberField(page).pressSequentially('4200000000000042')
    await cvvField(page).pressSequentially('123')
    await pay(page)
    await bank.getByRole('textbox').fill('1234')
    await bank.getByRole('button').first().click()
    await page.waitForURL(/\/result/)
    assert.match((await gateway.result(checkoutId)).result.code, /^000\.100\.1/)
    await context.close()
  })

  test('two tabs that pay at once charge once', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({})
    const [one, other] = [await newPage(), await newPage()]
    await Promise.all([one, other].map(({ page }) => page.goto(shop.address)))
    for (const { page } of [one, other]) await fillCard(page)
    await Promise.all([one, other].map(({ page }) => pay(page)))
    await Promise.all([one, other].map(({ page }) => page.waitForURL(/\/result/)))
    const rows = await gateway.host.sql<{ state: string }>(
      'select state from tollgate.payment where checkout_id = $1',
      [checkoutId],
    )
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['approved'],
    )
    await Promise.all([one, other].map(({ context }) => context.close()))
  })

  test('an unknown checkout says so, and so does a removed one', async () => {
    const { page, context, said } = await newPage()
    shop.show({ options: '{ onError: (error) => console.log("told", error.name) }' })
    checkoutId = `${'0'.repeat(32)}.tollgate`
    await page.goto(shop.address)
    await page.locator('.wpwl-message-error').waitFor()
    assert.ok(said.includes('told InvalidCheckoutIdError'), said.join())
    checkoutId = (await gateway.checkout()).id
    await gateway.remove(checkoutId)
    await page.goto(shop.address)
    await page.locator('.wpwl-message-error').waitFor()
    assert.equal(await page.locator('.wpwl-button-pay').filter({ visible: true }).count(), 0)
    await context.close()
  })

  test('a page with strict policies pays', async () => {
    checkoutId = (await gateway.checkout()).id
    const { origin, fields } = gateway
    const policy = [
      "default-src 'none'",
      ...['script', 'style', 'connect', 'img'].map((kind) => `${kind}-src ${origin}`),
      `frame-src ${origin} ${fields}`,
      "require-trusted-types-for 'script'",
      'trusted-types tollgate',
    ].join('; ')
    shop.show({
      headers: {
        'Content-Security-Policy': policy,
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
      },
      scriptAttributes: 'crossorigin',
    })
    const { page, context, said } = await newPage()
    await page.goto(shop.address)
    await fillCard(page)
    await pay(page)
    await page.waitForURL(/\/result/)
    assert.deepEqual(said, [])
    await context.close()
  })
})
