/** The surface as a function of a request: the same answers as Node's server gives, and the same limits. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type ServerType, serve } from '@hono/node-server'
import type { ReplyStream } from '../../../core/index.ts'
import { sendStream } from '../../../host/http/answer-stream.ts'
import { createFetchHandler, type FetchOptions } from '../../../host/http/fetch.ts'
import { FetchAnswer, FetchConnection } from '../../../host/http/fetch-exchange.ts'
import { createHost, type HostLog } from '../../../host/index.ts'
import { limits } from '../../../schemas/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { debit, exchange, type LoggedLine, paymentText, underWay } from './hosted.ts'

/** What an answer says of itself alone. */
const changing =
  /"(id|shortId|ndc|timestamp|cardHash|descriptor|connectorTxId\d|[a-zA-Z]*[iI]d)":"[^"]*"/g

async function told(response: Response): Promise<unknown> {
  const { date: _, 'x-request-id': id, ...headers } = Object.fromEntries(response.headers)
  // A server says of its own connection what it likes.
  for (const name of ['connection', 'keep-alive', 'transfer-encoding']) delete headers[name]
  if (headers['content-type']?.startsWith('application/json')) delete headers['content-length']
  const text = (await response.text()).replaceAll(changing, '"$1":"…"')
  return { status: response.status, headers, text, hasId: /^[0-9a-f]{32}$/.test(id ?? '') }
}

