/** The files of the widget over HTTP: one version for one page, for pages of any origin, and nothing kept of frames. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { createGateway, localKeys } from '../../../core/index.ts'
import { createHost } from '../../../host/index.ts'
import { startTestCluster } from '../../rig/cluster.ts'
import { freshSimulator } from '../../rig/gateway.ts'
import { widgetRelease } from '../../rig/widget-release.ts'
import { type Hosted, startHost } from './hosted.ts'

const first = widgetRelease('one')
const second = widgetRelease('two')
const checkout = `${'AB12'.repeat(8)}.node`
const frameOf = ({ frames }: typeof first, name: string) => {
  const { hash } = frames.find((frame) => frame.name === name) ?? frames[0]!
  return `/v1/checkouts/${checkout}/frame/${hash}/${name}`
}

describe('files of the widget', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({}, { widget: first })
  })
  after(() => host.close())
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(host.url + path, { headers })

  test('the script is the same for everyone, from pages of any origin', async () => {
    for (const path of ['/v1/paymentWidgets.js', '/paymentWidgets.js']) {
      for (const query of ['', `?checkoutId=${checkout}`, `?checkoutId=${checkout}/registration`]) {
        const response = await get(path + query)
        assert.equal(response.status, 200)
        assert.match(response.headers.get('content-type') ?? '', /^text\/javascript/)
        assert.equal(response.headers.get('access-control-allow-origin'), '*')
        assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin')
        assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
        const bytes = Buffer.from(await response.arrayBuffer())
        const digest = createHash('sha384').update(bytes).digest('base64')
        assert.equal(`sha384-${digest}`, first.loader.integrity)
      }
    }
  })

  test('a browser that has the script gets no bytes', async () => {
    const response = await get('/v1/paymentWidgets.js')
    const tag = response.headers.get('etag') ?? ''
    assert.match(tag, new RegExp(first.loader.hash))
    const again = await get('/v1/paymentWidgets.js', { 'If-None-Match': tag })
    assert.equal(again.status, 304)
    assert.equal((await again.arrayBuffer()).byteLength, 0)
    const changed = await get('/v1/paymentWidgets.js', { 'If-None-Match': '"another"' })
    assert.equal(changed.status, 200)
  })

  test('scripts are compressed for those who take it', async () => {
    const path = '/v1/paymentWidgets.js'
    const plain = await get(path, { 'Accept-Encoding': 'identity' })
    assert.equal(plain.headers.get('content-encoding'), null)
    const small = await get(path, { 'Accept-Encoding': 'gzip, br' })
    assert.equal(small.headers.get('content-encoding'), 'br')
    assert.ok(Number(small.headers.get('content-length')) < 500)
    assert.equal(await small.text(), await plain.text())
    const refused = await get(path, { 'Accept-Encoding': 'br;q=0' })
    assert.equal(refused.headers.get('content-encoding'), null)
  })

  test('an address with a hash never changes', async () => {
    const [{ hash, name, bytes }] = first.files as [(typeof first.files)[0]]
    const response = await get(`/v1/widget/${hash}/${name}`)
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes)
    for (const path of [
      `/v1/widget/${hash}/de.js`,
      `/v1/widget/${'0'.repeat(32)}/${name}`,
      `/v1/widget/${hash}/..%2F${name}`,
      `/v1/widget/x/${name}`,
      // A frame belongs to a checkout.
      `/v1/widget/${first.frames[0]?.hash}/number`,
      frameOf(first, 'en.js'),
      frameOf(first, 'cvv2'),
    ]) {
      const missing = await get(path)
      assert.equal(missing.status, 404, path)
      assert.equal(missing.headers.get('cache-control'), 'no-store', path)
    }
  })

  test('a frame has a policy of its own, is shown in pages and never kept', async () => {
    const response = await get(frameOf(first, 'number'))
    assert.equal(response.status, 200)
    const { headers } = response
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; frame-ancestors https: http:",
    )
    assert.equal(headers.get('x-frame-options'), null)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
    assert.equal(headers.get('cross-origin-embedder-policy'), 'require-corp')
    const challenge = await get(frameOf(first, 'challenge'))
    // Pages of banks know nothing of embedding.
    assert.equal(challenge.headers.get('cross-origin-embedder-policy'), null)
  })

  test('a page of one version goes on with it while another is deployed', async () => {
    const gateway = await host.another({ widget: second })
    const served = createHost(gateway, { port: 0 })
    const { url, close } = await served.listen()
    try {
      // The older process serves the newer version, and the other way round.
      for (const [at, release] of [
        [host.url, second],
        [url, first],
      ] as const) {
        const frame = await fetch(at + frameOf(release, 'number'))
        assert.equal(frame.status, 200)
        assert.equal(await frame.text(), release.frames[0]?.html)
        const [{ hash, name, bytes }] = release.files as [(typeof first.files)[0]]
        const file = await fetch(`${at}/v1/widget/${hash}/${name}`)
        assert.deepEqual(Buffer.from(await file.arrayBuffer()), bytes)
      }
      assert.equal(
        await (await fetch(`${url}/v1/paymentWidgets.js`)).text(),
        String(second.loader.bytes),
      )
    } finally {
      await close()
    }
  })

  test('a checkout keeps the script that it was made with', async () => {
    const gateway = await host.another({ widget: second })
    const served = createHost(gateway, { port: 0 })
    const { url, close } = await served.listen()
    try {
      const make = async (path: string, more: Readonly<Record<string, string>> = {}) => {
        const response = await fetch(url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${host.token}` },
          body: new URLSearchParams({ integrity: 'true', ...more }),
        })
        return (await response.json()) as { id: string; integrity: string }
      }
      const basket = { entityId: host.channel, amount: '92.00', currency: 'EUR', paymentType: 'DB' }
      const before = await host.gateway.checkouts.create({ ...basket, integrity: 'true' } as never)
      const after = await make('/v1/checkouts', basket)
      assert.equal(before.integrity, first.loader.integrity)
      assert.equal(after.integrity, second.loader.integrity)
      assert.equal((await make(`/v1/checkouts/${before.id}`)).integrity, first.loader.integrity)
      for (const at of [host.url, url]) {
        for (const [id, { loader }] of [
          [before.id, first],
          [after.id, second],
        ] as const) {
          const response = await fetch(`${at}/v1/paymentWidgets.js?checkoutId=${id}/registration`)
          assert.equal(await response.text(), String(loader.bytes))
          assert.match(response.headers.get('cache-control') ?? '', /immutable/)
        }
      }
    } finally {
      await close()
    }
  })

  test('a channel names the pages that may show its fields', async () => {
    const own = await host.gateway.entities.create({
      kind: 'channel',
      name: 'Own',
      parentId: host.merchant,
      settings: { widgetOrigins: ['https://shop.example', 'https://www.shop.example'] },
    })
    const { id } = await host.gateway.checkouts.create({
      ...{ entityId: own, amount: '92.00', currency: 'EUR', paymentType: 'DB' },
    } as never)
    const address = frameOf(first, 'number').replace(checkout, id)
    const { headers } = await get(address)
    assert.match(
      headers.get('content-security-policy') ?? '',
      /frame-ancestors https:\/\/shop\.example https:\/\/www\.shop\.example$/,
    )
  })

  test('a live installation takes checkouts only with an origin of card fields', async () => {
    const cluster = await startTestCluster({ durable: true })
    try {
      for (const fieldsUrl of [undefined, 'https://fields.example.com']) {
        await using gateway = await createGateway({
          database: { url: cluster.url },
          environment: 'live',
          keys: localKeys(`live:${'5e6f'.repeat(16)}`),
          plugins: [freshSimulator()],
          role: 'api',
          ...(fieldsUrl === undefined ? {} : { fieldsUrl }),
        })
        let entityId: string | undefined
        for (const kind of ['psp', 'division', 'merchant', 'channel'] as const) {
          const above = entityId === undefined ? {} : { parentId: entityId }
          entityId = await gateway.entities.create({ kind, name: 'Live', ...above })
        }
        const basket = { entityId, amount: '92.00', currency: 'EUR', paymentType: 'DB' }
        const making = gateway.checkouts.create(basket as never)
        // With the origin it fails for want of an acquirer alone, as payments of servers do, which show no fields.
        const why = fieldsUrl === undefined ? /fieldsUrl/ : { code: '600.200.700' }
        await assert.rejects(making, why)
        const card = { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034' }
        const paying = gateway.payments.create({ ...basket, card } as never)
        await assert.rejects(paying, { code: '600.200.700' })
      }
    } finally {
      await cluster.stop()
    }
  })

  test('the name of card fields has frames and their files, and nothing else', async () => {
    const origins = { merchant: 'https://pay.example.com', fields: 'https://fields.example.com' }
    const [{ hash, name }] = first.files as [(typeof first.files)[0]]
    for (const given of [origins, { fields: origins.fields }]) {
      const served = createHost(host.gateway, { port: 0, origins: given })
      const { url, close } = await served.listen()
      try {
        for (const [at, path, status] of [
          ['fields.example.com', frameOf(first, 'number'), 200],
          ['fields.example.com', frameOf(first, 'number').replace('/v1', ''), 200],
          ['fields.example.com', `/v1/widget/${hash}/${name}`, 200],
          ['fields.example.com', '/v1/paymentWidgets.js', 404],
          ['fields.example.com', '/v1/resultcodes', 404],
          ['fields.example.com', '/reference', 404],
          ['fields.example.com', '/healthz', 200],
          ['pay.example.com', frameOf(first, 'number'), 404],
          ['pay.example.com', frameOf(first, 'challenge'), 200],
          ['pay.example.com', `/v1/widget/${hash}/${name}`, 200],
          ['pay.example.com', '/v1/paymentWidgets.js', 200],
        ] as const) {
          // Without a name of its own, the surface of merchants has any but the one of fields.
          assert.equal(await statusUnder(url, at, path), status, `${at} ${path}`)
        }
      } finally {
        await close()
      }
    }
  })

  test('a gateway without a widget has no script', async () => {
    const bare = await startHost()
    try {
      assert.equal((await fetch(`${bare.url}/v1/paymentWidgets.js`)).status, 404)
    } finally {
      await bare.close()
    }
  })

  test('an embedder serves the same with a server of its own', async () => {
    const { gateway } = host
    const script = await gateway.widget.script(checkout)
    assert.equal(script.status, 200)
    assert.deepEqual(Buffer.from(script.body), first.loader.bytes)
    const frame = await gateway.widget.frame(checkout, first.frames[0]!.hash, 'number')
    assert.match(frame.headers['Content-Security-Policy'] ?? '', /frame-ancestors/)
    const missing = await gateway.widget.asset('0'.repeat(32), 'en.js')
    assert.equal(missing.status, 404)
  })
})

function statusUnder(url: string, host: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { headers: { Host: host } }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    asked.on('error', reject)
    asked.end()
  })
}
