import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { definePlugin } from '@tollgate/plugin-kit'
import { createSimulator } from '../../connectors/simulator/in-process.ts'
import { openLedger, totals } from '../../connectors/simulator/ledger.ts'
import { GatewayError, type PaymentView } from '../../core/index.ts'
import { approvedAs, startWithAcquirer } from '../rig/acquirer.ts'
import { checkBooks } from '../rig/books.ts'
import { startGateway, type TestGateway, until } from '../rig/gateway.ts'
import { type Line, lineTo } from '../rig/proxy.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })

/** Closes every session of the database except the test's own. */
const terminateAll = (run: TestGateway) =>
  run.sql<{ ended: boolean }>(
    `select pg_terminate_backend(pid) as ended from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  )

describe('Postgres closes every session under load', () => {
  test('no payment is lost or doubled: the books agree with those of the acquirer', async () => {
    // The acquirer's books are outside the database: they are the truth.
    const ledger = openLedger()
    const simulator = definePlugin({
      name: 'simulator',
      contract: 1,
      connectors: [createSimulator(ledger)],
    })
    const run = await startGateway({ pool: {}, simulator })
    try {
      const answered: PaymentView[] = []
      const turnedAway: GatewayError[] = []
      let terminated = 0
      let isOver = false
      const attempt = async (work: () => Promise<PaymentView>) => {
        try {
          const answer = await work()
          answered.push(answer)
          return answer
        } catch (error) {
          // A refusal is allowed, a fault of the engine is not.
          assert.ok(error instanceof GatewayError, String(error))
          turnedAway.push(error)
          return undefined
        }
      }
      const customer = async (name: number) => {
        for (let visit = 0; !isOver; visit += 1) {
          const key = `customer-${name}-${visit}`
          const hold = await attempt(() => run.pay({ paymentType: 'PA' }, { key }))
          if (hold?.result.code !== '000.100.110') continue
          const capture = await attempt(() => run.gateway.payments.capture(hold.id, eur('60.00')))
          if (capture?.result.code !== '000.100.110') continue
          await attempt(() => run.gateway.payments.refund(capture.id, eur('10.00')))
          await attempt(() => run.pay())
        }
      }
      const load = Array.from({ length: 12 }, (_, name) => customer(name))
      for (let round = 0; round < 8; round += 1) {
        const already = answered.length
        await until(async () => (answered.length >= already + 40 ? true : undefined))
        terminated += (await terminateAll(run)).length
      }
      isOver = true
      await Promise.all(load)
      assert.ok(terminated > 50, `${terminated} sessions were ended`)
      for (const { code, status } of turnedAway) {
        assert.ok(status === 503 || code === '700.400.570', `${status} ${code}`)
      }
      // Open payments settle by themselves, because their outcomes were kept.
      await until(async () => {
        const open = await run.sql(
          `select id from tollgate.payment where state in ('processing', 'unknown')`,
        )
        return open.length === 0 ? true : undefined
      })
      await checkBooks(run)
      const states = new Map(
        (
          await run.sql<{ id: string; state: string }>('select id, state from tollgate.payment')
        ).map((row) => [row.id, row.state]),
      )
      for (const { id } of answered)
        assert.equal(states.get(id), 'approved', 'every answered payment is stored')
      const [sums] = await run.sql<{ charged: bigint; held: bigint }>(
        `select
           coalesce(sum(approved_minor) filter (where payment_type in ('DB', 'CP')), 0)::bigint
             - coalesce(sum(approved_minor) filter (where payment_type = 'RF'), 0)::bigint as charged,
           coalesce(sum(approved_minor) filter (where payment_type = 'PA'), 0)::bigint
             - coalesce(sum(approved_minor) filter (where payment_type = 'CP'), 0)::bigint as held
         from tollgate.payment where state = 'approved'`,
      )
      assert.deepEqual(totals(ledger), { EUR: { held: sums?.held, charged: sums?.charged } })
    } finally {
      await run.close()
    }
  })

  test('jobs continue afterwards: a due enquiry is made', async () => {
    const run = await startGateway({ pool: {} })
    try {
      const { id } = await run.pay({
        card: {
          number: '4000000000000341',
          holder: 'Jane Jones',
          expiryMonth: '05',
          expiryYear: '2034',
        },
      })
      await terminateAll(run)
      await run.sql(`update tollgate.timer set due_at = now() where kind = 'look'`)
      await run.event(id, 'payment.approved')
      assert.equal(await run.gateway.isReady(), true)
    } finally {
      await run.close()
    }
  })

  test('an outcome that cannot be written any more ends with its process', async () => {
    let line: Line | undefined
    let questions = 0
    let aheadMs = 0
    const run = await startWithAcquirer({
      pool: {},
      shutdownGraceMs: 50,
      through: async (url) => {
        line = await lineTo(url)
        return line.url
      },
      clock: {
        // Jumps an hour at the end, so that a loop that outlives its engine does not outlive the
        // test.
        elapsedMs: () => {
          questions += 1
          return performance.now() + aheadMs
        },
        realMs: () => Date.now(),
        businessAt: () => new Date(),
      },
    })
    try {
      const down = Promise.withResolvers<void>()
      const answering = run.debit('never-written', {
        debit: (operation, context) => {
          context.sending()
          line?.down()
          down.resolve()
          return approvedAs(operation)
        },
      })
      await down.promise
      await run.gateway.close()
      assert.equal((await answering).result.code, '000.200.001')
      const asked = questions
      // No event can show that nothing happens: this is twice the pause of the loop.
      await new Promise((next) => setTimeout(next, 600))
      assert.equal(questions, asked, 'the closed engine still retries')
    } finally {
      aheadMs = 3_600_000
      line?.up()
      await run.close()
      await line?.close()
    }
  })
})
