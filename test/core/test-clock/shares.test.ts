/** Long advances of one merchant leave room for those of others. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { GatewayError, onFaultPoint } from '../../../core/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'
import { setLimits } from '../../rig/set-limits.ts'

const time = '2027-01-15 12:00:00'

describe('places for advances', () => {
  let run: TestGateway
  let tools: Scheduling
  before(async () => {
    run = await startGateway({ shutdownGraceMs: 100 })
    tools = scheduling(run)
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  const clockOf = async (entityId: string) =>
    (await run.gateway.testClocks.create({ entityId, time } as never)).id
  const setOff = (id: string, by: string) => run.gateway.testClocks.advance(id, { by } as never)
  const isReady = async (id: string) => (await run.gateway.testClocks.get(id)).status === 'READY'
  const arrived = (id: string) => until(async () => (await isReady(id)) || undefined)
  /** A clock with a charge in every second. */
  async function busyClock(entityId: string): Promise<string> {
    const id = await clockOf(entityId)
    const job = { expression: '* * * * * ?' }
    await tools.schedule(await tools.store({ testClock: id }), { paymentType: 'PA', job })
    return id
  }

  test('a merchant and its channel have two of the places, and the clock of another arrives', async () => {
    const { entities } = run.gateway
    const other = await clockOf(
      await entities.create({ kind: 'merchant', name: 'other', parentId: run.division }),
    )
    const own: string[] = []
    for (let no = 0; no < 5; no += 1) {
      own.push(await busyClock(no % 2 === 0 ? run.merchant : run.channel))
    }
    const held = new Set<string>()
    const release = Promise.withResolvers<void>()
    onFaultPoint((point, ref) => {
      if (point !== 'after-clock-step' || !own.includes(ref)) return
      held.add(ref)
      return release.promise
    })
    for (const id of own) await setOff(id, 'PT2S')
    await until(async () => held.size === limits.clocksPerMerchant || undefined)
    await setOff(other, 'P1Y')
    await arrived(other)
    assert.equal(held.size, limits.clocksPerMerchant)
    release.resolve()
    for (const id of own) await arrived(id)
  })

  test('an advance that has taken its time leaves the rest to the next run, after those that wait', async () => {
    const reset = setLimits({ clockSliceMs: 1 })
    try {
      const own = [await busyClock(run.merchant), await busyClock(run.merchant)]
      own.push(await busyClock(run.merchant))
      const steps: string[] = []
      onFaultPoint(async (point, ref) => {
        if (point !== 'after-clock-step' || !own.includes(ref)) return
        steps.push(ref)
        // The time of the slice is over.
        await new Promise((resolve) => setTimeout(resolve, 2))
      })
      for (const id of own) await setOff(id, 'PT4S')
      for (const id of own) await arrived(id)
      const firstOf = own.map((id) => steps.indexOf(id))
      const lastOf = own.map((id) => steps.lastIndexOf(id))
      assert.ok(Math.max(...firstOf) < Math.min(...lastOf), steps.join(' '))
      const jobs = await run.sql<{ count: number }>(
        `select count(*)::integer as count from tollgate_boss.job
         where name = 'advance-clock' and singleton_key = any($1) group by singleton_key`,
        [own],
      )
      assert.ok(
        jobs.every(({ count }) => count >= 4),
        JSON.stringify(jobs),
      )
      const history = await run.sql<{ clock_id: string; count: number }>(
        `select clock_id, count(*)::integer as count from tollgate.occurrence
         where clock_id = any($1::uuid[]) group by clock_id`,
        [own],
      )
      assert.deepEqual(
        history.map(({ count }) => count),
        [4, 4, 4],
      )
    } finally {
      reset()
    }
  })

  test('new clocks and advances count as changes of an access token', async () => {
    const reset = setLimits({ setupChangesPerToken: 3 })
    try {
      const { token } = await run.gateway.entities.createToken(run.merchant, 'clocks')
      const caller = await run.gateway.authenticate(`Bearer ${token}`, '127.0.0.1')
      const { testClocks } = run.gateway
      const make = () => testClocks.create({ entityId: run.merchant, time } as never, { caller })
      const { id } = await make()
      await make()
      await testClocks.advance(id, { by: 'PT1S' } as never, { caller })
      const refused = (error: unknown) => error instanceof GatewayError && error.status === 429
      await assert.rejects(make(), refused)
      await arrived(id)
      await assert.rejects(testClocks.advance(id, { by: 'PT1S' } as never, { caller }), refused)
      assert.equal((await testClocks.get(id, { caller })).now, '2027-01-15 12:00:01+0000')
    } finally {
      reset()
    }
  })
})
