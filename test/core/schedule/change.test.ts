/**
 * No due time is lost when a schedule is changed or cancelled: each has fired or is recorded as
 * missed.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { onFaultPoint } from '../../../core/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { monthly, type Scheduling, scheduling } from '../../rig/schedules.ts'

const secondMs = 1000
const everySecond = { job: { expression: '* * * * * ?' } }

/** Fired and missed due times of a schedule, as whole seconds since 1970, in order. */
async function dueTimes(run: TestGateway, id: string) {
  const fired = await run.sql<{ at: Date }>(
    'select at from tollgate.occurrence where schedule_id = $1 order by at',
    [id],
  )
  const missed = await run.sql<{ first_at: Date; count: bigint }>(
    'select first_at, count from tollgate.missed where schedule_id = $1 order by first_at',
    [id],
  )
  const whole = (at: Date, no = 0) => at.getTime() / secondMs + no
  return {
    fired: fired.map(({ at }) => whole(at)),
    missed: missed.flatMap(({ first_at, count }) =>
      Array.from({ length: Number(count) }, (_, no) => whole(first_at, no)),
    ),
  }
}

/** Without the state of the schedule that each event keeps. */
const eventsOf = (run: TestGateway, id: string) =>
  run.sql<{ seq: number; type: string; data: Record<string, unknown> }>(
    "select seq, type, data - 'then' as data from tollgate.event where resource = $1 order by seq",
    [id],
  )

