import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, declined, type Operation } from '@tollgate/plugin-kit'
import pg from 'pg'
import { KeyAdministration, localKeys, newId } from '../../../core/index.ts'
import {
  type AcquirerRun,
  approvedAs,
  message,
  processed,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { queueEngineJob } from '../../rig/engine-jobs.ts'
import { testKey, until } from '../../rig/gateway.ts'
import { once, type Scheduling, scheduling } from '../../rig/schedules.ts'

describe('firing of schedules', { concurrency: true }, () => {
  let run: AcquirerRun
  let tools: Scheduling
  before(async () => {
    run = await startWithAcquirer({ pool: {} })
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  const count = async (text: string, ...values: unknown[]) =>
    Number((await run.sql<{ n: bigint }>(text, values))[0]!.n)
  const ended = (id: string, executions = 1) =>
    until(async () => {
      const { executions: all } = await tools.executions(id)
      const isOver = ({ state }: { state: string }) =>
        ['APPROVED', 'DECLINED', 'FAILED'].includes(state)
      return all.length >= executions && all.every(isOver) ? all : undefined
    })
  /** Makes the schedule due since then. */
  const dueSince = (id: string, at: Date) =>
    run.sql('update tollgate.schedule set next_at = $2 where id = $1', [id, at])

  test('120 schedules due in the same second are charged once each, over three processes', async () => {
    const others = [await run.another(), await run.another()]
    const registrationId = await tools.store()
    const made = await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        tools.schedule(registrationId, { job: once }, others[index % 3]),
      ),
    )
    const ids = made.map(({ id }) => id)
    await tools.comeDue(ids)
    await until(async () => {
      const paid = await count(
        `select count(*) as n from tollgate.payment
         where schedule_id = any($1::uuid[]) and state = 'approved'`,
        ids,
      )
      return paid >= 120 ? paid : undefined
    })
    const rows = await run.sql<{ payments: bigint; next_at: Date | null }>(
      `select count(p.id) as payments, s.next_at
       from tollgate.schedule s left join tollgate.payment p on p.schedule_id = s.id
       where s.id = any($1::uuid[]) group by s.id`,
      [ids],
    )
    assert.deepEqual(
      rows.map(({ payments, next_at }) => [Number(payments), next_at]),
      Array.from({ length: 120 }, () => [1, null]),
    )
    const read = await run.gateway.schedules.get(ids[0]!)
    assert.equal(read.state, 'ENDED')
    const events = await until(async () => {
      const rows = await run.sql(
        'select seq, type from tollgate.event where resource = $1 order by seq',
        [ids[0]],
      )
      return rows.length >= 2 ? rows : undefined
    })
    assert.deepEqual(events, [
      { seq: 1, type: 'schedule.created' },
      { seq: 2, type: 'schedule.ended' },
    ])
  })

  test('the oldest due times of the last day are charged after an outage, all others are recorded as missed', async () => {
    const registrationId = await tools.store()
    const hourly = await tools.schedule(registrationId, { job: { expression: '0 0/20 * * * ?' } })
    const hourMs = 3_600_000
    const since = new Date(Math.floor((Date.now() - 72 * hourMs) / hourMs) * hourMs)
    await dueSince(hourly.id, since)
    const all = await ended(hourly.id, 24)
    assert.equal(all.length, 24)
    const { missed } = await tools.executions(hourly.id)
    const [{ now }] = (await run.sql<{ now: Date }>(
      'select created_at as now from tollgate.missed where schedule_id = $1 limit 1',
      [hourly.id],
    )) as [{ now: Date }]
    const dueTimes = Math.floor((now.getTime() - since.getTime()) / (20 * 60_000)) + 1
    const told = missed.reduce((sum, range) => sum + Number(range.count), 0)
    assert.equal(told + all.length, dueTimes, 'each due time is charged or recorded as missed')
    const oldest = Date.parse(all.at(-1)!.scheduledAt)
    const window = now.getTime() - 24 * hourMs
    assert.ok(oldest >= window && oldest < window + 20 * 60_000)
    const events = await run.sql(
      "select data from tollgate.event where resource = $1 and type = 'schedule.missed'",
      [hourly.id],
    )
    assert.equal(events.length, missed.length)
  })

  test('a removed registration fails its execution visibly and leaves the schedule', async () => {
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const registrationId = await tools.store({ testClock: clock.id })
    const { id } = await tools.schedule(registrationId)
    await tools.advance(clock.id, { by: 'P1M' })
    await run.gateway.registrations.remove(registrationId)
    await tools.advance(clock.id, { by: 'P1M' })
    assert.deepEqual(await tools.history(id), [
      '2027-02-01 06:00:00 APPROVED',
      '2027-03-01 06:00:00 FAILED',
    ])
    const { executions } = await tools.executions(id)
    assert.equal(executions[0]!.result?.code, '100.150.202')
    assert.equal(executions[0]!.paymentId, undefined)
    assert.equal((await run.gateway.schedules.get(id)).state, 'WAITING')
    const failed = await run.sql<{ data: { code: string } }>(
      "select data from tollgate.event where resource = $1 and type = 'schedule.execution.failed'",
      [id],
    )
    assert.deepEqual(
      failed.map(({ data }) => data.code),
      ['100.150.202'],
    )
  })

  test('an expired card fails and is charged again once its expiry is changed', async () => {
    const clock = await tools.clockAt('2034-04-15 00:00:00')
    const registrationId = await tools.store({ testClock: clock.id })
    const { id } = await tools.schedule(registrationId)
    await tools.advance(clock.id, { to: '2034-06-15 00:00:00' })
    await run.gateway.registrations.update(registrationId, {
      card: { expiryMonth: '12', expiryYear: '2036' },
    } as never)
    await tools.advance(clock.id, { by: 'P1M' })
    assert.deepEqual(await tools.history(id), [
      '2034-05-01 06:00:00 APPROVED',
      '2034-06-01 06:00:00 FAILED',
      '2034-07-01 06:00:00 APPROVED',
    ])
  })

  test("soft declines are retried by the channel's policy, each attempt after the previous one", async () => {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Patient',
      parentId: run.merchant,
      settings: { resubmissions: 2, resubmissionHours: [24, 72] },
    })
    await run.gateway.entities.createAccount({
      channelId: channel,
      connector: 'scripted',
      mode: 'EXTERNAL',
      settings: {},
    })
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const reference = `resubmitted-${newId()}`
    const answers = [
      '800.100.155',
      '800.100.162',
      undefined,
      '800.100.159',
      '800.100.155',
      '800.100.155',
      '800.100.155',
    ]
    run.acquirer.tell(reference, {
      debit: (operation: Operation, context: Context) => {
        context.sending()
        const code = answers.shift()
        return code === undefined ? approvedAs(operation) : declined(code as never)
      },
    })
    const registrationId = await tools.store({
      entityId: channel,
      testMode: 'EXTERNAL',
      testClock: clock.id,
    })
    const { id } = await tools.schedule(registrationId, {
      entityId: channel,
      testMode: 'EXTERNAL',
      merchantTransactionId: reference,
    })
    const state = async () =>
      (await tools.executions(id)).executions.map(
        ({ state: one, attempts }) => `${one} ${attempts}`,
      )
    await tools.advance(clock.id, { to: '2027-02-02 05:59:59' })
    assert.deepEqual(await state(), ['DECLINED 1'])
    await tools.advance(clock.id, { to: '2027-02-05 05:59:59' })
    assert.deepEqual(await state(), ['DECLINED 2'])
    await tools.advance(clock.id, { to: '2027-02-05 06:00:00' })
    assert.deepEqual(await state(), ['APPROVED 3'])
    // A hard decline is never retried, a soft one at most as often as allowed.
    await tools.advance(clock.id, { to: '2027-03-31 00:00:00' })
    assert.deepEqual((await state())[0], 'DECLINED 1')
    await tools.advance(clock.id, { to: '2027-04-30 00:00:00' })
    assert.deepEqual((await state())[0], 'DECLINED 3')
    assert.equal(answers.length, 0)
    const payments = await run.sql<{ attempt_key: string }>(
      'select attempt_key from tollgate.payment where schedule_id = $1',
      [id],
    )
    assert.equal(new Set(payments.map(({ attempt_key }) => attempt_key)).size, 7)
  })

  test('a decline that proves to be a success is reversed when the due time was charged again', async () => {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Accepting',
      parentId: run.merchant,
      settings: { resubmissions: 1, resubmissionHours: [24] },
    })
    const account = await run.gateway.entities.createAccount({
      channelId: channel,
      connector: 'scripted',
      mode: 'EXTERNAL',
      settings: {},
    })
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const reference = `late-success-${newId()}`
    const refs = { reference: 'found' }
    let debits = 0
    run.acquirer.tell(reference, {
      debit: (operation: Operation, context: Context) => {
        context.sending()
        debits += 1
        return debits === 1 ? declined('800.100.155') : approvedAs(operation)
      },
      enquire: () => ({ is: 'approved', refs }),
      reverseByKey: () => ({ is: 'reversed' }),
    })
    const more = { entityId: channel, testMode: 'EXTERNAL' }
    const registrationId = await tools.store({ ...more, testClock: clock.id })
    const { id } = await tools.schedule(registrationId, {
      ...more,
      merchantTransactionId: reference,
    })
    await tools.advance(clock.id, { to: '2027-02-02 12:00:00' })
    const [first] = await run.sql<{ id: string; attempt_key: string }>(
      'select id, attempt_key from tollgate.payment where schedule_id = $1 order by id',
      [id],
    )
    const eventId = `event-${reference}`
    const about = { eventId, key: first!.attempt_key, minor: '1200' }
    await run.gateway.inbound(
      'scripted',
      account,
      message({ ...about, outcome: { is: 'approved', refs } }),
    )
    await processed(run, eventId)
    await until(async () =>
      run.acquirer.of(reference).includes('reverseByKey') ? true : undefined,
    )
    const rows = await run.sql<{ state: string }>(
      'select state from tollgate.payment where schedule_id = $1 order by id',
      [id],
    )
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['declined', 'approved'],
    )
  })

  test('a cancellation takes effect when it locks the schedule, not when it begins to wait', async () => {
    const { id } = await tools.schedule(await tools.store(), { job: { hour: '6' } })
    const holder = new pg.Client({ connectionString: run.database.url })
    await holder.connect()
    try {
      await holder.query('begin')
      // Changes the row and commits, as firing does.
      await holder.query('update tollgate.schedule set seq = seq + 1 where id = $1', [id])
      const cancelled = run.gateway.schedules.cancel(id)
      await until(async () => {
        const waiting = await count(
          `select count(*) as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%held as (%'`,
        )
        return waiting > 0 ? true : undefined
      })
      const { rows } = await holder.query<{ at: string }>('select clock_timestamp()::text as at')
      await holder.query('commit')
      await cancelled
      const [row] = await run.sql<{ after: boolean }>(
        'select effective_end >= $2::timestamptz as after from tollgate.schedule where id = $1',
        [id, rows[0]!.at],
      )
      assert.equal(row?.after, true)
    } finally {
      await holder.end()
    }
  })

  test('simultaneous cancellation, change and firing charge each due time once or never', async () => {
    const other = await run.another()
    const registrationId = await tools.store()
    const made = await Promise.all(
      Array.from({ length: 40 }, () =>
        tools.schedule(registrationId, { job: { expression: '* * * * * ?' } }),
      ),
    )
    // Each schedule has fired at least once when both processes cancel it and one changes it.
    await Promise.all(
      made.map(async ({ id }) => {
        await until(async () => ((await tools.history(id)).length > 0 ? true : undefined))
        const results = await Promise.allSettled([
          run.gateway.schedules.cancel(id),
          other.schedules.cancel(id),
          other.schedules.reschedule(id, { job: { expression: '0/2 * * * * ?' } } as never),
        ])
        assert.equal(results.slice(0, 2).filter(({ status }) => status === 'fulfilled').length, 1)
      }),
    )
    const ids = made.map(({ id }) => id)
    await until(async () => {
      const open = await count(
        'select count(*) as n from tollgate.occurrence where schedule_id = any($1::uuid[]) and payment_id is null',
        ids,
      )
      return open === 0 ? true : undefined
    })
    const wrong = await run.sql(
      `select s.id, o.at, s.effective_end, o.created_at
       from tollgate.schedule s join tollgate.occurrence o on o.schedule_id = s.id
       where s.id = any($1::uuid[]) and o.at >= s.effective_end`,
      [ids],
    )
    assert.deepEqual(wrong, [], 'nothing is charged for a due time after the cancellation')
    const doubled = await run.sql(
      `select o.id from tollgate.occurrence o join tollgate.payment p on p.schedule_id = o.schedule_id
       where o.schedule_id = any($1::uuid[]) group by o.id, o.schedule_id
       having count(distinct p.id) <> (select count(*) from tollgate.occurrence x where x.schedule_id = o.schedule_id)`,
      [ids],
    )
    assert.deepEqual(doubled, [], 'as many payments as executions')
  })

  test('no due time is lost while registrations change or go and keys rotate', async () => {
    const registrations = await Promise.all(Array.from({ length: 12 }, () => tools.store()))
    const made = await Promise.all(
      registrations.map((id) => tools.schedule(id, { job: { expression: '* * * * * ?' } })),
    )
    const ids = made.map(({ id }) => id)
    const fired = async (id: string) => ((await tools.history(id)).length > 0 ? true : undefined)
    await Promise.all(ids.map((id) => until(() => fired(id))))
    await using keys = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: localKeys(testKey),
    })
    const removed = registrations.slice(0, 4)
    await Promise.all([
      keys.rotate({ graceMs: 300 }),
      ...removed.map((id) => run.gateway.registrations.remove(id)),
      ...registrations
        .slice(4, 8)
        .map((id) =>
          run.gateway.registrations.update(id, { card: { expiryYear: '2039' } } as never),
        ),
    ])
    const ends = await Promise.all(ids.map((id) => run.gateway.schedules.cancel(id)))
    await until(async () => {
      const open = await count(
        `select count(*) as n from tollgate.occurrence o left join tollgate.payment p on p.id = o.payment_id
         where o.schedule_id = any($1::uuid[]) and o.failure is null and p.state is distinct from 'approved'`,
        ids,
      )
      return open === 0 ? true : undefined
    })
    for (const [at, { id }] of ends.entries()) {
      const { executions, missed } = await tools.executions(id)
      const moments = [
        ...executions.map(({ scheduledAt }) => Date.parse(scheduledAt)),
        // Due times that the cancellation found unstarted.
        ...missed.flatMap(({ from, count }) =>
          Array.from({ length: Number(count) }, (_, no) => Date.parse(from) + no * 1000),
        ),
      ].sort((one, other) => one - other)
      const whole = moments.map((_, index) => moments[0]! + index * 1000)
      assert.deepEqual(moments, whole, 'every second from the first to the last')
      const failed = executions.filter(({ state }) => state === 'FAILED')
      assert.ok(failed.every(({ result }) => result?.code === '100.150.202'))
      if (at >= removed.length) assert.deepEqual(failed, [])
    }
  })

  test('one execution takes one payment, however many workers attempt it', async () => {
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const registrationId = await tools.store({ testClock: clock.id })
    const { id } = await tools.schedule(registrationId)
    await tools.advance(clock.id, { by: 'P1M' })
    const [execution] = await run.sql<{ id: string }>(
      'select id from tollgate.occurrence where schedule_id = $1',
      [id],
    )
    // The same job twenty times, as after lost answers of the queue.
    const before = await count(
      'select count(*) as n from tollgate.payment where schedule_id = $1',
      id,
    )
    for (let no = 0; no < 20; no += 1) {
      await queueEngineJob(run, 'charge', {
        merchantId: run.merchant,
        occurrenceIds: [execution!.id],
      })
    }
    await until(async () => {
      const open = await count(
        `select count(*) as n from tollgate_boss.job
         where name = 'charge' and state < 'completed' and data->'occurrenceIds'->>0 = $1`,
        execution!.id,
      )
      return open === 0 ? true : undefined
    })
    assert.equal(
      await count('select count(*) as n from tollgate.payment where schedule_id = $1', id),
      before,
    )
  })
})

// In a test of its own, because it recognises its charge as the waiting one.
test('a charge whose registration is removed during its preparation fails as without one', async () => {
  const run = await startWithAcquirer({ pool: {} })
  const tools = scheduling(run)
  const registrationId = await tools.store()
  const holder = new pg.Client({ connectionString: run.database.url })
  await holder.connect()
  try {
    const { id } = await tools.schedule(registrationId, { job: once })
    await holder.query('begin')
    await holder.query('lock table tollgate.instrument in access exclusive mode')
    await tools.comeDue([id])
    // The charge has read the registration and waits for its numbers.
    await until(async () => {
      const [waiting] = await run.sql(
        `select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'
           and query like '%from tollgate.instrument%any%'`,
      )
      return waiting
    })
    await holder.query('update tollgate.registration set removed_at = now() where id = $1', [
      registrationId,
    ])
    await holder.query('delete from tollgate.instrument where id = $1', [registrationId])
    await holder.query('commit')
    const failed = await until(async () => {
      const { executions } = await tools.executions(id)
      return executions.find(({ state }) => state === 'FAILED')
    })
    assert.equal(failed.result?.code, '100.150.202')
  } finally {
    await holder.end()
    await closeChecked(run)
  }
})
