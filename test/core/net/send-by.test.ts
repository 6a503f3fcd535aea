import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import test from 'node:test'
import { failure, httpServer, httpsServer, outgoingFor, rawServer, stillClock } from './servers.ts'

const moves = { moves: true }
const hour = 3_600_000

for (const [name, side] of [
  ['monotonic', 'elapsed'],
  ['wall', 'real'],
] as const) {
  const move = (clock: ReturnType<typeof stillClock>) => {
    clock[side] += 101
  }

  test(`a moving request does not start past its send-by time on the ${name} clock`, async (t) => {
    const { url, server } = await httpServer(t, () => assert.fail('reached'))
    server.on('connection', () => assert.fail('connected'))
    const clock = stillClock()
    const { call } = outgoingFor(t, { clock })
    move(clock)
    assert.deepEqual(await failure(call.http.post(url, {}, moves)), {
      code: 'past-deadline',
      wroteBytes: false,
    })
    assert.equal(call.sent(), 'not-moved')
  })

  test(`time that passes on the ${name} clock during the connection is noticed before the first byte`, async (t) => {
    const { url, server } = await httpsServer(t, () => assert.fail('a request arrived'))
    const clock = stillClock()
    const { call, newCall } = outgoingFor(t, { clock })
    // The server answers the handshake afterwards, so the client is still connecting.
    server.on('connection', () => move(clock))
    let received = 0
    server.on('secureConnection', (socket) => {
      socket.prependListener('data', (data) => {
        received += data.length
      })
    })
    const failed = await failure(call.http.post(url, {}, moves))
    assert.deepEqual(failed, { code: 'past-deadline', wroteBytes: false })
    assert.equal(call.sent(), 'not-moved')
    assert.equal(received, 0)
    server.removeAllListeners('request').on('request', (_request, answer) => answer.end('ok'))
    assert.equal((await newCall().http.get(url)).status, 200)
  })

  test(`a kept connection also refuses the first byte past the send-by time on the ${name} clock`, async (t) => {
    const paths: (string | undefined)[] = []
    const { url } = await httpServer(t, (request, answer) => {
      paths.push(request.url)
      answer.end('ok')
    })
    const clock = stillClock()
    const { call } = outgoingFor(t, { clock })
    await call.http.get(`${url}/first`)
    // undici announces a new request after the engine's first check of the clocks and before the
    // bytes.
    const late = () => move(clock)
    subscribe('undici:request:create', late)
    const failed = await failure(call.http.post(`${url}/late`, {}, moves)).finally(() =>
      unsubscribe('undici:request:create', late),
    )
    assert.deepEqual(failed, { code: 'past-deadline', wroteBytes: false })
    assert.deepEqual(paths, ['/first'])
  })
}

test('a look-up can be written past the send-by time, until the deadline', async (t) => {
  const { url } = await httpServer(t, (_request, answer) => answer.end('ok'))
  const clock = stillClock()
  const { call } = outgoingFor(t, { clock })
  clock.elapsed += 101
  assert.equal((await call.http.get(url)).status, 200)
  clock.elapsed += hour
  assert.deepEqual(await failure(call.http.get(url)), { code: 'past-deadline', wroteBytes: false })
})

test('a long request stops in the middle when its send-by time passes', async (t) => {
  const clock = stillClock()
  const size = 32 * 1024 * 1024
  let received = 0
  const { url } = await rawServer(t, (socket) => {
    socket.on('data', (data) => {
      received += data.length
      clock.real += 200
    })
  })
  const { call } = outgoingFor(t, { clock })
  const work = call.http.request('POST', url, { ...moves, body: Buffer.alloc(size) })
  assert.deepEqual(await failure(work), { code: 'past-deadline', wroteBytes: true })
  assert.equal(call.sent(), 'moved')
  assert.ok(received < size)
})