describe('the surface as a function of a request', () => {
  let engine: TestGateway
  let token: string
  const lines: LoggedLine[] = []
  const record = (fields: object) => void lines.push(fields as LoggedLine)
  const log: HostLog = { debug: record, info: record, warn: record }

  before(async () => {
    engine = await startGateway({ role: 'api' })
    token = (await engine.gateway.entities.createToken(engine.channel, 'test')).token
  })
  after(() => engine.close())

  const handler = (options: FetchOptions = {}) =>
    createFetchHandler(engine.gateway, { log, ...options })

  /** Serves a handler as its users do. */
  async function serving(
    options: FetchOptions,
    work: (url: string, handler: ReturnType<typeof createFetchHandler>) => Promise<void>,
  ): Promise<void> {
    const pay = handler(options)
    const server: ServerType = serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request, { incoming }) => pay(request, { address: incoming.socket.remoteAddress }),
    })
    await once(server, 'listening')
    try {
      await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, pay)
    } finally {
      if ('closeAllConnections' in server) server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }

  const authorized = () => ({ authorization: `Bearer ${token}` })
  const pay = (form: Readonly<Record<string, string>> = debit, more: RequestInit = {}) =>
    new Request('http://shop.example/v1/payments', {
      method: 'POST',
      headers: authorized(),
      body: new URLSearchParams(form),
      ...more,
    })
  const read = (path: string, more: RequestInit = {}) =>
    new Request(`http://shop.example${path}`, { headers: authorized(), ...more })

  test('gives the answers of the Express app: status, headers, body and log', async () => {
    const { card: _, ...noCard } = { ...debit, card: '' }
    const form = (fields: Readonly<Record<string, string>>) => ({
      method: 'POST',
      headers: authorized(),
      body: new URLSearchParams(fields),
    })
    const asked: [string, RequestInit][] = [
      ['/v1/payments', form(debit)],
      ['//v1//payments?x', form(debit)],
      ['/v1/payments/', form({ ...noCard, 'card.number': '4000000000000002' })],
      ['/v1/payments', form({ ...debit, currency: 'EUD' })],
      ['/v1/payments', { ...form(debit), headers: {} }],
      ['/v1/payments', form({ ...debit, 'card.holder': 'x'.repeat(2 ** 20) })],
      [
        '/v1/payments',
        { ...form(debit), headers: { ...authorized(), 'content-encoding': 'gzip' } },
      ],
      ['/v1/payments', { method: 'PUT', body: 'a=b' }],
      ['/v1/Payments', form(debit)],
      ['/v1/payments/%zz', { headers: authorized() }],
      ['/v1/payments/none%2Fsuch', { headers: authorized() }],
      ['/v1/events?limit=1', { headers: authorized() }],
      ['/v1/events?limit=1', { method: 'HEAD', headers: authorized() }],
      ['/v1/checkouts/none/widget', {}],
      ['/v1/pages/simulator/bank/none', {}],
      ['/operator/v1/session', {}],
      ['/operator/v1/login', { method: 'POST', body: '{}' }],
      ['/healthz', {}],
      ['/', {}],
      ['/', { method: 'OPTIONS' }],
      ['/reference', {}],
      ['/openapi.json', {}],
      ['/openapi.json', { method: 'HEAD' }],
    ]
    const origins = { office: 'http://127.0.0.1:1' }
    const ofApp: LoggedLine[] = []
    const recordOfApp = (fields: object) => void ofApp.push(fields as LoggedLine)
    const logOfApp: HostLog = { debug: recordOfApp, info: recordOfApp, warn: recordOfApp }
    const app = await createHost(engine.gateway, { port: 0, log: logOfApp, origins }).listen()
    lines.length = 0
    try {
      await serving({ origins }, async (url) => {
        for (const [path, request] of asked) {
          const [expected, given] = [
            await fetch(app.url + path, request),
            await fetch(url + path, request),
          ]
          assert.deepEqual(await told(given), await told(expected), `${request.method} ${path}`)
        }
      })
    } finally {
      await app.close()
    }
    const lasting = ({ ms: _ms, ndc: _ndc, id: _id, payment, ...line }: LoggedLine) => ({
      ...line,
      hasPayment: payment !== undefined,
    })
    assert.equal(lines.length, asked.length)
    assert.deepEqual(lines.map(lasting), ofApp.map(lasting))
  })

  test('answers directly, below a base path, and nothing beside it', async () => {
    const mounted = handler({ basePath: '/pay' })
    const at = (path: string) => mounted(new Request(`https://shop.example${path}`))
    assert.equal((await at('/pay/healthz')).status, 200)
    assert.equal((await at('/healthz')).status, 404)
    assert.equal((await at('/payhealthz')).status, 404)
    assert.equal((await at('/pay')).status, 404)
    for (const basePath of ['pay', '/', '/pay/', '/pay?x']) {
      assert.throws(() => handler({ basePath }), /basePath must be a path such as \/pay/)
    }
  })

  test('a body that a parser read before fails loudly instead of being empty', async () => {
    const request = pay()
    await request.text()
    const answer = await handler()(request)
    assert.equal(answer.status, 500)
    assert.equal(((await answer.json()) as { result: { code: string } }).result.code, '600.100.100')
  })

  test('bodies under way take bounded memory: an endless one is refused before its end', async () => {
    let pieces = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pieces += 1
          controller.enqueue(new Uint8Array(64 * 1024).fill(97))
        },
      },
      { highWaterMark: 0 },
    )
    const request = pay(debit, { body, duplex: 'half' } as RequestInit)
    const answer = await handler()(request)
    assert.equal(answer.status, 400)
    const { result } = (await answer.json()) as { result: { description: string } }
    assert.match(result.description, /the body is larger than \d+ bytes/)
    // A refused client may send some more, which is discarded, before its connection ends.
    assert.ok(pieces * 64 * 1024 < 10 * limits.bodyBytes, `${pieces} pieces`)
  })

  test('bodies under way of one client are counted together', async () => {
    const room = { bytes: 100_000, clientBytes: 10_000, lateBytes: 10_000 }
    const served = handler({ bodies: { payments: room } })
    const gate = Promise.withResolvers<void>()
    const slow = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new Uint8Array(8_000).fill(97))
        await gate.promise
        controller.close()
      },
    })
    const first = served(pay(debit, { body: slow, duplex: 'half' } as RequestInit))
    const refused = await until(async () => {
      const answer = await served(pay({ ...debit, 'card.holder': 'x'.repeat(2_500) }))
      return answer.status === 429 ? answer : undefined
    })
    assert.equal(refused.headers.get('retry-after'), '1')
    gate.resolve()
    await first
    assert.equal((await served(pay())).status, 200)
  })

  test('a client that leaves within its body begins no payment', async () => {
    lines.length = 0
    await serving({}, async (url) => {
      const { hostname, port } = new URL(url)
      const socket = connect(Number(port), hostname)
      socket.write(paymentText(token, debit).slice(0, -10))
      // Another request is answered, so the first one has arrived.
      assert.equal((await fetch(`${url}/readyz`)).status, 200)
      socket.destroy()
      await until(async () => (lines.some(({ gone }) => gone === true) ? true : undefined))
    })
    assert.ok(lines.some(({ gone, status }) => gone === true && status === 0))
  })

  test('a client that leaves after its request ends no payment', async () => {
    const reference = 'left-at-once'
    const leaving = new AbortController()
    const form = {
      ...debit,
      merchantTransactionId: reference,
      'customParameters[SIM_DELAY_MS]': '200',
    }
    const answer = handler()(pay(form, { signal: leaving.signal }))
    const id = await underWay(engine, reference)
    leaving.abort()
    assert.equal((await answer).status, 499, 'nobody waits for an answer')
    await engine.event(id, 'payment.approved')
  })

  test('an answer that is not read counts, and is refused beyond the limit', async () => {
    const served = handler({ answers: { clientBytes: 100_000 } })
    const ask = () => served(read('/openapi.json'))
    const held: Response[] = []
    const refused = await until(async () => {
      const answer = await ask()
      if (answer.status === 429) return answer
      held.push(answer)
      return undefined
    })
    assert.match(await refused.text(), /read the answers that are on their way to you first/)
    for (const answer of held) await answer.body?.cancel()
    assert.equal((await ask()).status, 200)
  })

  test('an answer whose reader stands still is broken off', async () => {
    const { body } = await handler({ answers: { silenceMs: 40 } })(read('/openapi.json'))
    const reader = body!.getReader()
    await reader.read()
    await assert.rejects(reader.closed, /ended before all of it was sent/)
  })

  test('a large document arrives whole', async () => {
    const text = await (await handler()(read('/openapi.json'))).text()
    assert.equal((JSON.parse(text) as { openapi: string }).openapi, '3.1.1')
  })

  test('the address of the client comes from its server, or from a declared proxy', async () => {
    const { token: limited } = await engine.gateway.entities.createToken(engine.channel, 'near', {
      networks: ['192.0.2.0/24'],
    })
    const headers = { authorization: `Bearer ${limited}`, 'x-forwarded-for': '192.0.2.9' }
    const ask = async (options: FetchOptions, address?: string) => {
      const client = address === undefined ? {} : { address }
      return (await handler(options)(read('/v1/events', { headers }), client)).status
    }
    assert.equal(await ask({}, '192.0.2.1'), 200)
    assert.equal(await ask({}, '198.51.100.1'), 403)
    assert.equal(await ask({}), 403)
    assert.equal(await ask({ trustedProxy: ['198.51.100.1'] }, '198.51.100.1'), 200)
    assert.equal(await ask({ trustedProxy: ['198.51.100.2'] }, '198.51.100.1'), 403)
    const behind = { trustedProxy: ['198.51.100.1'], proxyOnly: true }
    assert.equal(await ask(behind, '198.51.100.1'), 200)
    assert.equal(await ask(behind, '192.0.2.1'), 403)
    assert.equal(await ask(behind), 403)
  })

  test('closing ends waits, and resolves when every request was answered', async () => {
    const served = handler()
    const start = (await (await served(read('/v1/events?since=NOW'))).json()) as {
      nextCursor: string
    }
    const waiting = served(read(`/v1/events?cursor=${start.nextCursor}&wait=30`))
    const reference = 'before-the-end'
    const paying = served(
      pay({
        ...debit,
        merchantTransactionId: reference,
        'customParameters[SIM_DELAY_MS]': '200',
      }),
    )
    await underWay(engine, reference)
    let isPaid = false
    paying.then(() => {
      isPaid = true
    })
    await served.close()
    assert.ok(isPaid)
    assert.equal((await waiting).status, 200)
    assert.equal((await served(read('/readyz'))).status, 503)
  })

  test('a stalled body gets its answer while others have no room, and its connection ends', async () => {
    let nowMs = 0
    const room = { bytes: 20_000, clientBytes: 20_000, lateBytes: 20_000 }
    const options = { bodies: { payments: room, stalledMs: 50, nowMs: () => nowMs } }
    await serving(options, async (url) => {
      const text = paymentText(token, { ...debit, 'card.holder': 'x'.repeat(15_000) })
      const answered = exchange(url, text.slice(0, -10))
      const ticking = setInterval(() => {
        nowMs += 10
      }, 1)
      try {
        assert.match(await answered, /^HTTP\/1\.1 408 [\s\S]*the body stopped coming/)
      } finally {
        clearInterval(ticking)
      }
    })
  })
})

