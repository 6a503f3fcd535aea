/** No charge begins after a removal or a cancellation was answered, or past its window. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import pg from 'pg'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { type AcquirerRun, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'

describe('charges beside removals and cancellations', () => {
  let run: AcquirerRun
  let tools: Scheduling
  before(async () => {
    run = await startWithAcquirer({ pool: {} })
    tools = scheduling(run)
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  /** Stops the next charge right before its first commit, after all its reads. */
  function nextCharge(): { begins: Promise<void>; goOn: () => void } {
    let goOn = () => {}
    const held = new Promise<void>((go) => {
      goOn = go
    })
    const begins = new Promise<void>((reached) => {
      onFaultPoint((point) => {
        if (point !== 'before-T1') return
        onFaultPoint(undefined)
        reached()
        return held
      })
    })
    return { begins, goOn }
  }

  async function onClock() {
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const registrationId = await tools.store({ testClock: clock.id })
    const { id } = await tools.schedule(registrationId)
    return { clock, registrationId, id }
  }

  const payments = (id: string) =>
    run.sql('select id from tollgate.payment where schedule_id = $1', [id])

  /** Runs work beside an open transaction of another connection that did `hold`. */
  async function during(
    hold: readonly [text: string, ...values: unknown[]],
    work: (commit: () => Promise<unknown>) => Promise<void>,
  ) {
    const holder = new pg.Client({ connectionString: run.database.url })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query(hold[0], hold.slice(1))
      await work(() => holder.query('commit'))
    } finally {
      await holder.end()
    }
  }

  /** In the single lane, where a statement waits for seconds; the group lane gives up sooner. */
  const singleLane = `(
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'tollgate single')`

  /** A statement that waits, after it locked rows of the table or while it locks them. */
  const waitsFor = (table: string, mode: string) =>
    until(async () => {
      const [row] = await run.sql(
        `select from pg_locks waiting
         join pg_locks holding on holding.pid = waiting.pid
         where not waiting.granted and waiting.pid in ${singleLane}
           and holding.relation = 'tollgate.${table}'::regclass and holding.mode = $1 and holding.granted`,
        [mode],
      )
      return row
    })
  /** The charge locks the registration in share mode, the removal changes it. */
  const charges = () => waitsFor('registration', 'RowShareLock')
  const removes = () => waitsFor('registration', 'RowExclusiveLock')

  test('a charge that read a registration before its removal fails as one without', async () => {
    const { clock, registrationId, id } = await onClock()
    const charge = nextCharge()
    const arrived = tools.advance(clock.id, { by: 'P1M' })
    await charge.begins
    await run.gateway.registrations.remove(registrationId)
    charge.goOn()
    await arrived
    assert.deepEqual(await payments(id), [])
    const { executions } = await tools.executions(id)
    assert.deepEqual(
      executions.map(({ state, result }) => [state, result?.code]),
      [['FAILED', '100.150.202']],
    )
    assert.ok(await run.event(id, 'schedule.execution.failed'))
  })

  test('a removal under commit precedes a charge', async () => {
    const { clock, registrationId, id } = await onClock()
    const charge = nextCharge()
    const arrived = tools.advance(clock.id, { by: 'P1M' })
    await charge.begins
    const removal = 'update tollgate.registration set removed_at = now() where id = $1'
    await during([removal, registrationId], async (commit) => {
      charge.goOn()
      await charges()
      await commit()
    })
    await arrived
    assert.deepEqual(await payments(id), [])
    assert.deepEqual(await tools.history(id), ['2027-02-01 06:00:00 FAILED'])
  })

  test('a charge with its first commit under way precedes the removal, which is answered after it', async () => {
    const { clock, registrationId, id } = await onClock()
    const charge = nextCharge()
    const arrived = tools.advance(clock.id, { by: 'P1M' })
    await charge.begins
    const slot = 'select from tollgate.occurrence where schedule_id = $1 for update'
    let removed: Promise<unknown> = Promise.resolve()
    await during([slot, id], async (commit) => {
      charge.goOn()
      await charges()
      removed = run.gateway.registrations.remove(registrationId)
      await removes()
      assert.deepEqual(await payments(id), [])
      await commit()
    })
    await removed
    assert.equal((await payments(id)).length, 1)
    await arrived
    assert.deepEqual(await tools.history(id), ['2027-02-01 06:00:00 APPROVED'])
  })

  test('no charge is sent for a registration removed before it', async () => {
    const registrations = await Promise.all(Array.from({ length: 12 }, () => tools.store()))
    const made = await Promise.all(
      registrations.map((registrationId) =>
        tools.schedule(registrationId, { job: { expression: '* * * * * ?' } }),
      ),
    )
    const counts = new Map<string, number>()
    await Promise.all(
      made.map(async ({ id }, index) => {
        await until(async () => ((await payments(id)).length > 0 ? true : undefined))
        await run.gateway.registrations.remove(registrations[index]!)
        counts.set(id, (await payments(id)).length)
      }),
    )
    for (const { id } of made) {
      await until(async () => {
        const states = (await tools.executions(id)).executions.map(({ state }) => state)
        return states.filter((state) => state === 'FAILED').length > 1 ? true : undefined
      })
      assert.equal((await payments(id)).length, counts.get(id), 'no charge began after the answer')
      await run.gateway.schedules.cancel(id)
    }
  })

  test('a cancellation takes fired due times that are not begun, also from a waiting charge', async () => {
    const { clock, id } = await onClock()
    const charge = nextCharge()
    const arrived = tools.advance(clock.id, { by: 'P1M' })
    await charge.begins
    const cancelled = await run.gateway.schedules.cancel(id)
    assert.equal(cancelled.effectiveDate, '2027-02-01 06:00:00+0000')
    charge.goOn()
    await arrived
    assert.deepEqual(await payments(id), [])
    const { executions, missed } = await tools.executions(id)
    assert.deepEqual(executions, [])
    assert.deepEqual(
      missed.map(({ from, count }) => `${from} ${count}`),
      ['2027-02-01 06:00:00+0000 1'],
    )
    assert.equal((await run.gateway.schedules.get(id)).state, 'CANCELLED')
  })

  /** An execution left by a lost job. */
  const leftOver = async (id: string, at: string) => {
    const execution = newId()
    await run.sql(
      `insert into tollgate.occurrence (id, schedule_id, at, clock_id, created_at)
       select $1, id, ${at}, clock_id, least(now(), ${at}) from tollgate.schedule where id = $2`,
      [execution, id],
    )
    return execution
  }

  test('an execution without its job is charged within a day and missed afterwards', async () => {
    const { id } = await tools.schedule(await tools.store())
    const late = await leftOver(id, "date_trunc('second', now()) - interval '23 hours'")
    const tooLate = await leftOver(id, "date_trunc('second', now()) - interval '25 hours'")
    await until(async () => {
      const { executions, missed } = await tools.executions(id)
      return executions[0]?.state === 'APPROVED' && missed.length === 1 ? true : undefined
    })
    const left = await run.sql<{ id: string }>(
      'select id from tollgate.occurrence where id = any($1::uuid[])',
      [[late, tooLate]],
    )
    assert.deepEqual(left, [{ id: late }])
    assert.equal((await payments(id)).length, 1)
    const told = await run.sql<{ seq: number }>(
      "select seq from tollgate.event where resource = $1 and type = 'schedule.missed'",
      [id],
    )
    assert.deepEqual(told, [{ seq: 2 }])
  })

  test('the time of a test clock counts, to the second', async () => {
    const { clock, id } = await onClock()
    await leftOver(id, "timestamptz '2027-01-14 00:00:00Z'")
    await leftOver(id, "timestamptz '2027-01-13 23:59:59Z'")
    await tools.advance(clock.id, { by: 'PT1S' })
    assert.deepEqual(await tools.history(id), ['2027-01-14 00:00:00 APPROVED'])
    const { missed } = await tools.executions(id)
    assert.deepEqual(
      missed.map(({ from }) => from),
      ['2027-01-13 23:59:59+0000'],
    )
  })

  test('a channel with a shorter window charges fewer lost executions', async () => {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Punctual',
      parentId: run.merchant,
      settings: { missedExecutionHours: 1 },
    })
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const registrationId = await tools.store({ testClock: clock.id, entityId: channel })
    const { id } = await tools.schedule(registrationId, { entityId: channel })
    await leftOver(id, "timestamptz '2027-01-14 22:59:59Z'")
    await tools.advance(clock.id, { by: 'PT1S' })
    assert.deepEqual(await tools.history(id), [])
  })
})
