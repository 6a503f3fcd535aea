/** Memory for request bodies is shared: a stalling client holds its own share and no more. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { GatewayError } from '../../../core/index.ts'
import { BodyBudget } from '../../../host/http/body-budget.ts'
import { clientOf } from '../../../host/http/client.ts'
import { createHost } from '../../../host/index.ts'
import { limits } from '../../../schemas/index.ts'
import { until } from '../../rig/gateway.ts'
import { answersIn, ask, debit, exchange, type Hosted, startHost } from './hosted.ts'

const statusOf = (work: () => void): number => {
  try {
    work()
    return 200
  } catch (error) {
    assert.ok(error instanceof GatewayError)
    assert.ok(Number(error.retryAfterSeconds) > 0)
    return error.status
  }
}

const sender = (no: number) => ({
  token: `token ${no}`,
  merchant: `merchant ${no}`,
  address: `192.0.2.${no}`,
})

describe('the memory for bodies', () => {
  test('one client has a bounded share of memory, and its bytes are free again after the answer', () => {
    const budget = new BodyBudget()
    const share = budget.share({ token: 'one', address: '192.0.2.1' })
    const third = limits.clientBodiesBytes / 3
    share.take(third)
    share.take(third)
    assert.equal(
      statusOf(() => share.take(third)),
      429,
    )
    assert.equal(
      statusOf(() => budget.share({ token: 'one', address: '192.0.2.1' }).take(third)),
      429,
    )
    budget.share({ token: 'other', address: '192.0.2.2' }).take(third)
    share.letGo()
    share.letGo()
    assert.equal(
      statusOf(() => budget.share({ token: 'one', address: '192.0.2.1' }).take(third)),
      200,
    )
  })

  test('all clients together are bounded, and large bodies leave a quarter to ordinary payments', () => {
    const budget = new BodyBudget()
    const size = 1024 * 1024
    let taken = 0
    for (; statusOf(() => budget.share(sender(taken)).take(size)) === 200; taken += 1);
    assert.equal(
      statusOf(() => budget.share(sender(-1)).take(size)),
      503,
    )
    assert.ok(budget.held <= limits.bodiesBytes * 0.75)
    assert.equal(
      statusOf(() => budget.share(sender(-2)).take(4096)),
      200,
    )
    for (let no = 0; statusOf(() => budget.share(sender(no)).take(60_000)) === 200; no += 1);
    assert.ok(budget.held <= limits.bodiesBytes)
  })

  test('pieces count as well as bytes, so a body can arrive byte by byte', () => {
    const share = new BodyBudget().share(sender(0))
    let pieces = 0
    while (statusOf(() => share.take(1)) === 200) pieces += 1
    assert.ok(pieces < 100_000, `${pieces} pieces`)
  })
})

describe('a full memory for bodies', () => {
  const small = { bytes: 400_000, clientBytes: 100_000, lateBytes: 5_000 }
  const shares = (budget: BodyBudget, from: Parameters<BodyBudget['share']>[0], bytes = 1_000) => {
    let taken = 0
    while (taken < 10_000 && statusOf(() => budget.share(from).take(bytes)) === 200) taken += 1
    return taken
  }

  test("a merchant's share is the same with many tokens", () => {
    const budget = new BodyBudget({ payments: small })
    for (let no = 0; no < 10; no += 1) shares(budget, { ...sender(no), merchant: 'one' })
    assert.ok(budget.held <= small.clientBytes)
    assert.equal(
      statusOf(() => budget.share({ ...sender(11), merchant: 'one' }).take(4_000)),
      429,
    )
  })

  test('the last quarter of memory remains for other clients than those who filled the rest', () => {
    const budget = new BodyBudget({ payments: small })
    for (let no = 0; no < 4; no += 1) shares(budget, sender(no))
    assert.ok(budget.held <= small.bytes * 0.75 + 4 * small.lateBytes)
    const before = budget.held
    for (let no = 10; no < 50; no += 1) shares(budget, { ...sender(no), address: '192.0.2.9' })
    assert.ok(
      budget.held - before <= small.lateBytes,
      'many tokens give one address no more memory',
    )
    assert.equal(
      statusOf(() => budget.share(sender(99)).take(1_000)),
      200,
    )
  })

  test('requests without a login have memory of their own', () => {
    const budget = new BodyBudget({ payments: small, strangers: small })
    for (let no = 0; no < 100; no += 1) shares(budget, { address: `198.51.100.${no}` })
    assert.ok(budget.held <= small.bytes)
    const before = budget.held
    for (let no = 0; no < 100; no += 1) shares(budget, sender(no))
    assert.ok(budget.held - before > small.bytes * 0.75)
    const payments = new BodyBudget({ payments: small, strangers: small })
    for (let no = 0; no < 100; no += 1) shares(payments, sender(no))
    assert.equal(
      statusOf(() => payments.share({ address: '198.51.100.1' }).take(2_000)),
      200,
    )
  })

  test('stalled bodies are ended once more than half of the memory is taken', () => {
    let nowMs = 0
    const budget = new BodyBudget({ payments: small, stalledMs: 5_000, nowMs: () => nowMs })
    const ended: string[] = []
    const begin = (no: number, bytes: number) => {
      const share = budget.share(sender(no))
      share.reading(({ status }) => {
        ended.push(`${no} ${status}`)
        share.letGo()
      })
      share.take(bytes)
      return share
    }
    begin(0, 90_000)
    const moving = begin(1, 90_000)
    nowMs = 6_000
    budget.endStalled()
    assert.deepEqual(ended, [], 'there is enough room')
    begin(2, 90_000)
    moving.take(1)
    budget.endStalled()
    assert.deepEqual(ended, ['0 408'])
    nowMs = 12_000
    budget.endStalled()
    assert.deepEqual(ended, ['0 408'], 'less than half is held')
  })
})

test('a client without a token is its address, or its network of IPv6', () => {
  assert.equal(clientOf('203.0.113.7'), '203.0.113.7')
  assert.equal(clientOf('::ffff:203.0.113.7'), '203.0.113.7')
  assert.equal(clientOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(clientOf('2001:DB8:1:2::9'), '2001:db8:1:2::/64')
  assert.equal(clientOf('2001:db8::9'), '2001:db8:0:0::/64')
  assert.equal(clientOf('::1'), '0:0:0:0::/64')
  assert.equal(clientOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.equal(clientOf('64:ff9b:1:2:3:4:192.0.2.33'), '64:ff9b:1:2::/64')
  assert.equal(clientOf(undefined), '')
})

describe('bodies at a host', () => {
  let host: Hosted
  before(async () => {
    host = await startHost()
  })
  after(() => host.close())

  async function stall(token: string, bytes: number): Promise<Socket> {
    const socket = connect(Number(new URL(host.url).port), '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(
      `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${bytes + 1}\r\n\r\n`,
    )
    socket.write(Buffer.alloc(bytes, 'a'))
    return socket
  }

  const large = 2_000_000
  const post = (path: string, bytes: number, token = '') =>
    exchange(
      host.url,
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`,
      'a'.repeat(bytes),
    ).then((text) => answersIn(text)[0]!)

  test('a host turns away a client that stalls on many connections and serves the others', async () => {
    const stalled: Socket[] = []
    const refused = await until(async () => {
      // One after another: of connections that pass the limit together, the host may end all.
      stalled.push(await stall(host.token, large))
      const answer = await post('/v1/payments', large, host.token)
      return answer.status === 429 ? answer : undefined
    })
    assert.match(refused.body.result.description, /one client may have at most 16777216 bytes/)
    const { token } = await host.gateway.entities.createToken(host.channel, 'other')
    const other = await ask(host.url, '/v1/payments', { token, form: debit })
    assert.equal(other.status, 200)
    for (const socket of stalled) socket.destroy()
    await until(async () => {
      const { status } = await post('/v1/payments', large, host.token)
      return status === 400 ? status : undefined
    })
  })

  test('a host ends stalled bodies while more than half of the memory is taken, and reports it', async () => {
    const payments = { bytes: 100_000, clientBytes: 100_000, lateBytes: 10_000 }
    const small = createHost(host.gateway, { port: 0, bodies: { payments, stalledMs: 20 } })
    const { url, close } = await small.listen()
    try {
      const request = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${host.token}\r\nContent-Length: 70000\r\n\r\n`
      const [answer] = answersIn(await exchange(url, request, 'a'.repeat(60_000)))
      assert.equal(answer?.status, 408)
      assert.match(answer.body.result.description, /the body stopped coming/)
    } finally {
      await close()
    }
  })

  test('a host looks an account up before it reads a message for it, of 256 KB at most', async () => {
    const unknown = await post('/connectors/nobody/nobody/events', large)
    assert.equal(unknown.status, 404)
    const stranger = await post(`/connectors/simulator/${'f'.repeat(32)}/events`, large)
    assert.equal(stranger.status, 404)
    const known = await post('/connectors/simulator/internal/events', limits.messageBytes + 1)
    assert.equal(known.status, 400)
    assert.match(known.body.result.description, /262144 bytes/)
  })

  test('a host refuses malformed ids clearly, in every spelling', async () => {
    const long = 'x'.repeat(11_000)
    for (const id of ['%00', 'a%00b', long, '%ff', '%ed%a0%80']) {
      for (const path of [
        `/connectors/simulator/${id}/events`,
        `/connectors/${id}/internal/events`,
      ]) {
        const answer = await post(path, 2)
        assert.equal(answer.status, 404, path.slice(0, 60))
      }
    }
    const texts = ['a\u0000', long, '\ud800'].map((text) => JSON.stringify(text))
    for (const text of texts) {
      const body = `{"eventId":${text},"key":${text},"id":${text}}`
      const { status } = await ask(host.url, '/connectors/simulator/internal/events', {
        method: 'POST',
        body,
      })
      assert.equal(status, 503, text.slice(0, 20))
    }
  })
})
