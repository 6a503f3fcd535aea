/** The receiver of other tests must itself refuse all that a merchant must refuse. */
import assert from 'node:assert/strict'
import { createCipheriv, createHmac, randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { until } from './gateway.ts'
import { checkSignature, decrypt, type Receiver, startReceiver } from './notification-receiver.ts'

describe('the receiver of notifications', () => {
  let receiver: Receiver
  before(async () => {
    receiver = await startReceiver()
  })
  after(() => receiver.close())

  const secret = `whsec_${randomBytes(24).toString('base64')}`
  const key = randomBytes(32).toString('hex')

  function signed(body: string, by = secret, at = Math.floor(Date.now() / 1000), id = 'msg_1') {
    const hmac = createHmac('sha256', Buffer.from(by.slice(6), 'base64'))
    return {
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-sequence': '1',
      'webhook-signature': `v1,${hmac.update(`${id}.${at}.${body}`).digest('base64')}`,
    }
  }

  const send = (path: string, body: string, headers: Record<string, string>) =>
    fetch(new URL(path, receiver.url), { method: 'POST', body, headers })

  test('the receiver decrypts the known answer of the published example, in both wrappers', () => {
    const hex = '0A3471C72D9BE49A8520F79C66BBD9A12FF9'
    const headers = {
      'x-initialization-vector': '000000000000000000000000',
      'x-authentication-tag': 'CE573FB7A41AB78E743180DC83FF09BD',
    }
    const known = '000102030405060708090a0b0c0d0e0f'.repeat(2)
    assert.equal(decrypt(headers, Buffer.from(hex), known).toString(), '{"type":"PAYMENT"}')
    const json = { ...headers, 'content-type': 'application/json' }
    const body = Buffer.from(JSON.stringify({ encryptedBody: hex }))
    assert.equal(decrypt(json, body, known).toString(), '{"type":"PAYMENT"}')
    const changed = Buffer.from(hex.replace('0A', '0B'))
    assert.throws(() => decrypt(headers, changed, known))
  })

  test('a receiver accepts only recent signatures of a known secret over the exact bytes', () => {
    const body = '{"type":"PAYMENT"}'
    const bytes = Buffer.from(body)
    checkSignature(signed(body), bytes, [secret])
    checkSignature(signed(body), bytes, ['whsec_b3RoZXI=', secret])
    assert.throws(
      () => checkSignature(signed(body), Buffer.from(`${body} `), [secret]),
      /unknown secret/,
    )
    assert.throws(() => checkSignature(signed(body), bytes, ['whsec_b3RoZXI=']), /unknown secret/)
    const old = Math.floor(Date.now() / 1000) - 301
    assert.throws(() => checkSignature(signed(body, secret, old), bytes, [secret]), /too far/)
  })

  test('a receiver remembers each delivery, or the reason it could not be read', async () => {
    receiver.trust({ secrets: [secret], key }, '/sealed')
    const clear = JSON.stringify({ type: 'PAYMENT', payload: { id: 'a'.repeat(32) } })
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'hex'), iv)
    const body = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final()]).toString('hex')
    const sealing = {
      'content-type': 'text/plain',
      'x-initialization-vector': iv.toString('hex'),
      'x-authentication-tag': cipher.getAuthTag().toString('hex'),
    }
    assert.equal((await send('/sealed', body, { ...signed(body), ...sealing })).status, 200)
    const good = await receiver.first(({ path }) => path === '/sealed')
    assert.deepEqual(good.notification, JSON.parse(clear))
    assert.equal(good.sequence, 1)

    await send('/sealed', body, { ...signed('another body'), ...sealing })
    const bad = await receiver.first(({ no }) => no > good.no)
    assert.equal(bad.notification, undefined)
    assert.match(bad.problem ?? '', /unknown secret/)
  })

  test('a receiver misbehaves as configured', async () => {
    const ways = [
      ['fail', 500],
      ['redirect', 302],
      ['gone', 410],
      [{ retryAfterSeconds: 7 }, 503],
      [{ slowMs: 5 }, 200],
      [{ hugeBytes: 100_000 }, 200],
    ] as const
    for (const [mode, status] of ways) {
      receiver.behave(mode, '/bad')
      const answer = await fetch(new URL('/bad', receiver.url), { redirect: 'manual' })
      assert.equal(answer.status, status)
      const bytes = (await answer.arrayBuffer()).byteLength
      if (typeof mode === 'object' && 'hugeBytes' in mode) assert.equal(bytes, mode.hugeBytes)
    }
    receiver.behave('reset', '/bad')
    await assert.rejects(fetch(new URL('/bad', receiver.url)))
    for (const mode of ['hang', 'drip'] as const) {
      receiver.behave(mode, '/bad')
      await until(async () => (receiver.open === 0 ? true : undefined))
      const gone = new AbortController()
      const before = receiver.received.length
      const asked = fetch(new URL('/bad', receiver.url), { signal: gone.signal }).then((answer) =>
        answer.text(),
      )
      const held = await receiver.first(({ no }) => no >= before)
      assert.equal(held.accepted, false)
      assert.equal(receiver.open, 1)
      gone.abort()
      await assert.rejects(asked)
    }
  })

  test("a receiver answers by a test's function and counts deliveries", async () => {
    const own = await startReceiver({
      mode: ({ no, path, search, body }, response) =>
        void response.writeHead(418).end([no, path, search, body].join(' ')),
    })
    try {
      const ask = async (body: string) => {
        const answer = await fetch(new URL('/tea?cups=2', own.url), { method: 'POST', body })
        return `${answer.status} ${await answer.text()}`
      }
      const both = own.atLeast(2)
      assert.equal(await ask('green'), '418 0 /tea ?cups=2 green')
      assert.equal(await ask('black'), '418 1 /tea ?cups=2 black')
      assert.deepEqual(
        (await both).map(({ body, accepted }) => [body, accepted]),
        [
          ['green', false],
          ['black', false],
        ],
      )
      await assert.rejects(own.atLeast(3, 1), /received: \/tea +NaN the path has no secrets/)
    } finally {
      await own.close()
    }
  })
})
