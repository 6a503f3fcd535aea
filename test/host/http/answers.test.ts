import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { endpoints } from '../../../schemas/index.ts'
import {
  type Answer,
  answersIn,
  ask,
  type Body,
  debit,
  exchange,
  type Hosted,
  startHost,
  without,
} from './hosted.ts'

describe('answers over HTTP', () => {
  let host: Hosted

  before(async () => {
    host = await startHost()
  })
  after(() => host.close())

  const pay = (
    form: Readonly<Record<string, string>>,
    more: { headers?: Record<string, string>; token?: string | undefined } = {},
  ) => ask(host.url, '/v1/payments', { form, token: host.token, ...more })

  function refused(answer: Answer, status: number, code: string): Body {
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    assert.equal(answer.body.result.code, code)
    assert.match(answer.body.id, /^[0-9a-f]{32}$/)
    assert.match(answer.body.timestamp, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0000$/)
    assert.match(answer.body.buildNumber, /./)
    assert.equal(answer.body.ndc, answer.headers.get('x-request-id'))
    return answer.body
  }

  const errorsOf = ({ result }: Body) => result.parameterErrors?.map(({ name }) => name) ?? []

  test('a form-encoded debit is approved and can be read, captured from and refunded', async () => {
    const paid = await pay(debit)
    assert.equal(paid.status, 200)
    assert.equal(paid.body.result.code, '000.100.110')
    assert.equal(paid.body.ndc, paid.headers.get('x-request-id'))
    const path = `/v1/payments/${paid.body.id}`
    const read = await ask(host.url, `${path}?entityId=${host.channel}`, { token: host.token })
    assert.equal(read.status, 200)
    assert.equal(read.body.id, paid.body.id)
    assert.notEqual(read.body.ndc, paid.body.ndc)
    const form = { amount: '20.00', currency: 'EUR', paymentType: 'RF' }
    const refund = await ask(host.url, path, { form, token: host.token })
    assert.equal(refund.status, 200)
    assert.equal(refund.body.referencedId, paid.body.id)
  })

  test('a declined payment is 400 and has its own id', async () => {
    const declined = await pay({ ...debit, 'card.number': '4000000000000002' })
    assert.equal(declined.status, 400)
    assert.equal(declined.body.result.code, '800.100.152')
    const path = `/v1/payments/${declined.body.id}?entityId=${host.channel}`
    const read = await ask(host.url, path, { token: host.token })
    assert.equal(read.status, 200)
    assert.equal(read.body.result.code, '800.100.152')
  })

  test('a missing Authorization header is 401, an unknown token 403', async () => {
    refused(await pay(debit, { token: undefined }), 401, '800.900.300')
    const basic = { Authorization: 'Basic dGVzdDp0ZXN0' }
    refused(await pay(debit, { token: undefined, headers: basic }), 401, '800.900.300')
    refused(await pay(debit, { token: 'nobody-knows-this' }), 403, '800.900.300')
  })

  test('a revoked token is refused as soon as its cache entry is too old', async () => {
    const { id, token } = await host.gateway.entities.createToken(host.channel, 'short')
    await host.gateway.entities.revokeToken(id)
    refused(await pay(debit, { token }), 403, '800.900.300')
  })

  test('a foreign entity is answered exactly as an unknown one', async () => {
    const other = await host.gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: await host.gateway.entities.create({
        kind: 'merchant',
        name: 'Other',
        parentId: host.division,
      }),
    })
    const foreign = refused(await pay({ ...debit, entityId: other }), 403, '800.900.300')
    const unknown = refused(await pay({ ...debit, entityId: '0'.repeat(32) }), 403, '800.900.300')
    assert.equal(foreign.result.description, unknown.result.description)
  })

  test('wrong paths, wrong methods and unknown ids are 404', async () => {
    const { token } = host
    const get = (path: string, method = 'GET') => ask(host.url, path, { token, method })
    refused(await get('/v1/nothing'), 404, '700.400.580')
    refused(await get('/'), 404, '700.400.580')
    refused(await get('/v1/payments', 'GET'), 404, '700.400.580')
    refused(await get('/v1/payments', 'DELETE'), 404, '700.400.580')
    refused(await get('/v1/payments', 'PUT'), 404, '700.400.580')
    refused(await get(`/v1/payments/${'0'.repeat(32)}`), 404, '700.400.580')
    refused(await get('/v1/payments/%zz'), 404, '700.400.580')
    refused(await get('/v1/payments/..%2f..%2fetc'), 404, '700.400.580')
  })

  test('the root names the reference page', async () => {
    const { status, body } = await ask(host.url, '/', { token: host.token })
    assert.equal(status, 404)
    assert.match(body.result.description, /\/reference lists every path/)
  })

  test('errors of a request are named, and no account data is repeated', async () => {
    const answer = await pay({
      ...without(debit, 'currency'),
      entityID: host.channel,
      amount: '1e3',
    })
    const body = refused(answer, 400, '200.300.404')
    assert.deepEqual(errorsOf(body).sort(), ['amount', 'currency', 'entityID'])
    const text = JSON.stringify(body)
    assert.match(text, /entityId/)
    assert.doesNotMatch(text, /4200000000000000/)
  })

  test('empty parameters count as not sent', async () => {
    const answer = await pay({
      ...debit,
      descriptor: '',
      'customer.givenName': '',
      merchantTransactionId: '',
    })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal('customer' in answer.body, false)
    assert.equal('merchantTransactionId' in answer.body, false)
  })

  test('older clients are served: authentication.entityId, user and password, and brand aliases', async () => {
    const old = await pay({
      ...debit,
      'authentication.entityId': host.channel,
      'authentication.userId': 'someone',
      'authentication.password': 'something',
    })
    assert.equal(old.status, 200, JSON.stringify(old.body))
    const amex = await pay({
      ...debit,
      paymentBrand: 'AMERICAN_EXPRESS',
      'card.number': '377777777777770',
      'card.cvv': '1234',
    })
    assert.equal(amex.status, 200, JSON.stringify(amex.body))
  })

  test('double slashes in a path are tolerated', async () => {
    const { token } = host
    const paid = await ask(host.url, '//v1//payments', { token, form: debit })
    assert.equal(paid.status, 200)
    const read = await ask(host.url, `/v1/payments//${paid.body.id}?entityId=${host.channel}`, {
      token,
    })
    assert.equal(read.status, 200)
    // Slashes are merged in the path only.
    const query = await ask(host.url, `/v1/payments/${paid.body.id}?entityId=a//b`, { token })
    refused(query, 400, '200.300.404')
  })

  test('JSON is taken, and media types are compared without their parameters', async () => {
    const nested = {
      ...without(
        debit,
        'card.number',
        'card.holder',
        'card.expiryMonth',
        'card.expiryYear',
        'card.cvv',
      ),
      card: {
        number: '4200000000000000',
        holder: 'Jane Jones',
        expiryMonth: '05',
        expiryYear: '2034',
      },
    }
    const json = await ask(host.url, '/v1/payments', {
      token: host.token,
      body: JSON.stringify(nested),
      headers: { 'Content-Type': 'application/json' },
    })
    assert.equal(json.status, 200, JSON.stringify(json.body))
    for (const type of [
      'application/x-www-form-urlencoded;charset=UTF-8',
      'application/x-www-form-urlencoded; charset=utf-8',
    ]) {
      const form = await pay(debit, { headers: { 'Content-Type': type } })
      assert.equal(form.status, 200, JSON.stringify(form.body))
    }
  })

  test('other media types and compressed bodies are refused', async () => {
    const xml = { body: '<payment/>', headers: { 'Content-Type': 'application/xml' } }
    refused(await ask(host.url, '/v1/payments', { token: host.token, ...xml }), 400, '200.100.103')
    const zipped = { form: debit, headers: { 'Content-Encoding': 'gzip' } }
    refused(
      await ask(host.url, '/v1/payments', { token: host.token, ...zipped }),
      400,
      '200.100.103',
    )
  })

  test('a body above 2 MiB is refused with and without its length announced', async () => {
    const large = new Uint8Array(2 * 1024 * 1024 + 1).fill(97)
    const announced = await ask(host.url, '/v1/payments', { token: host.token, body: large })
    assert.match(
      refused(announced, 400, '200.300.404').result.description,
      /the body is larger than 2097152 bytes/,
    )
    const response = await fetch(`${host.url}/v1/payments`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${host.token}` },
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as RequestInit)
    assert.equal(response.status, 400)
    assert.match(await response.text(), /the body is larger than 2097152 bytes/)
  })

  test('an endless body is answered and then cut off', async () => {
    const head = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${host.token}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const chunk = `100000\r\n${'a'.repeat(0x100000)}\r\n`
    const text = await exchange(host.url, head, ...Array<string>(100).fill(chunk))
    const [answer] = answersIn(text)
    assert.equal(answer?.status, 400)
    assert.match(answer?.body.result.description ?? '', /the body is larger than 2097152 bytes/)
  })

  test('a repeated idempotency key returns the same payment', async () => {
    const headers = { 'Idempotency-Key': 'order-1' }
    const first = await pay(debit, { headers })
    const second = await pay(debit, { headers })
    assert.equal(second.body.id, first.body.id)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assert.equal(first.headers.get('idempotent-replayed'), null)
    const other = await pay({ ...debit, amount: '93.00' }, { headers })
    refused(other, 400, '200.300.405')
  })

  test('result codes need no login', async () => {
    const response = await fetch(`${host.url}/v1/resultcodes`)
    const { resultCodes } = (await response.json()) as { resultCodes: { code: string }[] }
    assert.equal(response.status, 200)
    assert.ok(resultCodes.some(({ code }) => code === '800.900.300'))
  })

  test('the process reports that it runs and that it is ready', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const answer = await ask(host.url, path)
      assert.equal(answer.status, 200)
      assert.equal(answer.body.result.code, '000.000.100')
    }
  })

  test('the OpenAPI document has every path of the surface', async () => {
    const response = await fetch(`${host.url}/openapi.json`)
    const { paths } = (await response.json()) as { paths: Record<string, object> }
    assert.deepEqual(
      endpoints.filter(({ path, method }) => !(method.toLowerCase() in (paths[path] ?? {}))),
      [],
    )
  })

  test('the reference page has its own content policy', async () => {
    const response = await fetch(`${host.url}/reference`)
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(response.headers.get('content-security-policy') ?? '', /style-src 'sha256-/)
    assert.match(await response.text(), /card\.number/)
  })

  test('answers of the API are not cached and reveal no software', async () => {
    const { headers } = await ask(host.url, '/healthz')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'/)
    for (const name of ['x-powered-by', 'etag', 'server']) assert.equal(headers.get(name), null)
  })

  test('HEAD answers like GET without a body', async () => {
    const response = await fetch(`${host.url}/v1/resultcodes`, { method: 'HEAD' })
    assert.equal(response.status, 200)
    assert.ok(Number(response.headers.get('content-length')) > 1000)
    assert.equal(await response.text(), '')
  })

  test('an event for an unknown connector or account is 404', async () => {
    const event = { body: '{}', headers: { 'Content-Type': 'application/json' } }
    refused(await ask(host.url, '/connectors/nobody/x/events', event), 404, '700.400.580')
    const path = `/connectors/simulator/${'0'.repeat(32)}/events`
    refused(await ask(host.url, path, event), 404, '700.400.580')
  })

  test('the log has one line for each request and no text of a client', async () => {
    const from = host.lines.length
    const paid = await pay({ ...debit, merchantTransactionId: 'canary-1' })
    const path = `/v1/payments/${paid.body.id}?entityId=${host.channel}&canary=2`
    await ask(host.url, path, { token: host.token, headers: { 'X-Canary': 'canary-3' } })
    await ask(host.url, '/v1/payments/canary-4', { token: host.token })
    await ask(host.url, '/canary-5', { token: host.token })
    const lines = host.lines.slice(from)
    assert.deepEqual(
      lines.map(({ method, route, id, status, code }) => [method, route, id, status, code]),
      [
        ['POST', '/v1/payments', undefined, 200, '000.100.110'],
        ['GET', '/v1/payments/{id}', paid.body.id, 400, '200.300.404'],
        ['GET', '/v1/payments/{id}', undefined, 404, '700.400.580'],
        ['GET', '', undefined, 404, '700.400.580'],
      ],
    )
    assert.equal(lines[0]?.ndc, paid.body.ndc)
    assert.equal(lines[0]?.entity, host.channel)
    const text = JSON.stringify(lines)
    assert.doesNotMatch(text, /canary|4200000000000000|Jane/)
    assert.equal(text.includes(host.token), false)
  })
})
