/** The bank's page of the acquirer behind HTTP, on which the shopper pays or cancels. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Operation } from '@tollgate/plugin-kit'
import { acquirerTime, type Merchant, overHttp, payment } from './support.ts'

describe('the redirect page of the acquirer', () => {
  const operation = () =>
    payment('debit', {
      brand: 'IDEAL',
      instrument: { kind: 'virtualAccount', brand: 'IDEAL', accountId: 'jane' },
    })
  const returnUrl = 'https://shop.example/back?order=1'

  async function bankUrl(merchant: Merchant, redirected: Operation): Promise<string> {
    const outcome = await merchant.run({ ...redirected, returnUrl })
    assert.ok(outcome.is === 'pending' && typeof outcome.next === 'object')
    assert.ok('redirect' in outcome.next)
    return outcome.next.redirect.url
  }
  const time = acquirerTime()

  for (const [button, expected] of [
    ['approve', 'approved'],
    ['cancel', '100.396.101'],
  ] as const) {
    it(`${button} on the page decides the payment and sends the shopper back`, async (test) => {
      const merchant = await overHttp(test, { time })
      const redirected = operation()
      const url = await bankUrl(merchant, redirected)
      assert.match(await (await fetch(url)).text(), new RegExp(`formaction="[^"]*/${button}"`))
      const back = { method: 'GET', query: { status: 'approved' }, form: {}, refs: {} } as const
      const early = await merchant.connector.complete!(redirected, back, merchant.context())
      assert.equal(early.is, 'pending', 'coming back alone proves nothing')
      const sent = await fetch(`${url}/${button}`, { method: 'POST', redirect: 'manual' })
      assert.equal(sent.status, 303)
      assert.equal(sent.headers.get('location'), returnUrl)
      const outcome = await merchant.connector.complete!(redirected, back, merchant.context())
      assert.equal(outcome.is === 'declined' ? outcome.reason : outcome.is, expected)
    })
  }

  it('the page opens only under its own address', async (test) => {
    const merchant = await overHttp(test, { time })
    const url = await bankUrl(merchant, operation())
    for (const wrong of [`${url}x`, url.replace('/bank/', '/bank/A')]) {
      assert.equal((await fetch(`${wrong}/approve`, { method: 'POST' })).status, 404)
    }
    assert.equal(
      (await fetch(`${url}/approve`)).status,
      404,
      'a link that is followed pays nothing',
    )
    assert.equal(merchant.totals().charged, 0n)
  })
})
