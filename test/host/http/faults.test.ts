/** A fault during a request is an answer too, and ends nothing else. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { answersIn, ask, debit, exchange, type Hosted, startHost } from './hosted.ts'

describe('faults during a request', () => {
  let host: Hosted

  before(async () => {
    host = await startHost()
  })
  after(() => host.close())

  /** Makes the gateway answer `body` while `work` runs. */
  async function answering(body: unknown, work: () => Promise<void>): Promise<void> {
    const { gateway } = host
    const call = gateway.call.bind(gateway)
    gateway.call = async () => ({ status: 200, headers: {}, body: body as Record<string, unknown> })
    try {
      await work()
    } finally {
      gateway.call = call
    }
  }

  test('an answer that cannot be serialised is a fault, and the next request is served', async () => {
    const whole = { id: 'x' } as Record<string, unknown>
    whole.self = whole
    const tooLong = {
      toJSON: () => {
        throw new RangeError('Invalid string length')
      },
    }
    for (const body of [whole, tooLong]) {
      await answering(body, async () => {
        for (const path of ['/v1/events?limit=500', '/v1/query?limit=500']) {
          const { status, body: told } = await ask(host.url, path, { token: host.token })
          assert.equal(status, 500)
          assert.equal(told.result.code, '600.100.100')
        }
      })
    }
    const { status } = await ask(host.url, '/v1/payments', { token: host.token, form: debit })
    assert.equal(status, 200)
  })

  test('a fault during a refusal still gets an answer', async () => {
    const { gateway } = host
    const { refuse } = gateway
    gateway.refuse = () => {
      throw new Error('no refusal either')
    }
    try {
      for (const path of ['/v1/events', '/v1/nothing-here', '/v1/payments/%']) {
        const text = await exchange(host.url, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
        assert.equal(answersIn(text)[0]?.status, 500, text)
        assert.doesNotMatch(text, /no refusal either/)
      }
      const text = await exchange(host.url, 'rubbish\r\n\r\n')
      assert.match(text, /^HTTP\/1\.1 400 /)
    } finally {
      gateway.refuse = refuse
    }
    const shown = JSON.stringify(host.lines)
    assert.match(shown, /"error":"Error"/)
    assert.doesNotMatch(shown, /no refusal either/)
  })

  test('an uncaught fault raises an alarm, once a minute for each place', async () => {
    const { gateway, logs } = host
    const { refuse } = gateway
    gateway.refuse = () => {
      throw new TypeError('no refusal today')
    }
    const raised = () => logs.filter(({ fields }) => fields.alarm === 'last-resort')
    try {
      const already = raised().length
      for (let no = 0; no < 3; no += 1) {
        await exchange(host.url, 'GET /v1/nothing-here HTTP/1.1\r\nHost: x\r\n\r\n')
      }
      const [alarm, ...more] = raised().slice(already)
      assert.deepEqual(more, [])
      assert.deepEqual([alarm?.fields.security, alarm?.fields.error], [true, 'TypeError'])
      assert.match(String(alarm?.fields.subject), /^at /)
      assert.doesNotMatch(JSON.stringify(alarm), /no refusal today/)
    } finally {
      gateway.refuse = refuse
    }
  })

  test('hanging requests are answered after an uncaught error', async () => {
    const { gateway } = host
    const call = gateway.call.bind(gateway)
    const asked = Promise.withResolvers<void>()
    gateway.call = () => {
      asked.resolve()
      return new Promise(() => {})
    }
    const lost = ask(host.url, '/v1/query?limit=100', { token: host.token })
    await asked.promise
    gateway.call = call
    host.faulted(new Error('somewhere else'), 1)
    const { status, body } = await lost
    assert.equal(status, 500)
    assert.equal(body.result.code, '600.100.100')
    const { status: next } = await ask(host.url, '/v1/payments', { token: host.token, form: debit })
    assert.equal(next, 200)
  })
})
