/** Nobody signs tokens of Samsung Pay: with the public key of a merchant anybody writes what a token says. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import samsungPlugin from '../../../connectors/samsung-pay/index.ts'
import { GatewayError } from '../../../core/index.ts'
import { startGateway } from '../../rig/gateway.ts'
import {
  createDevices,
  newCryptogram,
  startWithWallets,
  tokenOf,
  type WalletRun,
} from '../../rig/wallets.ts'

describe('tokens that nobody signs', () => {
  let run: WalletRun
  before(async () => {
    run = await startWithWallets()
  })
  after(() => run.close())

  const pay = (token: string, entityId = run.channel) =>
    run.gateway.payments.create({
      entityId,
      ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB', testMode: 'EXTERNAL' },
      samsungPay: { paymentToken: token },
    } as never)
  const refused = (error: unknown) => error instanceof GatewayError && error.code === '200.300.404'

  test('a cryptogram pays once, whatever time and number stand beside it', async () => {
    const { samsungPay } = run.devices
    const cryptogram = newCryptogram()
    const now = Date.now()
    await pay(tokenOf(samsungPay, { cryptogram, at: new Date(now) }))
    const others = [
      { at: new Date(now + 1) },
      { at: new Date(now), number: '4200000000000000' },
      { at: new Date(now), expiryYear: '2035' },
    ]
    for (const more of others) {
      await assert.rejects(pay(tokenOf(samsungPay, { cryptogram, ...more })), refused)
    }
    // The same bytes in other spellings of base64.
    for (const spelled of [cryptogram.replace(/=+$/, ''), `${cryptogram} `]) {
      await assert.rejects(pay(tokenOf(samsungPay, { cryptogram: spelled })), refused)
    }
    await pay(tokenOf(samsungPay, { cryptogram: newCryptogram() }))
  })

  test('a token of one merchant is none of another', async () => {
    const { gateway, devices, division } = run
    const { samsungPay } = devices
    const merchant = await gateway.entities.create({
      ...{ kind: 'merchant', name: 'Other' },
      parentId: division,
    } as never)
    const channel = await gateway.entities.create({
      ...{ kind: 'channel', name: 'Other' },
      parentId: merchant,
    } as never)
    for (const connector of ['samsung-pay', 'scripted'] as const) {
      const settings = connector === 'samsung-pay' ? samsungPay.foreignAccount : {}
      await gateway.accounts.add({ channelId: channel, connector, mode: 'EXTERNAL', settings })
    }
    const token = tokenOf(samsungPay)
    await assert.rejects(pay(token, channel), refused)
    await pay(token)
  })

  test('an installation has no keys for all merchants', async () => {
    const { settings } = createDevices().samsungPay
    const connectors = { 'samsung-pay': { privateKeys: settings.account.privateKeys } }
    await assert.rejects(startGateway({ plugins: [samsungPlugin], connectors }), /privateKeys/)
  })
})
