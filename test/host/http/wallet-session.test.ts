/** A wallet recognises a page by the merchant's certificate, which the gateway has and the page has not. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { limits } from '../../../schemas/index.ts'
import { answerCheck } from '../../rig/documented-answers.ts'
import { configOf, createDevices, walletPlugins } from '../../rig/wallets.ts'
import { type Body, type Hosted, startHost } from './hosted.ts'

const secretKey = `-----BEGIN PRIVATE KEY-----\n${'Q0FOQVJZ'.repeat(20)}\n-----END PRIVATE KEY-----\n`
const certificate = `-----BEGIN CERTIFICATE-----\n${'QUJD'.repeat(30)}\n-----END CERTIFICATE-----\n`
const page = 'https://shop.example'

describe('the session of a wallet', () => {
  const devices = createDevices()
  let host: Hosted
  let wallet: Server
  const asked: Record<string, unknown>[] = []
  let answer = { status: 200, body: '{"merchantSessionIdentifier":"one"}' }
  let id = ''
  let unlisted = ''

  before(async () => {
    wallet = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        asked.push(JSON.parse(Buffer.concat(parts).toString()))
        response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body)
      })
    })
    await new Promise<void>((ready) => wallet.listen(0, '127.0.0.1', ready))
    const { port } = wallet.address() as AddressInfo
    const config = configOf(devices)
    host = await startHost(
      {},
      {
        plugins: walletPlugins,
        connectors: {
          ...config,
          'apple-pay': { ...config['apple-pay'], testSessionUrl: `http://127.0.0.1:${port}/` },
        },
      },
    )
    unlisted = await host.gateway.entities.create({
      ...{ kind: 'channel', name: 'Without a list of pages' },
      parentId: host.merchant,
    })
    for (const channelId of [host.channel, unlisted]) {
      await host.gateway.accounts.add({
        channelId,
        connector: 'apple-pay',
        mode: 'EXTERNAL',
        settings: {
          ...devices.applePay.settings.account,
          ...{ merchantName: 'Example Shop', country: 'DE' },
          ...{ identityCertificate: certificate, identityKey: secretKey },
        },
      })
    }
    await host.gateway.entities.configure(host.channel, { widgetOrigins: [page] } as never)
    const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
    const made = await host.gateway.checkouts.create({ entityId: host.channel, ...basket } as never)
    id = made.id
  })
  after(async () => {
    await host.close()
    wallet.close()
  })

  const ask = async (query: Readonly<Record<string, string>>, checkoutId = id) => {
    const path = `/v1/checkouts/${checkoutId}/walletSession`
    const response = await fetch(`${host.url}${path}?${new URLSearchParams(query)}`, {
      headers: { Origin: page },
    })
    const text = await response.text()
    const header = (name: string) => response.headers.get(name)
    const { status } = response
    const check = await answerCheck()
    check.answer({ method: 'GET', path }, { status, header, text })
    return { status, body: JSON.parse(text) as Body, header }
  }
  const names = (body: Body) =>
    (body.result as { parameterErrors?: { name: string }[] }).parameterErrors?.map(
      ({ name }) => name,
    )

  test('a page gets the object of the wallet, made for its own host', async () => {
    const { status, body, header } = await ask({ wallet: 'applePay', origin: page })
    assert.equal(status, 200)
    assert.deepEqual(JSON.parse(body.session as string), { merchantSessionIdentifier: 'one' })
    assert.equal(header('access-control-allow-origin'), '*')
    assert.deepEqual(asked.at(-1), {
      merchantIdentifier: 'merchant.com.example.sandbox',
      displayName: 'Example Shop',
      initiative: 'web',
      initiativeContext: 'shop.example',
    })
  })

  test('no answer, log or offer has a key or a certificate', async () => {
    const offer = await fetch(`${host.url}/v1/checkouts/${id}/widget`)
    const told = JSON.stringify([await offer.text(), host.lines, host.logs])
    assert.match(told, /Example Shop/)
    for (const secret of ['Q0FOQVJZ', 'QUJDQUJD', 'PRIVATE KEY']) {
      assert.equal(told.includes(secret), false, secret)
    }
  })

  test('a wallet that refuses or answers nonsense is 503, and its words stay here', async () => {
    for (const wrong of [
      { status: 417, body: '{"statusMessage":"unknown domain"}' },
      { status: 200, body: '<html>' },
    ]) {
      answer = wrong
      const { status, body } = await ask({ wallet: 'applePay', origin: page })
      assert.equal(status, 503)
      assert.equal(JSON.stringify(body).includes('unknown domain'), false)
    }
    answer = { status: 200, body: '{}' }
  })

  test('a page that may not show the widget, a wrong origin, and a wallet without a button are refused', async () => {
    const before = asked.length
    const foreign = await ask({ wallet: 'applePay', origin: 'https://other.example' })
    assert.deepEqual([foreign.status, names(foreign.body)], [400, ['origin']])
    const path = await ask({ wallet: 'applePay', origin: `${page}/` })
    assert.deepEqual([path.status, names(path.body)], [400, ['origin']])
    const other = await ask({ wallet: 'googlePay', origin: page })
    assert.deepEqual([other.status, names(other.body)], [400, ['wallet']])
    assert.equal(
      (await ask({ wallet: 'applePay', origin: page }, `${'0'.repeat(32)}.test`)).status,
      404,
    )
    assert.equal(asked.length, before)
  })

  test('an address without a name is no page of a shop, nor is one without https', async () => {
    const basket = { entityId: unlisted, amount: '92.00', currency: 'EUR', paymentType: 'DB' }
    const made = await host.gateway.checkouts.create(basket as never)
    const before = asked.length
    for (const origin of ['http://shop.example', 'https://[::1]', 'https://192.0.2.7', 'app://x']) {
      const { status, body } = await ask({ wallet: 'applePay', origin }, made.id)
      assert.deepEqual([status, names(body)], [400, ['origin']], origin)
    }
    assert.equal(asked.length, before)
  })

  test('strangers make few calls with the identity of the merchant', async () => {
    const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
    const made = await host.gateway.checkouts.create({ entityId: host.channel, ...basket } as never)
    const before = asked.length
    const all = await Promise.all(
      Array.from({ length: 12 }, () => ask({ wallet: 'applePay', origin: page }, made.id)),
    )
    const statuses = all.map(({ status }) => status)
    assert.deepEqual([...new Set(statuses)].sort(), [200, 429])
    assert.ok(asked.length - before <= limits.shopperQuestions.atOnce)
    assert.equal(all.find(({ status }) => status === 429)!.header('retry-after'), '2')
    await host.gateway.checkouts.remove(made.id)
    assert.equal((await ask({ wallet: 'applePay', origin: page }, made.id)).status, 400)
  })
})
