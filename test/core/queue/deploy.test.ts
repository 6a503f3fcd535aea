/** An ordinary deploy: a worker ends while jobs are queued and running, and the next one does them, without a warning. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, until } from '../../rig/gateway.ts'

test('a deploy with queued and running work logs no warning, and every job is done', async () => {
  const begun = Promise.withResolvers<void>()
  const done = new Set<number>()
  const job = (run: (order: number, signal: AbortSignal) => Promise<void>) => ({
    name: 'slow',
    concurrency: 2,
    run: (payload: object, { signal }: { signal: AbortSignal }) =>
      run((payload as { order: number }).order, signal),
  })
  const held = job(async (_, signal) => {
    begun.resolve()
    await new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('the process ends')), { once: true }),
    )
  })
  const next = job(async (order) => {
    done.add(order)
  })
  const run = await startGateway({ jobs: [held], shutdownGraceMs: 300 })
  try {
    const orders = Array.from({ length: 12 }, (_, order) => order)
    for (const order of orders) await run.gateway.sendJob('slow', { order }, { key: `${order}` })
    await begun.promise
    for (let more = 0; more < 3; more += 1) await run.pay()
    await run.gateway.close()
    await run.another({ jobs: [next] })
    await until(async () => done.size === orders.length || undefined)
    const warnings = run.logs.filter(
      ({ level, fields }) => level === 'warn' && fields.problems === undefined,
    )
    assert.deepEqual(warnings, [])
  } finally {
    await run.close()
  }
})
