/** Shoppers pay by wallet at a checkout, and the gateway authenticates those whom their device did not. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Card } from '@tollgate/plugin-kit'
import { browser, resultPage } from '../../rig/authenticator.ts'
import {
  cryptogram,
  deviceNumber,
  startWithWallets,
  tokenOf,
  type WalletRun,
  walletBrands,
  walletFields,
} from '../../rig/wallets.ts'
import { newCheckout, press } from '../checkout/rig.ts'

/** The issuer asks the shopper. */
const challenged = '4200000000000042'

describe('shoppers with a wallet', () => {
  let run: WalletRun
  before(async () => {
    run = await startWithWallets({ publicUrl: 'https://pay.example' })
    await run.gateway.entities.configure(run.channel, { threeDSecure: 'on' })
  })
  after(() => run.close())

  const pay = (token: string) =>
    run.gateway.payments.create({
      entityId: run.channel,
      ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB' },
      shopperResultUrl: resultPage,
      googlePay: { paymentToken: token },
      ...browser,
    } as never)

  test('a token that proves nothing goes through the authentication of the gateway', async () => {
    const { googlePay } = run.devices
    const view = await pay(tokenOf(googlePay, { numberType: 'PAN', number: challenged }))
    assert.equal(view.result.code, '000.200.000')
    assert.ok(view.redirect !== undefined, 'to the page of the issuer')
  })

  test('a device number with its cryptogram is not authenticated again', async () => {
    const view = await pay(tokenOf(run.devices.googlePay, { number: challenged }))
    assert.equal(view.result.code, '000.100.110')
    assert.equal((view.threeDSecure as { eci: string }).eci, '05')
  })

  for (const field of walletFields) {
    describe(field, () => {
      test('a press with a token pays the checkout', async () => {
        const merchantTransactionId = `checkout-${field}`
        const id = await newCheckout(run, { testMode: 'EXTERNAL', merchantTransactionId })
        const token = tokenOf(run.devices[field], { cryptogram })
        const submitted = {
          card: undefined,
          paymentBrand: walletBrands[field],
          [field]: { paymentToken: token },
        }
        assert.equal((await press(run.gateway, id, submitted)).state, 'paid')
        const [call, ...others] = run.acquirer.calls.filter(
          ({ reference }) => reference === merchantTransactionId,
        )
        assert.equal(others.length, 0)
        assert.equal((call!.operation.instrument as Card).number.reveal(), deviceNumber)
        assert.equal(call!.operation.threeDSecure?.verificationId?.reveal(), cryptogram)
        // Another checkout, the same token.
        const second = await newCheckout(run)
        const refused = await press(run.gateway, second, submitted)
        assert.equal(refused.state, 'invalid')
        assert.deepEqual(refused.errors, [{ field: `${field}.paymentToken`, reason: 'invalid' }])
        const fresh = { ...submitted, [field]: { paymentToken: tokenOf(run.devices[field]) } }
        assert.equal((await press(run.gateway, second, fresh)).state, 'paid')
      })
    })
  }

  test('the same press sent twice is one payment with one token', async () => {
    const id = await newCheckout(run)
    const submitted = {
      ...{ nonce: 'one-press-sent-twice', card: undefined, paymentBrand: 'APPLEPAY' },
      applePay: { paymentToken: tokenOf(run.devices.applePay) },
    }
    const both = await Promise.all([
      press(run.gateway, id, submitted),
      press(run.gateway, id, submitted),
    ])
    assert.deepEqual(
      both.map(({ state }) => state),
      ['paid', 'paid'],
    )
    const rows = await run.sql('select id from tollgate.payment where checkout_id = $1', [id])
    assert.equal(rows.length, 1)
  })

  test("a wallet's brand without its token pays nothing", async () => {
    const id = await newCheckout(run)
    const reply = await press(run.gateway, id, { card: undefined, paymentBrand: 'GOOGLEPAY' })
    assert.equal(reply.state, 'invalid')
  })

  test('a checkout that only stores an account takes a token', async () => {
    const id = await newCheckout(run, {
      ...{ amount: undefined, currency: undefined, paymentType: undefined },
      createRegistration: 'true',
    })
    const applePay = { paymentToken: tokenOf(run.devices.applePay) }
    const reply = await press(run.gateway, id, {
      card: undefined,
      paymentBrand: 'APPLEPAY',
      applePay,
    })
    assert.equal(reply.state, 'paid')
  })
})
