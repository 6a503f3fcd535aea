/** Payments while the line to Postgres forwards nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { GatewayError } from '../../../core/index.ts'
import { approvedAs, startWithAcquirer } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'

/** Additional time for a busy machine. */
const toleratedMs = 700

test('payments are answered within the flush budget, charged ones as open, and go on with the connection', async () => {
  let line: Line | undefined
  const run = await startWithAcquirer({
    shutdownGraceMs: 100,
    through: async (url) => {
      line = await lineTo(url)
      return line.url
    },
  })
  try {
    const timed = async <T>(work: Promise<T>) => {
      const since = performance.now()
      const result = await work.then(
        (value) => ({ value, error: undefined }),
        (error: unknown) => ({ value: undefined, error }),
      )
      return { ...result, tookMs: performance.now() - since }
    }
    await run.debit('warm-one', {})
    const atAcquirer = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    let arrived = 0
    const charged = Array.from({ length: 10 }, (_, no) =>
      run.debit(`charged-${no}`, {
        debit: async (operation, context) => {
          context.sending()
          arrived += 1
          if (arrived === 10) atAcquirer.resolve()
          await answer.promise
          return approvedAs(operation)
        },
      }),
    )
    await atAcquirer.promise
    line!.stall()
    const since = performance.now()
    answer.resolve()
    const turnedAway = Array.from({ length: 10 }, (_, no) =>
      timed(run.debit(`turned-away-${no}`, {})),
    )
    for (const { error, tookMs } of await Promise.all(turnedAway)) {
      assert.ok(error instanceof GatewayError && error.status === 503, String(error))
      assert.ok(tookMs < limits.flushBudgetMs + toleratedMs, `it took ${tookMs} ms`)
    }
    for (const payment of await Promise.all(charged)) {
      assert.equal(payment.result.code, '000.200.001')
    }
    assert.ok(performance.now() - since < limits.flushBudgetMs + toleratedMs)
    line!.resume()
    const next = await timed(run.debit('next-one', {}))
    assert.equal(next.value?.result.code, '000.100.112')
    assert.ok(next.tookMs < limits.connectMs + toleratedMs, `it took ${next.tookMs} ms`)
    await until(async () => {
      const open = await run.sql(
        `select id from tollgate.payment where merchant_transaction_id like 'charged-%' and state <> 'approved'`,
      )
      return open.length === 0 ? true : undefined
    })
    for (let no = 0; no < 10; no += 1) {
      assert.deepEqual(run.acquirer.of(`charged-${no}`), ['debit'])
      assert.deepEqual(run.acquirer.of(`turned-away-${no}`), [])
    }
  } finally {
    line?.resume()
    await run.close()
    await line?.close()
  }
})
