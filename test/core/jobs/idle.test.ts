/** An idle worker asks the database once for each look, and a look finds the work of other processes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'
import { lookEvery } from '../../rig/quick-looks.ts'
import { countStatements, type StatementCounter } from '../../rig/statement-counter.ts'

/** Users' engines look twice a second, which makes four statements. */
const mostPerLook = 2
const hourMs = 3_600_000

const counting = (ran: string[]) => ({
  name: 'own-work',
  run: async (_: object, { id }: { id: string }) => void ran.push(id),
})

describe('an idle worker', () => {
  let counter: StatementCounter
  let run: TestGateway
  let receiver: Receiver
  const ran: string[] = []

  before(async () => {
    receiver = await startReceiver()
    run = await startGateway({
      role: 'all',
      jobs: [counting(ran)],
      through: async (url) => {
        counter = await countStatements(url)
        return counter.url
      },
    })
  })
  after(async () => {
    await run?.close()
    await counter?.close()
    await receiver.close()
  })

  /** Statements for each look, while this many are sent. */
  async function perLook(statements: number): Promise<number> {
    const since = performance.now()
    const from = counter.count()
    await until(async () => (counter.count() - from >= statements ? true : undefined))
    const looks = (performance.now() - since) / limits.dispatcherPollMs
    return (counter.count() - from) / looks
  }

  test('the counter counts', async () => {
    const from = counter.count()
    await run.pay()
    assert.ok(counter.count() > from)
  })

  test(`sends at most ${mostPerLook} statements for each look`, async () => {
    // The start, its housekeeping and the payment of the test before.
    await perLook(60)
    const rate = await perLook(60)
    assert.ok(rate <= mostPerLook, `${rate} statements for each look`)
  })

  test('starts a job of another process', async () => {
    const other = await run.another({ role: 'api', jobs: [counting([])] })
    const count = ran.length
    await other.sendJob('own-work', {})
    await until(async () => (ran.length > count ? true : undefined))
  })

  test('delivers a webhook about a payment of another process', async () => {
    const { webhooks } = run.gateway
    await webhooks.create({ entityId: run.merchant, url: receiver.url, wrapper: 'NONE' } as never)
    const other = await run.another({ role: 'api' })
    const { id } = await run.pay({}, { on: other })
    await until(async () =>
      receiver.received.some(({ body }) => body.includes(id)) ? true : undefined,
    )
  })
})

test('a worker starts the jobs of its own process without a look, one after the other', async () => {
  const usual = lookEvery(hourMs)
  const ran: string[] = []
  const run = await startGateway({ role: 'all', jobs: [counting(ran)] })
  try {
    for (let no = 0; no < 20; no += 1) await run.gateway.sendJob('own-work', {}, `job ${no}`)
    await until(async () => (ran.length === 20 ? true : undefined))
  } finally {
    usual()
    await run.close()
  }
})
