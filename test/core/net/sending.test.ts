import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { Exchange } from '../../../core/net/exchange.ts'
import { selfSigned } from './certificate.ts'
import {
  answering,
  bodyOf,
  closedPort,
  failure,
  httpServer,
  httpsServer,
  outgoingFor,
  rawServer,
  stillClock,
  tlsHost,
} from './servers.ts'

const moves = { moves: true }
const hour = 3_600_000
/** With these limits, an early failure of a connection has another cause. */
const patient = { lookupMs: hour, connectMs: hour, secureMs: hour }

test('an answered moving request counts as moved', async (t) => {
  const { url } = await httpServer(t, async (request, answer) => answer.end(await bodyOf(request)))
  const { call } = outgoingFor(t)
  assert.equal(call.sent(), 'nothing')
  const answer = await call.http.post(`${url}/pay`, { amount: '1.00' }, moves)
  assert.deepEqual([answer.status, answer.json()], [200, { amount: '1.00' }])
  assert.equal(call.sent(), 'moved')
})

test('look-ups and token requests do not count as moved', async (t) => {
  const { url } = await httpServer(t, (_request, answer) => answer.end('{}'))
  const { call } = outgoingFor(t)
  await call.http.post(`${url}/token`, {})
  await assert.rejects(call.http.get(`http://127.0.0.1:${await closedPort()}/`))
  assert.equal(call.sent(), 'nothing')
})

test('a failure before the first byte proves that nothing was written and nothing moved', async (t) => {
  const stranger = await httpsServer(t, () => assert.fail('reached'), selfSigned(tlsHost))
  const other = await httpsServer(t, () => assert.fail('reached'), selfSigned('other.test'))
  const speechless = await rawServer(t, (socket) => socket.end('SSH-2.0-no-tls\r\n'))
  const silent = await rawServer(t, () => {})
  const connectLimits = { lookupMs: 20, connectMs: 1000, secureMs: 20 }
  const unknown = Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
  const cases = [
    ['not-sent', 'connection refused', `http://127.0.0.1:${await closedPort()}/`, {}],
    ['not-sent', 'unknown authority', stranger.url, {}],
    ['not-sent', 'certificate of another host', other.url, {}],
    ['not-sent', 'no TLS at all', speechless.tls, {}],
    ['timeout', 'handshake stalls', silent.tls, { connectLimits }],
    [
      'not-sent',
      'unknown name',
      'https://acquirer.test/',
      {
        lookup: (_h: string, _o: object, done: (e: Error, a: string) => void) => done(unknown, ''),
      },
    ],
    ['timeout', 'lookup stalls', 'https://acquirer.test/', { connectLimits, lookup: () => {} }],
    [
      'refused-address',
      'a private address',
      'https://acquirer.test/',
      { lookup: answering(['10.0.0.1']).lookup },
    ],
    ['refused-address', 'no URL', 'acquirer.test', {}],
  ] as const
  for (const [code, title, url, options] of cases) {
    const { call } = outgoingFor(t, options)
    assert.deepEqual(
      await failure(call.http.post(url, {}, moves)),
      { code, wroteBytes: false },
      title,
    )
    assert.equal(call.sent(), 'not-moved', title)
  }
})

test('a failure after the first byte leaves open whether money moved', async (t) => {
  const behaviours = {
    'reset after the request': await rawServer(t, (socket) =>
      socket.once('data', () => socket.resetAndDestroy()),
    ),
    'closed without an answer': await rawServer(t, (socket) =>
      socket.once('data', () => socket.end()),
    ),
    'no HTTP': await rawServer(t, (socket) =>
      socket.once('data', () => socket.end('nonsense\r\n\r\n')),
    ),
    'half an answer': await rawServer(t, (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"ok":')),
    ),
    'half a chunk': await rawServer(t, (socket) =>
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n{'),
      ),
    ),
    'another protocol': await rawServer(t, (socket) =>
      socket.once('data', () =>
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
        ),
      ),
    ),
  }
  for (const [title, { url }] of Object.entries(behaviours)) {
    const { call } = outgoingFor(t)
    const failed = await failure(call.http.post(url, {}, moves))
    assert.deepEqual(failed, { code: 'reset', wroteBytes: true }, title)
    assert.equal(call.sent(), 'moved', title)
  }
})

test('a server that is silent or drips its answer runs into the time limit', async (t) => {
  const silent = await rawServer(t, () => {})
  const dripping = await rawServer(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n')
      const drip = setInterval(() => socket.write('x'), 5)
      socket.once('close', () => clearInterval(drip))
    })
  })
  for (const { url } of [silent, dripping]) {
    const { call } = outgoingFor(t)
    const work = call.http.post(url, {}, { ...moves, timeoutMs: 40 })
    assert.deepEqual(await failure(work), { code: 'timeout', wroteBytes: true })
  }
  const clock = stillClock()
  const { call } = outgoingFor(t, { clock, call: { deadlineMs: clock.elapsed + 40 } })
  const work = call.http.post(silent.url, {}, { ...moves, timeoutMs: hour })
  assert.deepEqual(await failure(work), { code: 'timeout', wroteBytes: true })
})

