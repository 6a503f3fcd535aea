/** Presses with tokens that are refused: they end nothing, and each is a try of the checkout. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { definePlugin, defineWallet } from '@tollgate/plugin-kit'
import { browser } from '../../rig/authenticator.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { startWithWallets, tokenOf, type WalletRun } from '../../rig/wallets.ts'
import { cardFields, newCheckout, nonce, press } from '../checkout/rig.ts'

describe('presses with a token that is refused', () => {
  let run: WalletRun
  before(async () => {
    run = await startWithWallets({ publicUrl: 'https://pay.example' })
    await run.gateway.entities.configure(run.channel, { threeDSecure: 'on' })
  })
  after(() => run.close())

  test("a press with a used token leaves another shopper's challenge alone", async () => {
    const token = tokenOf(run.devices.googlePay)
    const submitted = {
      ...{ card: undefined, paymentBrand: 'GOOGLEPAY', googlePay: { paymentToken: token } },
    }
    const stranger = await newCheckout(run)
    assert.equal((await press(run.gateway, stranger, submitted)).state, 'paid')
    const id = await newCheckout(run)
    const { acceptHeader: _, ...ofBrowser } = browser.customer.browser
    const begun = await press(run.gateway, id, {
      card: cardFields('4200000000000042'),
      customer: { browser: { ...ofBrowser, screenColorDepth: '24' } },
      billing: browser.billing,
    })
    assert.equal(begun.state, 'waiting')
    assert.equal((await press(run.gateway, id, submitted)).state, 'invalid')
    const states = await run.sql('select state from tollgate.payment where checkout_id = $1', [id])
    assert.deepEqual(states, [{ state: 'pending' }])
  })
})

describe('tries with a token', () => {
  let run: TestGateway
  let opened = 0
  const wallet = defineWallet({
    name: 'counting-pay',
    title: 'Counting Pay',
    field: 'applePay',
    contract: 1,
    open: () => {
      opened += 1
      return { is: 'refused', class: 'signature' }
    },
  })
  before(async () => {
    const plugin = definePlugin({ name: 'counting', contract: 1, wallets: [wallet] })
    run = await startGateway({ role: 'api', plugins: [plugin] })
    const account = { connector: 'counting-pay', mode: 'EXTERNAL', settings: {} } as const
    await run.gateway.accounts.add({ channelId: run.channel, ...account })
  })
  after(() => run.close())

  const forged = (paymentToken = 'anything', more: object = {}) => ({
    ...{ nonce: nonce(), card: undefined, paymentBrand: 'APPLEPAY' },
    ...{ applePay: { paymentToken }, ...more },
  })
  const invalid = {
    state: 'invalid',
    errors: [{ field: 'applePay.paymentToken', reason: 'invalid' }],
  }

  test('each refusal is one, and the last one closes the checkout', async () => {
    const id = await newCheckout(run)
    for (let left = 9; left > 0; left -= 1) {
      assert.deepEqual(await press(run.gateway, id, forged()), invalid)
    }
    const last = await press(run.gateway, id, forged())
    assert.deepEqual([last.state, last.attemptsLeft], ['declined', 0])
    const before = opened
    assert.equal((await press(run.gateway, id, forged())).state, 'closed')
    assert.equal(opened, before)
  })

  test('the same press sent again is no further try, and its token is not opened again', async () => {
    const id = await newCheckout(run)
    const same = forged()
    assert.deepEqual(await press(run.gateway, id, same), invalid)
    const before = opened
    for (let times = 0; times < 12; times += 1) {
      assert.deepEqual(await press(run.gateway, id, same), invalid)
    }
    assert.equal(opened, before)
    assert.equal((await press(run.gateway, id)).state, 'paid')
  })

  test('many presses at once open no more tokens than tries are left', async () => {
    const id = await newCheckout(run)
    const before = opened
    const replies = await Promise.all(
      Array.from({ length: 30 }, () => press(run.gateway, id, forged())),
    )
    assert.ok(opened - before <= 10, `${opened - before} tokens were opened`)
    assert.ok(replies.some(({ state }) => state === 'busy'))
    assert.equal((await run.gateway.checkouts.state(id)).state, 'closed')
  })
})
