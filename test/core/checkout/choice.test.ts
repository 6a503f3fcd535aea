/** A browser chooses among that which the merchant left open, and passes no authentication by. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { GatewayError } from '../../../core/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { cardFields, newCheckout, press } from './rig.ts'

/** The issuer asks the shopper. */
const challenged = '4200000000000042'

describe('the choice of a browser', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api', publicUrl: 'https://pay.example' })
    await run.gateway.entities.configure(run.channel, { threeDSecure: 'on' })
  })
  after(() => run.close())

  const stored = async (id: string) => {
    const view = (await run.gateway.checkouts.payment(id)) as unknown as Record<string, unknown>
    return { brand: view.paymentBrand, isStored: view.registrationId !== undefined }
  }

  test('an unrelated brand takes no number of an international scheme', async () => {
    for (const paymentBrand of ['CABAL', 'CENCOSUD', 'CARNET', 'TARJETASHOPPING', 'CABALDEBIT']) {
      const id = await newCheckout(run)
      const reply = await press(run.gateway, id, { paymentBrand, card: cardFields(challenged) })
      assert.deepEqual(reply.errors, [
        { field: 'card.number', reason: 'invalid' },
        { field: 'paymentBrand', reason: 'invalid' },
      ])
    }
    // A domestic number, in no range of an international scheme.
    const own = { paymentBrand: 'CABAL', card: cardFields('5896570000000008') }
    assert.equal((await press(run.gateway, await newCheckout(run), own)).errors, undefined)
  })

  test('a brand on cards of a scheme is authenticated by that scheme', async () => {
    for (const paymentBrand of [undefined, 'VISADEBIT', 'NATIVA', 'DANKORT']) {
      const id = await newCheckout(run)
      const more = paymentBrand === undefined ? {} : { paymentBrand }
      const reply = await press(run.gateway, id, { ...more, card: cardFields(challenged) })
      assert.equal(reply.state, 'waiting', paymentBrand)
    }
  })

  test('a brand that needs no account and no page is not for the browser to choose', async () => {
    for (const paymentBrand of ['INVOICE', 'PREPAYMENT', 'KLARNA_INVOICE', 'APPLEPAY']) {
      const id = await newCheckout(run)
      const reply = await press(run.gateway, id, { paymentBrand, card: undefined })
      assert.equal(reply.state, 'invalid', paymentBrand)
      assert.deepEqual(reply.errors, [{ field: 'paymentBrand', reason: 'invalid' }])
    }
    // The merchant itself may agree on such a brand with its shopper.
    const fixed = await newCheckout(run, { paymentBrand: 'INVOICE' })
    assert.equal((await press(run.gateway, fixed, { card: undefined })).state, 'paid')
  })

  test("a merchant's server that sends an unrelated brand is authenticated by the number", async () => {
    const payment = run.pay({
      paymentBrand: 'CABAL',
      card: cardFields(challenged),
      shopperResultUrl: 'https://shop.example/thanks',
    })
    // The issuer's card needs more of the shopper than this request has.
    await assert.rejects(payment, ({ parameterErrors }: GatewayError) =>
      parameterErrors.some(({ name }) => name === 'customer.browser.javaEnabled'),
    )
  })

  test('the brand and the wish to store are those of the merchant where set', async () => {
    const stores = await newCheckout(run, { createRegistration: 'true' })
    await press(run.gateway, stores, { createRegistration: 'false' })
    assert.deepEqual(await stored(stores), { brand: 'VISA', isStored: true })
    const keeps = await newCheckout(run, { createRegistration: 'false' })
    await press(run.gateway, keeps, { createRegistration: 'true' })
    assert.deepEqual(await stored(keeps), { brand: 'VISA', isStored: false })
    const fixed = await newCheckout(run, { paymentBrand: 'MASTER' })
    const { errors } = await press(run.gateway, fixed, { paymentBrand: 'VISA' })
    assert.deepEqual(
      errors?.map(({ field }) => field),
      ['card.number', 'paymentBrand'],
    )
    const typed = await newCheckout(run, {
      paymentBrand: 'VISA',
      overridePaymentType: { VISADEBIT: 'PA' },
    })
    await press(run.gateway, typed, { paymentBrand: 'VISADEBIT' })
    const { paymentType } = (await run.gateway.checkouts.payment(typed)) as unknown as {
      paymentType: string
    }
    assert.equal(paymentType, 'DB')
    const open = await newCheckout(run)
    await press(run.gateway, open, { createRegistration: 'true' })
    assert.deepEqual(await stored(open), { brand: 'VISA', isStored: true })
  })
})
