/** An idle worker asks the database rarely, and work of other processes still starts within a second. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'
import { countStatements, type StatementCounter } from '../../rig/statement-counter.ts'

const windowMs = 10_000
const mostPerSecond = 5

describe('an idle worker', () => {
  let counter: StatementCounter
  let run: TestGateway
  let receiver: Receiver
  const ran: number[] = []

  before(async () => {
    receiver = await startReceiver()
    run = await startGateway({
      role: 'all',
      jobs: [
        {
          name: 'own-work',
          run: async () => {
            ran.push(performance.now())
          },
        },
      ],
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

  /** Statements per second, once the start is over. */
  async function perSecond(): Promise<number> {
    const since = performance.now()
    const from = counter.count()
    await until(async () => (performance.now() - since >= windowMs ? true : undefined))
    return ((counter.count() - from) * 1_000) / (performance.now() - since)
  }

  test('the counter counts', async () => {
    const from = counter.count()
    await run.pay()
    assert.ok(counter.count() > from)
  })

  test(`sends at most ${mostPerSecond} statements a second`, async () => {
    // The start, its housekeeping and the payment of the test before.
    await perSecond()
    const rate = await perSecond()
    assert.ok(rate > 0.5, `${rate} statements a second: the worker looks for nothing`)
    assert.ok(rate <= mostPerSecond, `${rate} statements a second`)
  })

  test('starts a job that this process queued at once, and one of another process within a second', async () => {
    const tookMs = async (send: () => Promise<void>) => {
      const count = ran.length
      const since = performance.now()
      await send()
      await until(async () => (ran.length > count ? true : undefined))
      return ran.at(-1)! - since
    }
    await tookMs(() => run.gateway.sendJob('own-work', {}))
    const own = await tookMs(() => run.gateway.sendJob('own-work', {}))
    assert.ok(own < 400, `${own} ms`)
    const other = await run.another({
      role: 'api',
      jobs: [{ name: 'own-work', run: async () => {} }],
    })
    const foreign = await tookMs(() => other.sendJob('own-work', {}))
    assert.ok(foreign < 1_500, `${foreign} ms`)
  })

  test('runs many jobs one after the other without a pause between them', async () => {
    const count = ran.length
    const since = performance.now()
    for (let no = 0; no < 20; no += 1) await run.gateway.sendJob('own-work', {}, `job ${no}`)
    await until(async () => (ran.length >= count + 20 ? true : undefined))
    const tookMs = performance.now() - since
    assert.ok(tookMs < 5_000, `${tookMs} ms for 20 jobs of one worker`)
  })

  test('delivers a webhook about a payment of another process within two seconds', async () => {
    const { webhooks } = run.gateway
    await webhooks.create({ entityId: run.merchant, url: receiver.url, wrapper: 'NONE' } as never)
    const other = await run.another({ role: 'api' })
    await run.pay({}, { on: other })
    const since = performance.now()
    const { id } = await run.pay({}, { on: other })
    await until(async () =>
      receiver.received.some(({ body }) => body.includes(id)) ? true : undefined,
    )
    const tookMs = performance.now() - since
    assert.ok(tookMs < 2_000, `${tookMs} ms`)
  })
})
