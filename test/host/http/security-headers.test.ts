/** The security headers of each answer, by which no page can frame, store or read it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ask, debit, type Hosted, startHost } from './hosted.ts'

describe('security headers', () => {
  let host: Hosted
  before(async () => {
    host = await startHost()
  })
  after(() => host.close())

  const elsewhere = { Origin: 'https://shop.example' }
  const told = {
    'strict-transport-security': /max-age=[0-9]{8}/,
    'x-content-type-options': /^nosniff$/,
    'x-frame-options': /^DENY$/,
    'referrer-policy': /^no-referrer$/,
    'content-security-policy': /frame-ancestors 'none'/,
    'cache-control': /^no-(?:store|cache)/,
  }

  test('every answer, refusal and page has the security headers, and none sets a cookie', async () => {
    const answers = [
      await ask(host.url, '/v1/payments', { form: debit, token: host.token }),
      await ask(host.url, '/v1/payments', { form: debit }),
      await ask(host.url, '/nothing-here'),
      await ask(host.url, '/healthz'),
      await fetch(`${host.url}/reference`),
      await fetch(`${host.url}/v1/resultcodes`),
    ]
    for (const answer of answers) {
      const { headers } = answer
      // A host waits at its end for a client that has not read its answer.
      if (answer instanceof Response) await answer.arrayBuffer()
      for (const [name, value] of Object.entries(told)) {
        assert.match(headers.get(name) ?? 'missing', value, name)
      }
      assert.equal(headers.get('set-cookie'), null)
    }
  })

  test('pages of other origins can neither read an answer nor send a preflighted request', async () => {
    const asked = await ask(host.url, '/v1/payments', {
      method: 'OPTIONS',
      headers: { ...elsewhere, 'Access-Control-Request-Method': 'POST' },
    })
    const read = await ask(host.url, '/healthz', { headers: elsewhere })
    for (const { headers } of [asked, read]) {
      assert.deepEqual(
        [...headers.keys()].filter((name) => name.startsWith('access-control')),
        [],
      )
    }
  })
})
