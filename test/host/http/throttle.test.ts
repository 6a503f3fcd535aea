import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ask, debit, type Hosted, startHost } from './hosted.ts'

describe('the throttle', () => {
  let host: Hosted

  before(async () => {
    host = await startHost({ throttle: { writesPerSecond: 3, readsPerSecond: 50 } })
  })
  after(() => host.close())

  test('a token above its rate is told when to return, and other tokens and reads continue', async () => {
    const send = (token: string) => ask(host.url, '/v1/payments', { token, form: debit })
    // More than two windows allow, so that a window that ends in between changes nothing.
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(host.token)))
    const refused = answers.filter(({ status }) => status === 429)
    const taken = answers.filter(({ status }) => status === 200)
    assert.ok(refused.length >= 2, `${refused.length} refused`)
    assert.ok(taken.length >= 3)
    assert.equal(refused.length + taken.length, 8)
    for (const { body, headers } of refused) {
      assert.equal(body.result.code, '800.120.100')
      assert.match(body.result.description, /too many requests.*try again later/i)
      assert.equal(headers.get('retry-after'), '1')
      assert.equal(body.ndc, headers.get('x-request-id'))
    }
    const { token } = await host.gateway.entities.createToken(host.channel, 'other')
    assert.equal((await send(token)).status, 200)
    const path = `/v1/payments/${taken[0]?.body.id}?entityId=${host.channel}`
    assert.equal((await ask(host.url, path, { token: host.token })).status, 200)
  })

  test('an unknown token is 403 at any rate, because it has no share', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        ask(host.url, '/v1/payments', { token: 'unknown', form: debit }),
      ),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([403]))
  })

  test('health checks are never throttled', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(host.url, '/healthz')))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  })
})
