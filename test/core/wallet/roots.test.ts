/** Whom a wallet trusts: anchors of its environment, and a fetched document for as long as it may be kept. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Plugin, PluginError } from '@tollgate/plugin-kit'
import applePlugin from '../../../connectors/apple-pay/index.ts'
import googlePlugin from '../../../connectors/google-pay/index.ts'
import {
  createGateway,
  GatewayError,
  localKeys,
  makeKey,
  systemClock,
} from '../../../core/index.ts'
import { startTestCluster } from '../../rig/cluster.ts'
import { freshSimulator, startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { createDevices, tokenOf, walletBrands } from '../../rig/wallets.ts'

/** One document in spellings that mean it. */
const testKeys = [
  'payments.developers.google.com/paymentmethodtoken/test/keys.json',
  'PAYMENTS.developers.google.com/paymentmethodtoken/test/keys.json',
  'payments.developers.google.com:443/paymentmethodtoken/test/keys.json',
  'payments.developers.google.com./paymentmethodtoken/test/keys.json',
  'payments.developers.google.com/paymentmethodtoken/./test/keys.json',
  'payments.developers.google.com/paymentmethodtoken/%74est/keys.json',
  'payments.developers.google.com/paymentmethodtoken//test/keys.json?x=1#y',
].map((address) => `https://${address}`)

