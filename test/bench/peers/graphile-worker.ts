/**
 * (f) The same payment through graphile-worker: rows and job in one prepared statement, the worker
 * charges and settles, the handler waits for it in this process. Jobs are announced by LISTEN, so
 * no polling delays them; they are fetched and completed in batches, the fastest way by its
 * documentation. The card stays in memory meanwhile, because security codes must not be stored.
 */
import { Logger, run } from 'graphile-worker'
import { openPool } from '../handwritten/database.ts'
import { charge, newId, type Payment, type Verdict } from '../handwritten/payment.ts'
import { serve } from '../handwritten/serve.ts'
import { accept, acceptValues, statements } from '../handwritten/statements.ts'

type Waiting = {
  readonly payment: Payment
  readonly done: (verdict: Verdict) => void
  readonly failed: (error: unknown) => void
}

const pool = await openPool()
const store = statements(pool)
const underWay = new Map<string, Waiting>()

const jobs = Number(process.env.BENCH_JOBS ?? '64')
const runner = await run({
  pgPool: pool,
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  taskList: {
    async charge(payload) {
      const { id } = payload as { id: string }
      const waiting = underWay.get(id)
      if (waiting === undefined) throw new Error('the process that held the card has ended')
      try {
        const verdict = await charge(waiting.payment)
        await store.settle(waiting.payment, verdict, newId())
        waiting.done(verdict)
      } catch (error) {
        waiting.failed(error)
        throw error
      }
    },
  },
  preset: {
    worker: {
      concurrentJobs: jobs,
      localQueue: { size: jobs },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
})

const acceptAndEnqueue = `${accept}
  returning (graphile_worker.add_job('charge', json_build_object('id', $1::uuid))).id`

serve({
  async pay(payment) {
    const verdict = Promise.withResolvers<Verdict>()
    underWay.set(payment.id, { payment, done: verdict.resolve, failed: verdict.reject })
    try {
      const values = acceptValues(payment)
      await pool.query({ name: 'accept', text: acceptAndEnqueue, values })
      return await verdict.promise
    } finally {
      underWay.delete(payment.id)
    }
  },
  async close() {
    await runner.stop()
    await pool.end()
  },
})
