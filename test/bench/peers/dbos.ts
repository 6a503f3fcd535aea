/**
 * (e) The same payment as a DBOS workflow of three steps. Each storage step is one prepared
 * statement, as in (b), that can run again. The card's number and security code stay in this
 * process: DBOS stores the arguments of a workflow in its own tables, so they hold only the
 * payment's id.
 */
import { DBOS } from '@dbos-inc/dbos-sdk'
import { openPool } from '../handwritten/database.ts'
import { charge, newId, type Payment, type Verdict } from '../handwritten/payment.ts'
import { serve } from '../handwritten/serve.ts'
import { statements } from '../handwritten/statements.ts'

const pool = await openPool()
const store = statements(pool)
const underWay = new Map<string, Payment>()

async function payOnce(id: string): Promise<Verdict> {
  const payment = underWay.get(id)
  if (payment === undefined) throw new Error('the process that held the card has ended')
  await DBOS.runStep(() => store.accept(payment), { name: 'accept' })
  const verdict = await DBOS.runStep(() => charge(payment), { name: 'charge' })
  await DBOS.runStep(() => store.settle(payment, verdict, newId()), { name: 'settle' })
  return verdict
}
const workflow = DBOS.registerWorkflow(payOnce, { name: 'pay' })

DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.env.BENCH_DATABASE ?? '',
  systemDatabasePoolSize: Number(process.env.BENCH_POOL ?? '10'),
  logLevel: 'error',
  enableOTLP: false,
  // No workflow waits for events of another process.
  useListenNotify: false,
})
await DBOS.launch()

serve({
  async pay(payment) {
    underWay.set(payment.id, payment)
    try {
      const handle = await DBOS.startWorkflow(workflow, { workflowID: payment.id })(payment.id)
      return await handle.getResult()
    } finally {
      underWay.delete(payment.id)
    }
  },
  async close() {
    await DBOS.shutdown()
    await pool.end()
  },
})
