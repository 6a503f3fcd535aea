/** Health checks while the database is away, and the lines of requests in the log. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '../../rig/gateway.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'
import { inScope } from '../../rig/scope.ts'
import { ask, debit, type Hosted, startHost } from './hosted.ts'

/** The promise, and what a busy machine adds. */
const withinMs = 1_000 + inScope(20_000, 500)

describe('health checks', () => {
  let run: Hosted
  let line: Line
  before(async () => {
    run = await startHost(
      {},
      {
        through: async (url) => {
          line = await lineTo(url)
          return line.url
        },
      },
    )
  })
  after(async () => {
    await run.close()
    await line.close()
  })

  const timed = async (path: string) => {
    const begunMs = performance.now()
    const { status, body } = await ask(run.url, path)
    return { status, code: body.result.code, tookMs: performance.now() - begunMs }
  }
  const ready = async () => ((await timed('/readyz')).status === 200 ? true : undefined)

  test('/readyz says no within a second while the database hangs, however many ask, and yes afterwards', async () => {
    await until(ready)
    line.stall()
    try {
      const asked = await Promise.all(Array.from({ length: 20 }, () => timed('/readyz')))
      // Probes come again and again, and each gets its answer.
      asked.push(await timed('/readyz'), await timed('/readyz'))
      for (const { status, code, tookMs } of asked) {
        assert.deepEqual([status, code], [503, '800.800.801'])
        assert.ok(tookMs < withinMs, `took ${Math.round(tookMs)} ms`)
      }
      const alive = await timed('/healthz')
      assert.equal(alive.status, 200, 'a restart would not help')
    } finally {
      line.resume()
    }
    await until(ready)
  })

  test('/readyz says no within a second while the database is down, and yes afterwards', async () => {
    await until(ready)
    line.down()
    try {
      const { status, tookMs } = await timed('/readyz')
      assert.equal(status, 503)
      assert.ok(tookMs < withinMs, `took ${Math.round(tookMs)} ms`)
      assert.equal((await timed('/healthz')).status, 200)
    } finally {
      line.up()
    }
    await until(ready)
  })
})

describe('the log line of a request', () => {
  test('has the payment, also of a repeat and of a read, and no id of a refusal', async () => {
    const run = await startHost()
    try {
      const { token, url, channel } = run
      const form = { ...debit, entityId: channel }
      const headers = { 'Idempotency-Key': 'order-1' }
      const paid = await ask(url, '/v1/payments', { token, form, headers })
      const again = await ask(url, '/v1/payments', { token, form, headers })
      const read = await ask(url, `/v1/payments/${paid.body.id}?entityId=${channel}`, { token })
      const refused = await ask(url, '/v1/payments', { token, form: { ...form, amount: 'much' } })
      assert.equal(again.body.id, paid.body.id)
      const lineOf = ({ body, headers: sent }: typeof paid) => {
        assert.equal(sent.get('x-request-id'), body.ndc)
        return run.lines.find(({ ndc }) => ndc === body.ndc)!
      }
      for (const answer of [paid, again, read]) {
        assert.equal(lineOf(answer).payment, paid.body.id)
      }
      assert.equal(lineOf(refused).payment, undefined)
      assert.equal(lineOf(refused).status, 400)
      const found = await run.gateway.inspect(paid.headers.get('x-request-id')!)
      assert.ok('id' in found && found.id === paid.body.id)
    } finally {
      await run.close()
    }
  })
})
