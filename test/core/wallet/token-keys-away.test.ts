/** A repeat under its key finds its payment while the keys of the wallet are away. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import googlePlugin from '../../../connectors/google-pay/index.ts'
import { GatewayError, systemClock } from '../../../core/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { createDevices, tokenOf, walletBrands } from '../../rig/wallets.ts'

describe('payments with a token while the keys of its wallet are away', () => {
  const { googlePay } = createDevices()
  let run: TestGateway
  let elapsedMs = 0
  let isAway = false
  const server = createServer((_, response) => {
    response.writeHead(isAway ? 500 : 200, { 'cache-control': 'max-age=600' })
    response.end(googlePay.roots[0]!)
  })

  before(async () => {
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    const { port } = server.address() as AddressInfo
    const testRootKeysUrl = `http://127.0.0.1:${port}/keys.json`
    run = await startGateway({
      plugins: [googlePlugin],
      connectors: { 'google-pay': { ...googlePay.settings.config, testRootKeysUrl } },
      clock: { ...systemClock, elapsedMs: () => systemClock.elapsedMs() + elapsedMs },
    })
    const settings = googlePay.settings.account
    const account = { connector: 'google-pay', mode: 'EXTERNAL', settings } as const
    await run.gateway.accounts.add({ channelId: run.channel, ...account })
  })
  after(async () => {
    await run.close()
    server.close()
  })

  const pay = (idempotencyKey: string) =>
    run.gateway.payments.create(
      {
        entityId: run.channel,
        ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB' },
        paymentBrand: walletBrands.googlePay,
        googlePay: { paymentToken: tokenOf(googlePay) },
      } as never,
      { idempotencyKey },
    )

  test('a repeat gets its payment, and a new payment is 503', async () => {
    const first = await pay('key-1')
    assert.equal(first.result.code, '000.100.110')
    isAway = true
    elapsedMs += 700_000
    assert.equal((await pay('key-1')).id, first.id)
    await assert.rejects(pay('key-2'), (error) => {
      assert.ok(error instanceof GatewayError)
      return error.status === 503
    })
  })
})
