/** A page that a browser named leads nobody anywhere but the shopper who pays from it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { cardFields, newCheckout, nonce, pageOf, press, shop } from './rig.ts'

const planted = { resultUrl: 'https://evil.example/fake-shop', origin: 'https://evil.example' }
const declined = { card: cardFields('4000000000000002') }

describe('a page planted by a shopper', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api', publicUrl: 'https://pay.example' })
  })
  after(() => run.close())

  /** The calls that wait for a payment of a checkout. */
  const calls = (id: string) =>
    run.sql(
      `select ref from tollgate.timer where kind = 'callback' and ref in (
        select replace(id::text, '-', '') from tollgate.payment where checkout_id = $1)`,
      [id],
    )

  test('is forgotten with its failed try, and is never called', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    const { state } = await press(run.gateway, id, { ...declined, ...planted })
    assert.equal(state, 'declined')
    assert.deepEqual(await press(run.gateway, id), { state: 'paid' })
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'paid' })
    assert.deepEqual(await calls(id), [])
  })

  test('does not get the call of a later try on the page of the merchant', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    await press(run.gateway, id, { ...declined, ...planted })
    await run.gateway.checkouts.update(id, { shopperResultUrl: shop } as never)
    assert.deepEqual(await press(run.gateway, id), { state: 'paid', resultUrl: pageOf(id) })
    const [paid] = await run.sql<{ id: string }>(
      'select payment_id as id from tollgate.checkout where id = $1',
      [id],
    )
    assert.deepEqual(await calls(id), [{ ref: paid!.id }])
  })

  test('is not where a checkout without tries leads to', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    for (let left = 10; left > 0; left -= 1) {
      await press(run.gateway, id, { ...declined, ...planted })
    }
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'closed' })
  })

  test("does not replace the merchant's own", async () => {
    const id = await newCheckout(run)
    await press(run.gateway, id, { ...declined, ...planted, origin: undefined })
    assert.deepEqual(await press(run.gateway, id), { state: 'paid', resultUrl: pageOf(id) })
  })

  const forms = { paymentBrand: 'PAYPAL', card: undefined, ...planted }
  const evil = /evil\.example/
  /** A press that is at its bank, and the address that the bank leads back to. */
  const away = async (id: string, more: object = {}) => {
    const one = { nonce: nonce(), ...forms, ...more }
    const reply = await press(run.gateway, id, one)
    assert.equal(reply.state, 'waiting')
    const bank = new URL(reply.redirect!.url)
    const [visit = ''] = bank.pathname.split('/').at(-1)!.split('.')
    const { returnUrl } = JSON.parse(Buffer.from(visit, 'base64url').toString())
    const [payment = '', token = ''] = String(returnUrl).split('/').slice(-2)
    const back = () =>
      run.gateway.shoppers.cameBack(payment, token, { method: 'GET', query: {}, form: {} })
    return { one, payment, back }
  }

  test('leads nobody to a bank or to itself but the press that named it', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    const { one } = await away(id)
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'busy' })
    const other = { nonce: nonce(), paymentBrand: 'PAYPAL', card: undefined }
    assert.deepEqual(await run.gateway.checkouts.state(id, { nonce: other.nonce }), {
      state: 'busy',
    })
    assert.ok((await run.gateway.checkouts.state(id, { nonce: one.nonce })).redirect !== undefined)
    assert.ok((await press(run.gateway, id, one)).redirect !== undefined)
  })

  test('of a payment that a stranger paid is told to no other press', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    const one = { nonce: nonce(), ...planted }
    assert.match(String((await press(run.gateway, id, one)).resultUrl), evil)
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'paid' })
    const form = { resultUrl: 'https://shop.example/thanks', origin: 'https://shop.example' }
    assert.deepEqual(await press(run.gateway, id, form), { state: 'paid' })
    assert.match(
      String((await run.gateway.checkouts.state(id, { nonce: one.nonce })).resultUrl),
      evil,
    )
  })

  test('is where the shopper of this press comes back from the bank, and later nobody', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    const { payment, back } = await away(id)
    const here = await back()
    assert.ok(here?.to === 'merchant' && evil.test(here.location))
    assert.deepEqual(await back(), here)
    await run.sql(
      "update tollgate.payment set settled_at = now() - interval '3 minutes' where id = $1",
      [payment],
    )
    assert.deepEqual(await back(), { to: 'nowhere', checkout: id })
    const late = await newCheckout(run, { shopperResultUrl: undefined })
    const open = await away(late)
    await run.sql(
      "update tollgate.payment set created_at = now() - interval '31 minutes' where id = $1",
      [open.payment],
    )
    assert.deepEqual(await open.back(), { to: 'nowhere', checkout: late })
  })

  test('is not followed once the merchant has named a page, or listed others', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    const { back } = await away(id)
    await run.sql(
      "update tollgate.checkout set request = request || jsonb_build_object('shopperResultUrl', $2::text) where id = $1",
      [id, shop],
    )
    assert.deepEqual(await back(), { to: 'merchant', location: pageOf(id) })
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      parentId: run.merchant,
      name: 'Listed later',
    })
    const listed = await newCheckout(run, { shopperResultUrl: undefined, entityId: channel })
    const before = await away(listed)
    await run.gateway.entities.configure(channel, {
      widgetOrigins: ['https://shop.example'],
    } as never)
    await until(async () =>
      (await run.gateway.checkouts.offer(listed)).widgetOrigins === undefined ? undefined : true,
    )
    assert.deepEqual(await before.back(), { to: 'nowhere', checkout: listed })
    assert.deepEqual(
      Object.keys(await run.gateway.checkouts.state(listed, { nonce: before.one.nonce })),
      ['state', 'redirect'],
    )
  })
})
