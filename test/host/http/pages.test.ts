/** Pages of plugins over HTTP: framed by shops, never on live, with limits and headers of their own. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { definePlugin, type PageReply, type PageVisit } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { simulatorHttp } from '../../../connectors/simulator/http-connector.ts'
import { systemClock } from '../../../core/clock.ts'
import { PluginPages } from '../../../core/connector/plugin-pages.ts'
import type { Lanes } from '../../../core/db/lanes.ts'
import { type Hosted, startHost } from './hosted.ts'

/** The reply of the next visit, and the visits so far. */
let reply: PageReply = { status: 200, html: '<!doctype html><title>Hello</title>' }
const visits: PageVisit[] = []

const plugin = definePlugin({
  name: 'greeter',
  contract: 1,
  connectors: [{ ...simulatorHttp, name: 'greeter-bank' }],
  async pages(visit, { records }) {
    visits.push(visit)
    if (visit.path === '/count') {
      const own = records('greeter-bank')
      const count = Number((await own.get('count')) ?? 0)
      await own.swap('count', count === 0 ? undefined : count, count + 1)
      return { status: 200, html: `visit ${count + 1}` }
    }
    if (visit.path === '/theirs') await records('simulator').get('secret')
    return reply
  },
})
const connectors = { 'greeter-bank': { url: 'http://127.0.0.1:9' } }
const silentPlugin = definePlugin({ name: 'silent', contract: 1 })

describe('pages of plugins', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({}, { plugins: [plugin, silentPlugin], connectors })
  })
  after(() => host.close())

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${host.url}${path}`, { headers, redirect: 'manual' })

  test('a visit brings the path, the query, the form and the languages of the browser', async () => {
    visits.length = 0
    await get('/v1/pages/greeter/a/b/c?x=1&x=2', { 'accept-language': 'de, en;q=0.5' })
    await fetch(`${host.url}/v1/pages/greeter/form`, {
      method: 'POST',
      body: new URLSearchParams({ code: 'zq83xv' }),
    })
    const [one, other] = visits
    assert.deepEqual(
      { ...one, query: { ...one?.query } },
      {
        method: 'GET',
        path: '/a/b/c',
        query: { x: '1' },
        form: {},
        acceptLanguage: 'de, en;q=0.5',
      },
    )
    assert.equal(other?.method, 'POST')
    assert.deepEqual({ ...other?.form }, { code: 'zq83xv' })
  })

  test('a page may stand in the frame of any shop, and is never kept', async () => {
    const { headers, status } = await get('/v1/pages/greeter/hello')
    assert.equal(status, 200)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /frame-ancestors http: https:$/)
    assert.match(policy, /default-src 'none'/)
    assert.equal(headers.get('x-frame-options'), null)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
    assert.equal(headers.get('cross-origin-embedder-policy'), 'require-corp')
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
  })

  test('a page may lead on to another address', async () => {
    reply = { status: 303, location: 'https://shop.example/back?x=1' }
    const { headers, status } = await get('/v1/pages/greeter/on')
    assert.equal(status, 303)
    assert.equal(headers.get('location'), 'https://shop.example/back?x=1')
  })

  test('a reply that cannot be sent is a fault of the plugin, and no header of it is sent', async () => {
    const wrong: PageReply[] = [
      { status: 303, location: 'javascript:alert(1)' },
      { status: 303, location: 'https://shop.example/\r\nset-cookie: a=b' },
      { status: 200, contentSecurityPolicy: "default-src 'self'\r\nset-cookie: a=b" },
      { status: 600 },
      { status: 101 },
    ]
    for (const one of wrong) {
      reply = one
      const { headers, status } = await get('/v1/pages/greeter/wrong')
      assert.equal(status, 500, JSON.stringify(one))
      assert.equal(headers.get('location'), null)
      assert.equal(headers.get('set-cookie'), null)
    }
    reply = { status: 200, html: 'well again' }
    assert.equal((await get('/v1/pages/greeter/well')).status, 200)
  })

  test('a plugin has records of its own parts, and none of others', async () => {
    assert.equal(await (await get('/v1/pages/greeter/count')).text(), 'visit 1')
    assert.equal(await (await get('/v1/pages/greeter/count')).text(), 'visit 2')
    assert.equal((await get('/v1/pages/greeter/theirs')).status, 500)
  })

  test('a form that is too large is refused before the plugin sees it', async () => {
    visits.length = 0
    const body = `code=${'1'.repeat(limits.pageFormBytes)}`
    const { status } = await fetch(`${host.url}/v1/pages/greeter/form`, { method: 'POST', body })
    assert.equal(status, 400)
    assert.equal(visits.length, 0)
  })

  test('a plugin without pages, and one that is not there, is a plain page with status 404', async () => {
    for (const path of ['/v1/pages/silent/x', '/v1/pages/nobody/x', '/v1/pages/__proto__/x']) {
      const answer = await get(path)
      assert.equal(answer.status, 404)
      assert.match(await answer.text(), /There is nothing at this address/)
    }
  })

  test('what a page is asked and answers is not in the log', () => {
    assert.ok(host.lines.length > 0)
    const text = JSON.stringify(host.lines)
    for (const secret of ['a/b/c', 'zq83xv', 'javascript'])
      assert.ok(!text.includes(secret), secret)
  })

  test('an embedder serves pages without our host', async () => {
    const { pages } = host.gateway
    const visit = { method: 'GET', path: '/', query: {}, form: {} } as const
    assert.equal((await pages.visit('greeter', visit))?.html, 'well again')
    assert.equal(await pages.visit('silent', visit), undefined)
    assert.equal(pages.serves('simulator'), true)
  })
})

test('on live no plugin serves pages', async () => {
  const parts = { plugins: [plugin], lanes: {} as Lanes, clock: systemClock }
  const visit = { method: 'GET', path: '/a', query: {}, form: {} } as const
  visits.length = 0
  const live = new PluginPages({ ...parts, environment: 'live' })
  assert.equal(live.serves('greeter'), false)
  assert.equal(await live.visit('greeter', visit), undefined)
  assert.equal(visits.length, 0)
  assert.equal(new PluginPages({ ...parts, environment: 'test' }).serves('greeter'), true)
})
