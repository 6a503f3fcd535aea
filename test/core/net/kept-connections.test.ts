import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { addressRules } from '../../../core/net/address.ts'
import { Exchange } from '../../../core/net/exchange.ts'
import { createPool } from '../../../core/net/pool.ts'
import { createTransport } from '../../../core/net/transport.ts'
import { selfSigned } from './certificate.ts'
import {
  bodyOf,
  failure,
  httpServer,
  httpsServer,
  outgoingFor,
  rawServer,
  stillClock,
} from './servers.ts'

const moves = { moves: true }

test('a kept connection that breaks under a request counts as written', async (t) => {
  const { url, server } = await rawServer(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      socket.once('data', () => socket.resetAndDestroy())
    })
  })
  let connections = 0
  server.on('connection', () => connections++)
  const { call } = outgoingFor(t)
  await call.http.get(url)
  assert.deepEqual(await failure(call.http.post(url, {}, moves)), {
    code: 'reset',
    wroteBytes: true,
  })
  assert.equal(connections, 1)
})

test('connections are kept and used again, with and without TLS', async (t) => {
  for (const start of [httpServer, httpsServer]) {
    const { url, server } = await start(t, (_request, answer) => answer.end('ok'))
    let connections = 0
    server.on('connection', () => connections++)
    const { newCall } = outgoingFor(t)
    for (let round = 0; round < 3; round++) await newCall().http.post(url, {}, moves)
    assert.equal(connections, 1)
  }
})

test('a kept connection that the server closed is not written on', async (t) => {
  const bodies: string[] = []
  let ended: Promise<unknown> | undefined
  const { url, server } = await httpServer(t, async (request, answer) => {
    bodies.push(await bodyOf(request))
    // Announces a kept connection and closes it.
    answer.end('ok', () => {
      ended = once(request.socket, 'finish')
      request.socket.end()
    })
  })
  let connections = 0
  server.on('connection', () => connections++)
  const { call } = outgoingFor(t)
  for (const n of [1, 2, 3]) {
    assert.equal((await call.http.post(url, { n }, moves)).text(), 'ok')
    await ended
    // Received bytes are read in the loop's next turn.
    await setImmediate()
    await setImmediate()
  }
  assert.deepEqual(bodies, ['{"n":1}', '{"n":2}', '{"n":3}'])
  assert.equal(connections, 3)
})

test('an unsolicited answer is not taken for that of the next request', async (t) => {
  const answerWith = (text: string) =>
    `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  let connections = 0
  const { url } = await rawServer(t, (socket) => {
    const isFirst = ++connections === 1
    socket.once('data', () =>
      socket.write(isFirst ? answerWith('first') + answerWith('forged') : answerWith('second')),
    )
  })
  const { call } = outgoingFor(t)
  assert.equal((await call.http.post(url, {}, moves)).text(), 'first')
  assert.equal((await call.http.post(url, {}, moves)).text(), 'second')
  assert.equal(connections, 2)
})

test('a request whose first byte was written is not sent on another connection', async (t) => {
  const { url, server } = await httpServer(t, () => assert.fail('the request was written again'))
  server.on('connection', () => assert.fail('the request got a new connection'))
  const forever = { monotonicMs: Number.POSITIVE_INFINITY, wallMs: Number.POSITIVE_INFINITY }
  const exchange = new Exchange(true, forever, stillClock())
  assert.equal(exchange.beforeWrite(), undefined)
  const pool = createPool({ rules: addressRules({ allowLoopback: true }) })
  const wire = { method: 'POST', url: new URL(url), headers: {}, body: Buffer.from('{}') }
  const send = createTransport(pool)
  assert.deepEqual(await failure(send(wire, exchange, 1000, {})), {
    code: 'reset',
    wroteBytes: true,
  })
  await pool.close()
})

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`a TLS session is resumed with ${version}, and never for another server name`, async (t) => {
    const resumed: boolean[] = []
    const wrong = selfSigned('other.test')
    const right = await httpsServer(t, (request, answer) => {
      resumed.push((request.socket as TLSSocket).isSessionReused())
      answer.setHeader('connection', 'close').end('ok')
    })
    const misnamed = await httpsServer(t, () => assert.fail('a request was written'), wrong)
    for (const { server } of [right, misnamed]) {
      server.setSecureContext({
        ...(server === right.server ? right.identity : wrong),
        minVersion: version,
        maxVersion: version,
      })
    }
    const { call } = outgoingFor(t, { ca: [right.identity.cert, wrong.cert] })
    for (let round = 0; round < 3; round++) {
      assert.equal((await call.http.get(right.url)).text(), 'ok')
      const refused = { code: 'not-sent', wroteBytes: false }
      assert.deepEqual(await failure(call.http.get(misnamed.url)), refused)
    }
    assert.deepEqual(resumed, [false, true, true])
  })
}
