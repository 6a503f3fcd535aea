/** Tokens with networks: the address that counts, and the trusted source for it. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { createHost } from '../../../host/index.ts'
import { ask, startHost } from './hosted.ts'

describe('tokens with networks', async () => {
  const run = await startHost({ trustedProxy: ['loopback'] })
  const direct = createHost(run.gateway, { port: 0 })
  const served = await direct.listen()
  after(async () => {
    await served.close()
    await run.close()
  })
  const tokenFrom = async (...networks: string[]) =>
    (await run.gateway.entities.createToken(run.channel, 'bound', { networks })).token
  const statusOf = async (url: string, token: string, forwardedFor?: string) => {
    const headers = forwardedFor === undefined ? {} : { 'X-Forwarded-For': forwardedFor }
    return (await ask(url, '/v1/webhooks', { token, headers })).status
  }

  test('a token is checked against the address of the connection where no proxy is trusted', async () => {
    const token = await tokenFrom('10.1.0.0/16')
    assert.equal(await statusOf(served.url, await tokenFrom('127.0.0.0/8')), 200)
    assert.equal(await statusOf(served.url, token), 403)
    assert.equal(await statusOf(served.url, token, '10.1.0.1'), 403, 'anybody can say that')
  })

  test("a token is checked against the address seen by the nearest trusted proxy, not a client's header", async () => {
    const token = await tokenFrom('10.1.0.0/16', '2001:db8::/32')
    for (const [forwardedFor, status] of [
      ['10.1.0.1', 200],
      ['2001:db8::9', 200],
      ['192.0.2.1', 403],
      ['10.1.0.1, 192.0.2.1', 403],
      ['192.0.2.1, 10.1.0.1', 200],
      ['10.1.0.1, nonsense', 403],
      ['10.1.0.1:443', 403],
      [undefined, 403],
    ] as const) {
      assert.equal(await statusOf(run.url, token, forwardedFor), status, forwardedFor)
    }
  })

  test('the refusal of a token does not reveal its networks', async () => {
    const token = await tokenFrom('10.1.0.0/16')
    const { status, body } = await ask(run.url, '/v1/webhooks', { token })
    const unknown = await ask(run.url, '/v1/webhooks', { token: 'x'.repeat(43) })
    assert.equal(status, 403)
    assert.deepEqual(body.result, unknown.body.result)
    assert.doesNotMatch(JSON.stringify(body), /10\.1|127\.0/)
  })
})
