/** While a process is busy, those whose requests mostly fail leave it to the others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../../../core/index.ts'
import { Shedding } from '../../../host/http/shedding.ts'
import { defaultThrottle } from '../../../host/http/throttle.ts'
import { ask, debit, startHost } from './hosted.ts'

function shedding(failingAtOnce = 2) {
  const at = { ms: 0, busy: true }
  const made = new Shedding({ failingAtOnce, isBusy: () => at.busy, nowMs: () => at.ms })
  const answered = (client: string, status: number, times = 1) => {
    for (let no = 0; no < times; no += 1) {
      made.enter(client)
      made.leave(client, status)
    }
  }
  const isRefused = (client: string) => {
    try {
      made.enter(client)
    } catch (error) {
      assert.ok(error instanceof GatewayError)
      assert.equal(error.code, '800.120.100')
      assert.equal(error.status, 429)
      assert.equal(error.retryAfterSeconds, 1)
      return true
    }
    return false
  }
  /** How many of `count` requests at once are let in; all end with `status`. */
  const letIn = (client: string, count: number, status: number) => {
    const refused = Array.from({ length: count }, () => isRefused(client))
    const taken = refused.filter((is) => !is).length
    for (let no = 0; no < taken; no += 1) made.leave(client, status)
    return taken
  }
  return { at, made, answered, isRefused, letIn }
}

test('a client most of whose requests fail has two in a tenth of a second while the process is busy', () => {
  const { at, answered, letIn } = shedding()
  answered('tester', 402, 20)
  at.ms += 100
  assert.equal(letIn('tester', 10, 402), 2)
  at.ms += 99
  assert.equal(letIn('tester', 10, 402), 0)
  at.ms += 1
  assert.equal(letIn('tester', 10, 402), 2)
  at.busy = false
  assert.equal(letIn('tester', 10, 402), 10)
})

test('one whose request ended gets the next one in a tenth of a second later, also while others last', () => {
  const { at, made, answered, isRefused } = shedding()
  answered('tester', 400, 20)
  at.ms += 100
  assert.deepEqual(
    [isRefused('tester'), isRefused('tester'), isRefused('tester')],
    [false, false, true],
  )
  made.leave('tester', 400)
  assert.equal(isRefused('tester'), true)
  at.ms += 100
  assert.deepEqual([isRefused('tester'), isRefused('tester')], [false, true])
})

test('clients whose requests succeed, and those of whom little is known, are let in however busy it is', () => {
  const { answered, letIn } = shedding()
  answered('shop', 200, 10)
  answered('shop', 402, 15)
  assert.equal(letIn('shop', 50, 200), 50)
  answered('new', 400, 19)
  assert.equal(letIn('new', 50, 400), 50)
  assert.equal(letIn('unknown', 50, 200), 50)
})

test('two thirds have to fail: one decline less and all are let in', () => {
  const { at, answered, letIn } = shedding()
  answered('shop', 200, 11)
  answered('shop', 402, 20)
  assert.equal(letIn('shop', 5, 429), 5)
  answered('shop', 402, 2)
  at.ms += 100
  assert.equal(letIn('shop', 5, 429), 2)
})

test('being turned away, our own mistakes and clients that went away say nothing about a client', () => {
  const { answered, letIn } = shedding()
  for (const status of [429, 500, 503, 0]) answered('shop', status, 20)
  assert.equal(letIn('shop', 10, 200), 10)
})

test('what is older than ten seconds is forgiven', () => {
  const { at, answered, letIn } = shedding()
  answered('tester', 402, 20)
  at.ms += 5_000
  assert.equal(letIn('tester', 10, 0), 2)
  at.ms += 5_000
  assert.equal(letIn('tester', 10, 0), 10)
})

test('a failing client does not hold up another one', () => {
  const { at, answered, isRefused, letIn } = shedding()
  answered('tester', 402, 20)
  at.ms += 100
  assert.deepEqual(
    [isRefused('tester'), isRefused('tester'), isRefused('tester')],
    [false, false, true],
  )
  assert.equal(letIn('shop', 30, 200), 30)
})

test('whoever is turned away is answered a tenth of a second later, a thousand at once', async () => {
  const waits: number[] = []
  const goOn: (() => void)[] = []
  const made = new Shedding({
    failingAtOnce: 1,
    wait: (ms) => {
      waits.push(ms)
      return new Promise<void>((resolve) => goOn.push(resolve))
    },
  })
  let answered = 0
  const held = Array.from({ length: 1000 }, () => made.hold().then(() => (answered += 1)))
  await made.hold()
  assert.deepEqual([answered, waits.length, new Set(waits)], [0, 1000, new Set([100])])
  for (const resolve of goOn) resolve()
  await Promise.all(held)
  assert.equal(answered, 1000)
  void made.hold()
  assert.equal(waits.length, 1001)
})

test('a busy host turns a failing token away with 429, and serves the others and its reads', async () => {
  const host = await startHost({ throttle: { failingAtOnce: 1 } })
  let busy = true
  try {
    // An event loop that always has something to do is one that is busy.
    const work = () => busy && setImmediate(work)
    work()
    const { token } = await host.gateway.entities.createToken(host.channel, 'tester')
    const declined = { 'card.number': '4000000000000002' }
    const many = (as: string, form: object, count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          ask(host.url, '/v1/payments', { token: as, form: { ...debit, ...form } }),
        ),
      )
    await many(token, declined, 20)
    let refused = 0
    for (let round = 0; round < 50 && refused === 0; round += 1) {
      for (const { status, body, headers } of await many(token, declined, 10)) {
        assert.ok(status === 400 || status === 429, String(status))
        if (status === 400) continue
        refused += 1
        assert.equal(body.result.code, '800.120.100')
        assert.equal(headers.get('retry-after'), '1')
      }
    }
    assert.ok(refused > 0)
    const [served, read] = await Promise.all([
      many(host.token, {}, 5),
      ask(host.url, `/v1/payments/${'0'.repeat(32)}`, { token }),
    ])
    assert.deepEqual(new Set(served.map(({ status }) => status)), new Set([200]))
    assert.equal(read.status, 404)
  } finally {
    busy = false
    await host.close()
  }
})

test('that is so on live; in the test environment everybody may try out what fails', () => {
  assert.equal(defaultThrottle('live').failingAtOnce, 2)
  assert.equal(defaultThrottle('test').failingAtOnce, Number.POSITIVE_INFINITY)
})
