/** Payments from a merchant's page to the books, with a real browser, host and engine. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newContext } from './support/browser.ts'
import { type RealGateway, realGateway } from './support/real-gateway.ts'
import { openShop, type Shop } from './support/shop.ts'
import { cvvField, fillCard, numberField, pay } from './support/shopper.ts'

describe('a payment in the widget', () => {
  let gateway: RealGateway
  let shop: Shop
  let checkoutId = ''
  before(async () => {
    gateway = await realGateway()
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
})
