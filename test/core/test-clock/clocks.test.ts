import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createGateway, GatewayError, localKeys, makeKey, newId } from '../../../core/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { startTestCluster } from '../../rig/cluster.ts'
import { freshSimulator, startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'

const refusal = (code: string, status: number, name?: string) => (error: unknown) => {
  assert.ok(error instanceof GatewayError, String(error))
  assert.equal(`${error.code} ${error.status}`, `${code} ${status}`)
  assert.deepEqual(
    error.parameterErrors.map((one) => one.name),
    name === undefined ? [] : [name],
  )
  return true
}

describe('test clocks', { concurrency: true }, () => {
  let run: TestGateway
  let tools: Scheduling
  before(async () => {
    run = await startGateway()
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  test('a year of daily charges runs in order, with progress, and moves nothing else', async () => {
    const [clock, other] = [
      await tools.clockAt('2027-01-01 00:00:00'),
      await tools.clockAt('2027-01-01 00:00:00'),
    ]
    const registrationId = await tools.store({ testClock: clock.id })
    const still = await tools.store({ testClock: other.id })
    // Preauthorizations, because charges would also settle every day.
    const job = { expression: '0 0 9 * * ?' }
    const daily = await tools.schedule(registrationId, { paymentType: 'PA', job })
    const waiting = await tools.schedule(still, { paymentType: 'PA', job })
    await run.gateway.testClocks.advance(clock.id, { by: 'P1Y' } as never)
    const seen: number[] = []
    const arrived = await until(async () => {
      const { status, progress, now } = await run.gateway.testClocks.get(clock.id)
      seen.push(progress)
      return status === 'READY' ? now : undefined
    }, 60_000)
    assert.equal(arrived, '2028-01-01 00:00:00+0000')
    assert.ok(
      seen.every((progress, index) => index === 0 || progress >= seen[index - 1]!),
      'progress never falls',
    )
    assert.ok(new Set(seen).size > 2, `progress is told: ${[...new Set(seen)].join(' ')}`)
    const history = await tools.history(daily.id)
    assert.equal(history.length, 365)
    assert.deepEqual(
      [history[0], history.at(-1)],
      ['2027-01-01 09:00:00 APPROVED', '2027-12-31 09:00:00 APPROVED'],
    )
    const paid = await run.sql<{ created_at: Date }>(
      'select created_at from tollgate.payment where schedule_id = $1 order by id',
      [daily.id],
    )
    assert.deepEqual(
      paid.map(({ created_at }) => created_at.toISOString().slice(0, 10)),
      history.map((line) => line.slice(0, 10)),
      'each day was charged before the next',
    )
    assert.deepEqual(await tools.history(waiting.id), [])
    assert.equal((await run.gateway.testClocks.get(other.id)).now, '2027-01-01 00:00:00+0000')
  })

  test('resources that follow from another one live on its clock', async () => {
    const clock = await tools.clockAt('2030-06-01 12:00:00')
    const payment = await run.pay({
      testClock: clock.id,
      createRegistration: 'true',
      paymentType: 'PA',
    })
    assert.equal(payment.timestamp, '2030-06-01 12:00:00+0000')
    await tools.advance(clock.id, { by: 'P2DT3H' })
    const capture = await run.gateway.payments.capture(payment.id, {
      amount: '5.00',
      currency: 'EUR',
    })
    assert.equal(capture.timestamp, '2030-06-03 15:00:00+0000')
    const registrationId = payment.registrationId as string
    const made = await tools.schedule(registrationId)
    assert.equal(made.nextExecutions[0], '2030-07-01 06:00:00+0000')
    assert.equal(made.createdAt, '2030-06-03 15:00:00+0000')
    const other = await tools.clockAt('2030-06-01 12:00:00')
    await assert.rejects(
      tools.schedule(registrationId, { testClock: other.id }),
      refusal('200.300.404', 400, 'testClock'),
    )
    const changed = await run.gateway.registrations.get(registrationId)
    assert.equal(changed.createdAt, '2030-06-01 12:00:00+0000')
  })

  test('all schedules of one clock due at the same moment are charged at that moment', async () => {
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const registrationId = await tools.store({ testClock: clock.id })
    const made = await Promise.all(
      Array.from({ length: 130 }, () => tools.schedule(registrationId)),
    )
    await tools.advance(clock.id, { by: 'P1M' })
    const rows = await run.sql<{ n: bigint; at: Date }>(
      `select count(*) as n, min(created_at) as at from tollgate.payment
       where schedule_id = any($1::uuid[]) and state = 'approved' group by created_at`,
      [made.map(({ id }) => id)],
    )
    assert.deepEqual(
      rows.map(({ n, at }) => [Number(n), at.toISOString()]),
      [[130, '2027-02-01T06:00:00.000Z']],
    )
  })

  test('a clock moves forward only, one advance at a time, and never beyond 2099', async () => {
    const clock = await tools.clockAt('2027-01-01 00:00:00')
    const advance = (by: object) => run.gateway.testClocks.advance(clock.id, by as never)
    await assert.rejects(advance({}), GatewayError)
    await assert.rejects(advance({ to: '2026-12-31 23:59:59' }), refusal('200.300.404', 400, 'to'))
    await assert.rejects(advance({ by: 'P' }), refusal('200.300.404', 400, 'by'))
    await assert.rejects(advance({ by: 'PT0S' }), refusal('200.300.404', 400, 'by'))
    await assert.rejects(advance({ to: '2100-01-01 00:00:00' }), refusal('200.300.404', 400, 'to'))
    await assert.rejects(advance({ by: 'P1D', to: '2027-02-01 00:00:00' }), GatewayError)
    assert.equal((await tools.advance(clock.id, { by: 'P9999Y' })).now, '2099-12-31 23:59:59+0000')
  })

  test('of simultaneous advances one starts, and the others are refused', async () => {
    const clock = await tools.clockAt('2027-01-01 00:00:00')
    const registrationId = await tools.store({ testClock: clock.id })
    await tools.schedule(registrationId, { job: { expression: '0 0 * * * ?' } })
    const other = await run.another()
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? run.gateway : other).testClocks.advance(clock.id, {
          by: `PT${index + 1}H`,
        } as never),
      ),
    )
    for (const result of results) {
      if (result.status === 'rejected') refusal('200.300.404', 400, 'by')(result.reason)
    }
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    await until(async () =>
      (await run.gateway.testClocks.get(clock.id)).status === 'READY' ? true : undefined,
    )
  })

  test("another merchant's clock is refused", async () => {
    const merchant = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const theirs = await run.gateway.testClocks.create({ entityId: merchant } as never)
    await assert.rejects(
      run.pay({ testClock: theirs.id }),
      refusal('200.300.404', 400, 'testClock'),
    )
    const caller = { id: 'channel', entityId: run.channel }
    for (const id of [theirs.id, newId(), 'x']) {
      await assert.rejects(run.gateway.testClocks.get(id, { caller }), refusal('700.400.580', 404))
      await assert.rejects(
        run.gateway.testClocks.advance(id, { by: 'P1D' } as never, { caller }),
        refusal('700.400.580', 404),
      )
    }
  })
})

test('live has no test clocks', async () => {
  const cluster = await startTestCluster({ durable: true })
  try {
    await using gateway = await createGateway({
      database: { url: cluster.url },
      environment: 'live',
      keys: localKeys(makeKey('live')),
      plugins: [freshSimulator()],
      role: 'api',
    })
    const entityId = await gateway.entities.create({ kind: 'psp', name: 'Live' })
    const none = refusal('600.200.200', 400)
    await assert.rejects(gateway.testClocks.create({ entityId } as never), none)
    await assert.rejects(gateway.testClocks.get(newId()), none)
  } finally {
    await cluster.stop()
  }
})