const chunk = Buffer.alloc(64 * 1024, 'a')

/** Counted chunks, without end. */
function endless() {
  const counted = { made: 0, isEnded: false }
  async function* chunks() {
    try {
      for (; ; counted.made += 1) yield chunk
    } finally {
      counted.isEnded = true
    }
  }
  const stream: ReplyStream = { type: 'text/plain', open: chunks }
  return { counted, stream }
}

describe('a streamed answer', () => {
  async function streaming(mayRead = async () => {}) {
    const leaving = new AbortController()
    const socket = new FetchConnection(leaving.signal, undefined)
    const response = new FetchAnswer('GET', socket)
    const { counted, stream } = endless()
    const receiver = { response, socket, requestId: 'r', closing: false, moved() {}, mayRead }
    const sent = sendStream(receiver, 200, stream, {})
    const answer = await response.response
    return { counted, sent, leaving, reader: answer.body!.getReader() }
  }

  const settled = async () => {
    for (let turns = 0; turns < 100; turns += 1) await turn()
  }

  test('is made only as fast as it is read', async () => {
    const { counted, reader, sent } = await streaming()
    await settled()
    assert.ok(counted.made <= 1, `${counted.made} made, nothing read`)
    for (let no = 0; no < 10; no += 1) await reader.read()
    await settled()
    assert.ok(counted.made >= 9 && counted.made <= 11, `${counted.made} made, ten read`)
    await reader.cancel()
    await sent
    assert.equal(counted.isEnded, true)
  })

  test('ends its work when the client leaves', async () => {
    const { counted, reader, sent, leaving } = await streaming()
    await reader.read()
    leaving.abort()
    await sent
    assert.equal(counted.isEnded, true)
    await assert.rejects(reader.read(), /ended before all of it was sent/)
  })

  test('breaks off once the client may read no more, and never ends well', async () => {
    let mayRead = true
    const { counted, reader, sent } = await streaming(async () => {
      if (!mayRead) throw new Error('revoked')
    })
    await reader.read()
    mayRead = false
    await assert.rejects(async () => {
      for (;;) await reader.read()
    }, /ended before all of it was sent/)
    await sent
    assert.equal(counted.isEnded, true)
  })
})
