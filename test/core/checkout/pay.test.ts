/** A checkout is paid once, by the shopper's entry and the merchant's terms. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { basket, cardFields, newCheckout, nonce, pageOf, press, shop } from './rig.ts'

describe('checkouts', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api', publicUrl: 'https://pay.example' })
  })
  after(() => run.close())

  const paymentsOf = (id: string) =>
    run.sql<{ id: string; state: string; request: Record<string, never> }>(
      'select id, state from tollgate.payment where checkout_id = $1',
      [id],
    )
  const codeOf = async (id: string) => (await run.gateway.checkouts.payment(id)).result.code

  test('an id that nobody guesses, which is also the number of the answer', async () => {
    const view = await run.gateway.checkouts.create({ entityId: run.channel, ...basket } as never)
    assert.match(view.id, /^[0-9A-F]{32}\.tollgate$/)
    assert.equal(view.ndc, view.id)
    assert.equal(view.result.code, '000.200.100')
  })

  test('a card pays it, and the merchant reads the payment under the number of the checkout', async () => {
    const id = await newCheckout(run, { merchantTransactionId: 'order-2041' })
    assert.equal(await codeOf(id), '000.200.000')
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'free' })
    assert.deepEqual(await press(run.gateway, id), { state: 'paid', resultUrl: pageOf(id) })
    const view = (await run.gateway.checkouts.payment(id)) as Record<string, unknown> & {
      result: { code: string }
    }
    assert.equal(view.result.code, '000.100.110')
    assert.equal(view.ndc, id)
    assert.equal(view.amount, '92.00')
    assert.equal(view.merchantTransactionId, 'order-2041')
    assert.deepEqual((view.customer as { ip: string }).ip, '192.0.2.7')
    assert.equal(view.challenge, undefined)
    assert.deepEqual(await run.gateway.checkouts.state(id), {
      state: 'paid',
      resultUrl: pageOf(id),
    })
    assert.deepEqual(await press(run.gateway, id), { state: 'paid', resultUrl: pageOf(id) })
    assert.equal((await paymentsOf(id)).length, 1)
  })

  test('a declined card leaves the checkout open for another one, and no code is told', async () => {
    const id = await newCheckout(run)
    const reply = await press(run.gateway, id, { card: cardFields('4000000000000002') })
    assert.deepEqual(reply, { state: 'declined', attemptsLeft: 9 })
    assert.equal(await codeOf(id), '800.100.152')
    assert.equal((await press(run.gateway, id)).state, 'paid')
    assert.equal(await codeOf(id), '000.100.110')
  })

  test('after ten declines the checkout is closed', async () => {
    const id = await newCheckout(run)
    for (let left = 9; left > 0; left -= 1) {
      const reply = await press(run.gateway, id, { card: cardFields('4000000000000002') })
      assert.deepEqual(reply, { state: 'declined', attemptsLeft: left })
    }
    assert.deepEqual(await press(run.gateway, id, { card: cardFields('4000000000000002') }), {
      state: 'declined',
      attemptsLeft: 0,
      resultUrl: pageOf(id),
    })
    assert.deepEqual(await press(run.gateway, id), { state: 'closed', resultUrl: pageOf(id) })
    assert.equal((await paymentsOf(id)).length, 10)
  })

  test('the fields to correct are named, and nothing is sent', async () => {
    const id = await newCheckout(run)
    const wrong = async (fields: object) => (await press(run.gateway, id, fields as never)).errors
    assert.deepEqual(await wrong({ card: cardFields('4200000000000001') }), [
      { field: 'card.number', reason: 'invalid' },
    ])
    assert.deepEqual(await wrong({ card: { ...cardFields(), expiryYear: '2020' } }), [
      { field: 'card.expiryYear', reason: 'expired' },
    ])
    const { expiryMonth: _, ...withoutMonth } = cardFields()
    assert.deepEqual(await wrong({ card: withoutMonth }), [
      { field: 'card.expiryMonth', reason: 'required' },
    ])
    assert.deepEqual(await wrong({ card: undefined }), [
      { field: 'card.number', reason: 'required' },
    ])
    assert.deepEqual(await wrong({ paymentBrand: 'NOBRAND' }), [
      { field: 'paymentBrand', reason: 'invalid' },
    ])
    assert.equal((await paymentsOf(id)).length, 0)
  })

  test('a browser sets neither the amount nor the channel, and fills only what the merchant left empty', async () => {
    const id = await newCheckout(run, { customer: { givenName: 'Ada', surname: 'Byron' } })
    for (const field of ['amount', 'currency', 'paymentType', 'descriptor', 'entityId']) {
      const reply = await press(run.gateway, id, { [field]: field === 'amount' ? '1.00' : 'x' })
      assert.equal(reply.state, 'invalid', field)
    }
    const more = {
      customer: { givenName: 'Eve', surname: 'Other', email: 'eve@shop.example' },
      customParameters: { SHOPPER_gift: 'yes' },
    }
    assert.equal((await press(run.gateway, id, more)).state, 'paid')
    const view = (await run.gateway.checkouts.payment(id)) as unknown as Record<string, object>
    assert.deepEqual(view.customer, {
      givenName: 'Ada',
      surname: 'Byron',
      email: 'eve@shop.example',
      ip: '192.0.2.7',
    })
    assert.deepEqual(view.customParameters, { SHOPPER_gift: 'yes' })
  })

  test('a press that arrives twice is one payment', async () => {
    const id = await newCheckout(run)
    const one = { nonce: nonce() }
    const replies = await Promise.all([1, 2, 3, 4].map(() => press(run.gateway, id, one)))
    for (const reply of replies) assert.deepEqual(reply, { state: 'paid', resultUrl: pageOf(id) })
    assert.equal((await paymentsOf(id)).length, 1)
  })

  test('two tabs at the same moment make one payment', async () => {
    const other = await run.another({ role: 'api' })
    const id = await newCheckout(run)
    const replies = await Promise.all(
      [run.gateway, other, run.gateway, other].map((gateway) => press(gateway, id)),
    )
    assert.ok(replies.some(({ state }) => state === 'paid'))
    assert.equal((await paymentsOf(id)).length, 1)
    await other.close()
  })

  test('a brand can have a payment type of its own', async () => {
    const id = await newCheckout(run, { overridePaymentType: { MASTER: 'PA' } })
    await press(run.gateway, id, { card: cardFields('5454545454545454') })
    const view = (await run.gateway.checkouts.payment(id)) as unknown as { paymentType: string }
    assert.equal(view.paymentType, 'PA')
  })

  test('the page of the form is used where the merchant named none', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    const reply = await press(run.gateway, id, { resultUrl: shop, origin: 'https://shop.example' })
    assert.deepEqual(reply, { state: 'paid', resultUrl: pageOf(id) })
  })

  test('the widget shows the price, the brands and no secret', async () => {
    const id = await newCheckout(run, {
      amount: '92',
      customer: { givenName: 'Ada', surname: 'Byron' },
    })
    const offer = await run.gateway.checkouts.offer(id)
    assert.equal(offer.amount, '92.00')
    assert.equal(offer.currency, 'EUR')
    assert.equal(offer.test, true)
    assert.equal(offer.result, true)
    assert.deepEqual(offer.merchantFields, ['customer.givenName', 'customer.surname'])
    assert.ok(offer.brands.some(({ brand, flow }) => brand === 'VISA' && flow === 'card'))
    assert.ok(!JSON.stringify(offer).includes('Ada'))
  })
})