test('an aborted operation reports whether it wrote', async (t) => {
  const before = new AbortController()
  before.abort()
  const early = outgoingFor(t, { call: { signal: before.signal } })
  assert.deepEqual(await failure(early.call.http.post('http://127.0.0.1:1/', {}, moves)), {
    code: 'aborted',
    wroteBytes: false,
  })

  const connecting = new AbortController()
  const stalling = await rawServer(t, (socket) => socket.once('data', () => connecting.abort()))
  const during = outgoingFor(t, { connectLimits: patient, call: { signal: connecting.signal } })
  assert.deepEqual(await failure(during.call.http.post(stalling.tls, {}, moves)), {
    code: 'aborted',
    wroteBytes: false,
  })
  assert.equal(during.call.sent(), 'not-moved')

  const waiting = new AbortController()
  const { url } = await httpServer(t, () => waiting.abort())
  const after = outgoingFor(t, { call: { signal: waiting.signal } })
  assert.deepEqual(await failure(after.call.http.post(url, {}, moves)), {
    code: 'aborted',
    wroteBytes: true,
  })
  assert.equal(after.call.sent(), 'moved')
})

test('a finished call writes nothing more, so its answer is final', async (t) => {
  const { tls, server } = await rawServer(t, () => {})
  const { call } = outgoingFor(t, { connectLimits: patient })
  // The connector did not await this request.
  const forgotten = failure(call.http.post(tls, {}, moves))
  const [socket] = await once(server, 'connection')
  await once(socket, 'data')
  assert.equal(call.finish(), 'not-moved')
  assert.deepEqual(await forgotten, { code: 'aborted', wroteBytes: false })
  await once(socket.resume(), 'close')
  assert.deepEqual(await failure(call.http.post(tls, {}, moves)), {
    code: 'aborted',
    wroteBytes: false,
  })
  assert.equal(call.sent(), 'not-moved')
})

test('close aborts running calls, ends kept connections and refuses new calls', async (t) => {
  const { url, server } = await httpServer(t, (request, answer) => {
    if (request.url === '/kept') answer.end('ok')
  })
  const { outgoing, call } = outgoingFor(t)
  const closes: Promise<unknown>[] = []
  server.on('connection', (socket) => closes.push(once(socket, 'close')))
  await Promise.all([call.http.get(`${url}/kept`), call.http.get(`${url}/kept`)])
  const running = failure(call.http.post(`${url}/running`, {}, moves))
  await once(server, 'request')
  const begun = performance.now()
  await outgoing.close()
  assert.deepEqual(await running, { code: 'aborted', wroteBytes: true })
  await Promise.all(closes)
  assert.equal(closes.length, 2)
  // An idle connection would close by itself after four seconds.
  assert.ok(performance.now() - begun < 2000)
  assert.deepEqual(await failure(call.http.get(url)), { code: 'aborted', wroteBytes: false })
})

test('a connection takes no byte of an exchange that ended', () => {
  const sendBy = { monotonicMs: Number.POSITIVE_INFINITY, wallMs: Number.POSITIVE_INFINITY }
  const failed = new Exchange(false, sendBy, stillClock())
  assert.equal(failed.fail('timeout', 'late'), failed.beforeWrite())
  assert.equal(failed.wroteBytes, false)
  const answered = new Exchange(false, sendBy, stillClock())
  assert.equal(answered.beforeWrite(), undefined)
  answered.end()
  assert.equal(answered.beforeWrite()?.code, 'aborted')
  assert.equal(answered.failure, undefined)
})

test('a request that cannot be written names its fault', async (t) => {
  const { call } = outgoingFor(t)
  const url = 'http://127.0.0.1:1/'
  const cases: readonly [Promise<unknown>, RegExp][] = [
    [call.http.request('POST', url, { json: {}, form: {} }), /only one of json, form and body/],
    [call.http.request('GET', url, { body: 'x' }), /GET request has no/],
    [call.http.post(url, { amount: 1n }), /json\.amount is a bigint/],
    [call.http.request('POST', url, { form: { card: {} } }), /form\.card must be text or a number/],
    [
      call.http.request('POST', url, { headers: { Host: 'x' } }),
      /headers\.Host is set by the engine/,
    ],
    [
      call.http.request('POST', url, { headers: { 'x-a': 'one\r\nx-b: two' } }),
      /headers\.x-a has a character/,
    ],
    [call.http.request('POST', url, { timeoutMs: Number.NaN }), /timeoutMs must be above zero/],
    [call.http.request('PO ST' as 'POST', url, { json: {}, moves: true }), /could not be sent/],
  ]
  for (const [work, message] of cases) {
    await assert.rejects(work, { name: 'HttpError', code: 'not-sent', wroteBytes: false, message })
  }
})
