/** A page that a browser named leads nobody anywhere but the shopper who pays from it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { cardFields, newCheckout, pageOf, press } from './rig.ts'

const planted = { resultUrl: 'https://evil.example/fake-shop', origin: 'https://evil.example' }
const declined = { card: cardFields('4000000000000002') }

describe('a page planted by a shopper', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  test('is forgotten with its failed try, and is never called', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    const { state } = await press(run.gateway, id, { ...declined, ...planted })
    assert.equal(state, 'declined')
    assert.deepEqual(await press(run.gateway, id), { state: 'paid' })
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'paid' })
    const kept = await run.sql('select result_url from tollgate.checkout where id = $1', [id])
    assert.deepEqual(kept, [{ result_url: null }])
    const calls = await run.sql(
      "select ref from tollgate.timer where kind = 'callback' and ref = $1",
      [id],
    )
    assert.deepEqual(calls, [])
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
})
