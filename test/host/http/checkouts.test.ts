/** Checkouts over HTTP: the merchant with a token, the shopper's browser with the id alone. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createHost } from '../../../host/index.ts'
import { type AuthenticatingRun, confirmed, startAuthenticating } from '../../rig/authenticator.ts'
import { ask, type Hosted, startHost } from './hosted.ts'

const shop = 'https://shop.example/thanks?order=7'
const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB', shopperResultUrl: shop }
const card = {
  'card.number': '4200000000000000',
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
  'card.cvv': '123',
}
let presses = 0
const nonce = () => {
  presses += 1
  return `press-over-http-${presses}`
}

describe('checkouts over HTTP', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({}, { publicUrl: 'https://pay.example' })
  })
  after(() => host.close())

  const made = async (form: Record<string, string> = basket, path = '/v1/checkouts') =>
    (await ask(host.url, path, { token: host.token, form })).body.id
  const sent = async (id: string, fields: object, path = `/v1/checkouts/${id}/payment`) =>
    ask(host.url, path, {
      body: JSON.stringify({ nonce: nonce(), ...card, ...fields }),
      headers: { 'Content-Type': 'application/json', Accept: 'text/html' },
    })
  const location = (id: string) =>
    `${shop}&id=${id}&resourcePath=${encodeURIComponent(`/v1/checkouts/${id}/payment`)}`

  for (const prefix of ['/v1', '']) {
    test(`made, changed, paid and read below "${prefix}/checkouts"`, async () => {
      const token = host.token
      const created = await ask(host.url, `${prefix}/checkouts`, { token, form: basket })
      assert.equal(created.status, 200)
      assert.equal(created.body.result.code, '000.200.100')
      const { id } = created.body
      const path = `${prefix}/checkouts/${id}`
      const changed = await ask(host.url, path, { token, form: { amount: '93.00' } })
      assert.equal(changed.body.result.code, '000.200.101')
      const open = await ask(host.url, `${path}/payment`, { token })
      assert.deepEqual([open.status, open.body.result.code], [200, '000.200.000'])
      assert.deepEqual((await ask(host.url, `${path}/state`)).body, { state: 'free' })
      const reply = await sent(id, {}, `${path}/payment`)
      assert.deepEqual(reply.body, { state: 'paid', resultUrl: location(id) })
      assert.equal(reply.headers.get('access-control-allow-origin'), null)
      const paid = await ask(host.url, `${path}/payment`, { token })
      assert.deepEqual([paid.status, paid.body.result.code], [200, '000.100.110'])
      assert.deepEqual([paid.body.ndc, paid.body.amount], [id, '93.00'])
      const removed = await ask(host.url, path, { token, method: 'DELETE' })
      assert.equal(removed.status, 400)
    })
  }

  test('a form pays as well as JSON', async () => {
    const id = await made()
    const reply = await ask(host.url, `/v1/checkouts/${id}/payment`, {
      form: { nonce: nonce(), ...card },
    })
    assert.deepEqual(reply.body, { state: 'paid', resultUrl: location(id) })
  })

  test('a decline is told the merchant with status 200, and the browser without its code', async () => {
    const id = await made()
    const reply = await sent(id, { 'card.number': '4000000000000002' })
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.body, { state: 'declined', attemptsLeft: 9 })
    const read = await ask(host.url, `/v1/checkouts/${id}/payment`, { token: host.token })
    assert.deepEqual([read.status, read.body.result.code], [200, '800.100.152'])
  })

  test('a removed checkout takes nothing', async () => {
    const id = await made()
    const token = host.token
    const removed = await ask(host.url, `/v1/checkouts/${id}`, { token, method: 'DELETE' })
    assert.equal(removed.body.result.code, '000.200.102')
    assert.equal((await sent(id, {})).body.state, 'closed')
    const read = await ask(host.url, `/v1/checkouts/${id}/payment`, { token })
    assert.deepEqual([read.status, read.body.result.code], [400, '200.300.404'])
    assert.match(read.body.result.description, /No payment session found for the requested id/)
  })

  test('an unknown id is 404 for everybody', async () => {
    const id = `${'0'.repeat(32)}.tollgate`
    for (const { status, body } of [
      await ask(host.url, `/v1/checkouts/${id}/payment`, { token: host.token }),
      await ask(host.url, `/v1/checkouts/${id}/state`),
      await ask(host.url, `/v1/checkouts/${id}/widget`),
      await sent(id, {}),
      await ask(host.url, '/v1/checkouts/nothing/state'),
    ]) {
      assert.deepEqual([status, body.result.code], [404, '200.300.404'])
    }
  })

  test('the id in the path makes no caller: what needs a token still does', async () => {
    const id = await made()
    const { status, headers } = await ask(host.url, `/v1/checkouts/${id}/payment`)
    assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer'])
    assert.equal((await ask(host.url, `/v1/checkouts/${id}`, { method: 'DELETE' })).status, 401)
  })

  test('a log has the first eight characters of an id, and no card', async () => {
    const id = await made()
    await sent(id, {})
    const text = JSON.stringify([host.lines, host.logs])
    assert.ok(text.includes(`"${id.slice(0, 8)}"`))
    assert.ok(!text.includes(id))
    assert.ok(!text.includes('4200000000000000'))
  })
})

describe('challenges of checkouts over HTTP', () => {
  let run: AuthenticatingRun
  let served: Awaited<ReturnType<ReturnType<typeof createHost>['listen']>>
  const host = { url: '', token: '' }
  before(async () => {
    run = await startAuthenticating({ role: 'api' })
    served = await createHost(run.gateway, { port: 0 }).listen()
    host.url = served.url
    host.token = (await run.gateway.entities.createToken(run.channel, 'test')).token
  })
  after(async () => {
    await served.close()
    await run.close()
  })

  const away = async (reference: string, challenge: 'frame' | 'tab', ...pages: string[]) => {
    const form = { ...basket, merchantTransactionId: reference, testMode: 'EXTERNAL' }
    const { body } = await ask(host.url, '/v1/checkouts', { token: host.token, form })
    let returnUrl = ''
    const next = (at: number) => ({
      is: 'shopper' as const,
      next: {
        redirect: {
          url: pages[at]!,
          method: 'POST' as const,
          parameters: [{ name: 'creq', value: 'a&b' }],
        },
      },
    })
    run.authenticator.tell(reference, {
      authenticate: (request) => {
        returnUrl = request.returnUrl ?? ''
        return next(0)
      },
      complete: () => (pages[1] === undefined ? confirmed() : next(1)),
    })
    const reply = await ask(host.url, `/v1/checkouts/${body.id}/payment`, {
      form: { nonce: nonce(), challenge, ...card },
    })
    const path = returnUrl.slice('https://pay.example'.length)
    const back = await fetch(`${host.url}${path}`, {
      method: 'POST' as const,
      body: new URLSearchParams({ cres: 'x' }),
      redirect: 'manual',
    })
    return { id: body.id, reply: reply.body, back, text: await back.text() }
  }
  const location = (id: string) =>
    `${shop}&id=${id}&resourcePath=${encodeURIComponent(`/v1/checkouts/${id}/payment`)}`

  test('the way back from a frame tells the widget around it, and has a link for people without scripts', async () => {
    const { id, reply, back, text } = await away('in-a-frame', 'frame', 'https://issuer.example/')
    assert.equal(reply.state, 'waiting')
    assert.equal(reply.inFrame, true)
    assert.equal(back.status, 200)
    const policy = back.headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /frame-ancestors http: https:/)
    assert.equal(back.headers.get('x-frame-options'), null)
    assert.equal(back.headers.get('cache-control'), 'no-store')
    assert.equal(back.headers.get('referrer-policy'), 'no-referrer')
    const message = JSON.stringify({ tollgate: 'returned', checkout: id })
    assert.ok(text.includes(`data-message="${message.replaceAll('"', '&#34;')}"`), text)
    assert.ok(text.includes(`href="${location(id).replaceAll('&', '&#38;')}" target="_top"`), text)
    const [script = ''] = /(?<=<script>).*(?=<\/script>)/.exec(text) ?? []
    const hash = createHash('sha256').update(script).digest('base64')
    assert.ok(policy.includes(`'sha256-${hash}'`))
    const read = await ask(host.url, `/v1/checkouts/${id}/payment`, { token: host.token })
    assert.equal(read.body.result.code, '000.100.112')
  })

  test('the way back from a whole tab leads to the merchant', async () => {
    const { id, reply, back } = await away('in-a-tab', 'tab', 'https://issuer.example/')
    assert.equal(reply.inFrame, undefined)
    assert.equal(back.status, 303)
    assert.equal(back.headers.get('location'), location(id))
  })

  test('a second page of the issuer opens in the frame of the first one', async () => {
    const pages = ['https://issuer.example/', 'https://issuer.example/second']
    const framed = await away('second-in-frame', 'frame', ...pages)
    assert.ok(framed.text.includes('action="https://issuer.example/second"'), framed.text)
    assert.equal(framed.back.headers.get('x-frame-options'), null)
    const whole = await away('second-in-tab', 'tab', ...pages)
    assert.match(whole.back.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  })
})