describe('changes of schedules without a running worker', { concurrency: true }, () => {
  let run: TestGateway
  let tools: Scheduling
  before(async () => {
    run = await startGateway({ pool: {}, role: 'api' })
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  /** A schedule of every minute whose last three due times did not fire. */
  async function overdue() {
    const { id } = await tools.schedule(await tools.store(), { job: { expression: '0 * * * * ?' } })
    const minuteMs = 60 * secondMs
    const last = new Date(Math.floor(Date.now() / minuteMs) * minuteMs)
    const first = new Date(last.getTime() - 2 * minuteMs)
    await run.sql('update tollgate.schedule set next_at = $2 where id = $1', [id, first])
    return { id, range: { from: first.toISOString(), to: last.toISOString(), count: 3 } }
  }

  test('a cancellation records the missed due times before its own event', async () => {
    const { id, range } = await overdue()
    const cancelled = await run.gateway.schedules.cancel(id)
    assert.equal(cancelled.state, 'CANCELLED')
    const { executions, missed } = await tools.executions(id)
    assert.deepEqual(executions, [])
    assert.deepEqual(
      missed.map(({ count }) => count),
      ['3'],
    )
    assert.deepEqual((await eventsOf(run, id)).slice(1), [
      { seq: 2, type: 'schedule.missed', data: range },
      { seq: 3, type: 'schedule.cancelled', data: {} },
    ])
    const [row] = await run.sql('select seq from tollgate.schedule where id = $1', [id])
    assert.deepEqual(row, { seq: 3 })
  })

  test('a change of times records the missed due times and continues with the new times', async () => {
    const { id, range } = await overdue()
    const changed = await run.gateway.schedules.reschedule(id, { job: monthly } as never)
    assert.equal(changed.state, 'WAITING')
    assert.deepEqual((await eventsOf(run, id)).slice(1), [
      { seq: 2, type: 'schedule.missed', data: range },
      { seq: 3, type: 'schedule.changed', data: {} },
    ])
  })

  test('a cancellation with notice leaves due times to be charged', async () => {
    const { id } = await tools.schedule(await tools.store(), {
      job: { expression: '0 * * * * ?', noticeNumber: '1', noticeUnit: 'DAY' },
    })
    const due = new Date(Math.floor(Date.now() / 60_000) * 60_000)
    await run.sql('update tollgate.schedule set next_at = $2 where id = $1', [id, due])
    const ending = await run.gateway.schedules.cancel(id)
    assert.equal(ending.state, 'ENDING')
    const [row] = await run.sql('select next_at from tollgate.schedule where id = $1', [id])
    assert.deepEqual(row, { next_at: due })
    assert.deepEqual((await dueTimes(run, id)).missed, [])
  })

  test('the position of a test clock decides the missed due times', async () => {
    const clock = await tools.clockAt('2027-03-15 00:00:00')
    const { id } = await tools.schedule(await tools.store({ testClock: clock.id }))
    await run.sql("update tollgate.schedule set next_at = '2027-02-01 06:00:00Z' where id = $1", [
      id,
    ])
    await run.gateway.schedules.cancel(id)
    const { missed } = await tools.executions(id)
    assert.deepEqual(missed, [
      { from: '2027-02-01 06:00:00+0000', to: '2027-03-01 06:00:00+0000', count: '2' },
    ])
  })

  test('a due time that fired and was not begun is missed by a cancellation and charged after a change', async () => {
    for (const change of ['cancel', 'reschedule'] as const) {
      const { id } = await tools.schedule(await tools.store())
      await run.sql(
        `insert into tollgate.occurrence (id, schedule_id, at)
         values (gen_random_uuid(), $1, date_trunc('second', now()) - interval '1 hour')`,
        [id],
      )
      if (change === 'cancel') await run.gateway.schedules.cancel(id)
      else await run.gateway.schedules.reschedule(id, { job: monthly } as never)
      const { fired, missed } = await dueTimes(run, id)
      assert.deepEqual([fired.length, missed.length], change === 'cancel' ? [0, 1] : [1, 0])
    }
  })
})

describe('changes of schedules beside two workers', () => {
  let run: TestGateway
  let tools: Scheduling
  before(async () => {
    run = await startGateway({ pool: {} })
    tools = scheduling(run)
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  test('each second is fired or missed once, with changes and cancellations meanwhile', async () => {
    const other = await run.another()
    const registrationId = await tools.store()
    const made = await Promise.all(
      Array.from({ length: 24 }, () => tools.schedule(registrationId, everySecond)),
    )
    await Promise.all(
      made.map(async ({ id }, index) => {
        await until(async () => ((await tools.history(id)).length > 0 ? true : undefined))
        // The same times again, so that a lost due time between the two plans would be a gap.
        const far = { job: { ...everySecond.job, endDate: '2090-01-01 00:00:00' } }
        const [changer, ender] = index % 2 === 0 ? [run.gateway, other] : [other, run.gateway]
        await changer.schedules.reschedule(id, far as never)
        await Promise.allSettled([
          changer.schedules.reschedule(id, everySecond as never),
          other.schedules.reschedule(id, far as never),
        ])
        await ender.schedules.cancel(id)
      }),
    )
    for (const { id } of made) {
      const { fired, missed } = await dueTimes(run, id)
      const all = [...fired, ...missed].sort((one, two) => one - two)
      const [row] = await run.sql<{ created_at: Date; effective_end: Date }>(
        'select created_at, effective_end from tollgate.schedule where id = $1',
        [id],
      )
      const first = Math.floor(row!.created_at.getTime() / secondMs) + 1
      const last = Math.floor(row!.effective_end.getTime() / secondMs)
      assert.deepEqual(
        all,
        Array.from({ length: last - first + 1 }, (_, no) => first + no),
      )
      const seqs = (await eventsOf(run, id)).map(({ seq }) => seq)
      assert.deepEqual(
        seqs,
        seqs.map((_, index) => index + 1),
      )
    }
  })

  test('a cancellation precedes a clock that stands at its due time', async () => {
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const { id } = await tools.schedule(await tools.store({ testClock: clock.id }))
    let release = () => {}
    const held = new Promise<void>((go) => {
      release = go
    })
    const stands = new Promise<void>((reached) => {
      onFaultPoint((point, ref) => {
        if (point !== 'after-clock-step' || ref !== clock.id) return
        reached()
        return held
      })
    })
    const arrived = tools.advance(clock.id, { by: 'P1M' })
    await stands
    await run.gateway.schedules.cancel(id)
    release()
    await arrived
    const { executions, missed } = await tools.executions(id)
    assert.deepEqual(executions, [])
    assert.deepEqual(missed, [
      { from: '2027-02-01 06:00:00+0000', to: '2027-02-01 06:00:00+0000', count: '1' },
    ])
  })
})
