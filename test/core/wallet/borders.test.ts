/** A token pays once, however a forger without keys writes it anew. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startWithWallets, tokenOf, type WalletRun, walletFields } from '../../rig/wallets.ts'

describe("other spellings of a wallet's token", () => {
  let run: WalletRun
  before(async () => {
    run = await startWithWallets()
  })
  after(() => run.close())

  const pay = (fields: object) =>
    run.gateway.payments
      .create({
        entityId: run.channel,
        ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB', testMode: 'EXTERNAL' },
        ...fields,
      } as never)
      .then(
        () => 1,
        () => 0,
      )

  for (const field of walletFields) {
    test(`${field}: one of them all pays`, async () => {
      const sandbox = run.devices[field]
      const token = tokenOf(sandbox)
      const before = run.acquirer.calls.length
      let paid = 0
      for (const paymentToken of [token, ...sandbox.respelled!(token)]) {
        paid += await pay({ [field]: { paymentToken } })
      }
      assert.equal(paid, 1)
      assert.equal(run.acquirer.calls.length - before, 1)
    })
  }
})