describe('trust anchors', () => {
  const devices = createDevices()

  test('a live engine does not start with a root of a test system', async () => {
    const cluster = await startTestCluster({ durable: true })
    const start = async (plugin: Plugin, config: Record<string, unknown>) => {
      const gateway = await createGateway({
        database: { url: cluster.url },
        environment: 'live',
        keys: localKeys(liveKey),
        plugins: [freshSimulator(), plugin],
        connectors: { [plugin.name]: config },
        role: 'api',
      })
      await gateway.close()
    }
    const liveKey = makeKey('live')
    const wrong: (readonly [Plugin, Record<string, unknown>, RegExp])[] = [
      [
        applePlugin,
        { testRoots: devices.applePay.roots[0] },
        /testRoots is for the test environment/,
      ],
      [googlePlugin, { testRootKeys: devices.googlePay.roots[0] }, /testRootKeys is for the test/],
      [googlePlugin, { testRootKeysUrl: 'https://keys.example/k.json' }, /testRootKeysUrl is for/],
      [googlePlugin, { testRootKeysUrl: 'http://127.0.0.1:9/k.json' }, /testRootKeysUrl is for/],
      ...testKeys.map(
        (rootKeysUrl) => [googlePlugin, { rootKeysUrl }, /keys for test payments/] as const,
      ),
      [googlePlugin, { rootKeysUrl: 'http://keys.example/k.json' }, /must be an https URL/],
    ]
    try {
      for (const [plugin, config, why] of wrong) {
        await assert.rejects(start(plugin, config), (error) => {
          assert.ok(error instanceof PluginError, String(error))
          assert.match(error.message, why)
          return true
        })
      }
      await start(applePlugin, {})
    } finally {
      await cluster.stop()
    }
  })

  test('a root that cannot be read stops the start', async () => {
    const connectors = { 'apple-pay': { testRoots: `${'x'.repeat(120)}` } }
    const start = startGateway({ plugins: [applePlugin], connectors })
    await assert.rejects(start, /testRoots has no certificate/)
  })

  describe('in a document', () => {
    let run: TestGateway
    let elapsedMs = 0
    const answers: { status: number; body: string; headers?: Record<string, string> }[] = []
    let asked = 0
    const server = createServer((_, response) => {
      asked += 1
      const { status, body, headers } = answers.at(-1)!
      response.writeHead(status, headers)
      response.end(body)
    })
    const { googlePay } = devices
    const document = googlePay.roots[0]!

    before(async () => {
      await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
      const { port } = server.address() as AddressInfo
      answers.push({
        status: 200,
        body: document,
        headers: { 'cache-control': 'public, max-age=600' },
      })
      run = await startGateway({
        plugins: [googlePlugin],
        connectors: {
          'google-pay': {
            ...googlePay.settings.config,
            testRootKeysUrl: `http://127.0.0.1:${port}/keys.json`,
          },
        },
        clock: { ...systemClock, elapsedMs: () => systemClock.elapsedMs() + elapsedMs },
      })
      await run.gateway.accounts.add({
        channelId: run.channel,
        connector: 'google-pay',
        mode: 'EXTERNAL',
        settings: googlePay.settings.account,
      })
    })
    after(async () => {
      await run.close()
      server.close()
    })

    const pay = () =>
      run.gateway.payments.create({
        entityId: run.channel,
        ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB' },
        paymentBrand: walletBrands.googlePay,
        googlePay: { paymentToken: tokenOf(googlePay) },
      } as never)
    const isPaid = async () => assert.equal((await pay()).result.code, '000.100.110')

    test('it is fetched once for many payments', async () => {
      await Promise.all([isPaid(), isPaid(), isPaid()])
      assert.equal(asked, 1)
    })

    test('it is refreshed before its end, and no payment waits for that', async () => {
      elapsedMs += 400_000
      await isPaid()
      await until(async () => (asked === 2 ? true : undefined))
      await isPaid()
      assert.equal(asked, 2)
    })

    test('it is kept when a refresh fails, until its end', async () => {
      answers.push({ status: 500, body: 'down' })
      elapsedMs += 400_000
      await isPaid()
      await until(async () => (asked >= 3 ? true : undefined))
      elapsedMs += 400_000
      await assert.rejects(pay(), (error) => {
        assert.ok(error instanceof GatewayError)
        assert.deepEqual([error.status, error.retryAfterSeconds], [503, 5])
        return true
      })
      for (const body of ['<html>a proxy</html>', '{"error":{"code":503}}']) {
        answers.push({ status: 200, body, headers: { 'cache-control': 'max-age=604800' } })
        elapsedMs += 5000
        await assert.rejects(pay(), GatewayError)
      }
      answers.push({ status: 200, body: document })
      elapsedMs += 5000
      await isPaid()
    })

    test('a text without a key of the wallet does not replace it, and is reported', async () => {
      const [before, lines] = [asked, run.logs.length]
      const headers = { 'cache-control': 'public, max-age=604800' }
      answers.push({ status: 200, body: '{"error":{"code":503,"message":"backend"}}', headers })
      // The document is kept for an hour without a header.
      elapsedMs += 35 * 60_000
      await isPaid()
      const warned = () =>
        run.logs.slice(lines).filter(({ message }) => /trust anchors/.test(message))
      await until(async () => (warned().length > 0 ? true : undefined))
      assert.match(JSON.stringify(warned()), /no key that the wallet can use/)
      await isPaid()
      assert.equal(asked, before + 1, 'it is not asked again at once')
      answers.push({ status: 200, body: document })
      elapsedMs += 5000
      await isPaid()
      await until(async () => (asked === before + 2 ? true : undefined))
      elapsedMs += 35 * 60_000
      await isPaid()
    })

    test('while it cannot be fetched, payments are refused at once', async () => {
      answers.push({ status: 500, body: 'down' })
      elapsedMs += 2 * 60 * 60_000
      await assert.rejects(pay(), GatewayError)
      const before = asked
      for (let round = 0; round < 3; round += 1) await assert.rejects(pay(), GatewayError)
      assert.equal(asked, before)
    })

    test('new keys count from the next refresh on, and old ones no longer', async () => {
      answers.push({ status: 200, body: googlePay.foreignRoots[0]! })
      elapsedMs += 2 * 60 * 60_000
      await assert.rejects(pay(), (error) => error instanceof GatewayError && error.status === 400)
    })
  })
})
