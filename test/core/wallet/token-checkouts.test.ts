/** The merchant decides what a press with a token does, and a stored device number has no security code. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Card } from '@tollgate/plugin-kit'
import { startWithWallets, tokenOf, type WalletRun } from '../../rig/wallets.ts'
import { newCheckout, press } from '../checkout/rig.ts'

describe('checkouts and tokens', () => {
  let run: WalletRun
  before(async () => {
    run = await startWithWallets({ publicUrl: 'https://pay.example' })
  })
  after(() => run.close())

  const withToken = (more: object = {}) => ({
    ...{ card: undefined, googlePay: { paymentToken: tokenOf(run.devices.googlePay) } },
    ...more,
  })
  const typeOf = async (made: object, sent: Readonly<Record<string, unknown>>) => {
    const id = await newCheckout(run, { testMode: 'EXTERNAL', ...made })
    assert.equal((await press(run.gateway, id, sent)).state, 'paid')
    const [row] = await run.sql<{ payment_type: string }>(
      'select payment_type from tollgate.payment where checkout_id = $1',
      [id],
    )
    return row!.payment_type
  }

  test('the payment type of a wallet counts for its token, whichever brand the browser names', async () => {
    const ofWallet = { paymentType: 'PA', overridePaymentType: { GOOGLEPAY: 'DB' } }
    for (const sent of [{ paymentBrand: 'GOOGLEPAY' }, { paymentBrand: 'VISA' }, {}]) {
      assert.equal(await typeOf(ofWallet, withToken(sent)), 'DB')
    }
    const ofCard = { paymentType: 'PA', overridePaymentType: { VISA: 'DB' } }
    for (const sent of [{ paymentBrand: 'VISA' }, {}]) {
      assert.equal(await typeOf(ofCard, withToken(sent)), 'PA')
    }
    assert.equal(await typeOf(ofCard, {}), 'DB', 'a card by its number')
  })

  test('a stored device number asks for no security code', async () => {
    const made = await run.gateway.registrations.create({
      entityId: run.channel,
      testMode: 'EXTERNAL',
      applePay: { paymentToken: tokenOf(run.devices.applePay) },
    } as never)
    const merchantTransactionId = 'stored-device'
    const id = await newCheckout(run, {
      ...{ testMode: 'EXTERNAL', merchantTransactionId },
      registrations: [{ id: made.id }],
    })
    const { registrations } = await run.gateway.checkouts.offer(id)
    assert.deepEqual(
      registrations.map(({ cvv }) => cvv),
      ['not'],
    )
    const reply = await press(run.gateway, id, { card: undefined, registrationId: made.id })
    assert.equal(reply.state, 'paid')
    const call = run.acquirer.calls.find(({ reference }) => reference === merchantTransactionId)!
    assert.equal((call.operation.instrument as Card).numberType, 'DPAN')
  })
})
