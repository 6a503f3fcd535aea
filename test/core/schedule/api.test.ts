import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Caller, GatewayError, newId } from '../../../core/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { charge, monthly, type Scheduling, scheduling } from '../../rig/schedules.ts'

const refusal =
  (code: string, status: number, ...names: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.equal(`${error.code} ${error.status}`, `${code} ${status}`)
    assert.deepEqual(
      error.parameterErrors.map(({ name }) => name),
      names,
    )
    return true
  }

describe('schedules', { concurrency: true }, () => {
  let run: TestGateway
  let tools: Scheduling
  before(async () => {
    run = await startGateway()
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  const records = async (id: string) =>
    (
      await run.sql<{ type: string }>(
        'select type from tollgate.record where resource = $1 order by id',
        [id],
      )
    ).map(({ type }) => type)

  test('schedules are created, read, listed, changed and cancelled, each with its record and event', async () => {
    const registrationId = await tools.store()
    const made = await tools.schedule(registrationId, {
      merchantTransactionId: 'subscription-1',
      job: { ...monthly, name: 'Monthly', startDate: '2098-01-01 00:00:00' },
    })
    assert.equal(made.result.code, '000.100.110')
    assert.deepEqual(made.job, {
      name: 'Monthly',
      second: '0',
      minute: '0',
      hour: '6',
      dayOfMonth: '1',
      month: '*',
      dayOfWeek: '?',
      year: '*',
      startDate: Date.parse('2098-01-01T00:00:00Z'),
    })
    assert.equal(made.amount, '12.00')
    assert.equal(made.merchantTransactionId, 'subscription-1')
    assert.deepEqual(await run.gateway.schedules.get(made.id).then(essence), essence(made))
    const other = await tools.schedule(registrationId)
    const { schedules } = await run.gateway.schedules.list({ registrationId } as never)
    assert.deepEqual(
      schedules.map(({ id }) => id),
      [other.id, made.id],
    )
    const first = await run.gateway.schedules.list({ registrationId, limit: '1' } as never)
    assert.deepEqual([first.schedules.length, first.nextCursor], [1, other.id])
    const rest = await run.gateway.schedules.list({
      registrationId,
      limit: '1',
      cursor: first.nextCursor,
    } as never)
    assert.deepEqual([rest.schedules[0]!.id, rest.nextCursor], [made.id, undefined])

    const changed = await run.gateway.schedules.reschedule(made.id, {
      job: { expression: '0 30 7 ? * MON 2097' },
    } as never)
    assert.equal(changed.nextExecutions[0], '2097-01-07 07:30:00+0000')
    assert.equal(changed.job.dayOfWeek, 'MON')
    const ended = await run.gateway.schedules.cancel(made.id)
    assert.deepEqual([ended.state, ended.nextExecutions], ['CANCELLED', []])
    assert.match(ended.effectiveDate ?? '', /^20/)
    assert.deepEqual(await records(made.id), ['SD', 'RS', 'DS'])
    const events = await run.sql(
      'select seq, type from tollgate.event where resource = $1 order by seq',
      [made.id],
    )
    assert.deepEqual(events, [
      { seq: 1, type: 'schedule.created' },
      { seq: 2, type: 'schedule.changed' },
      { seq: 3, type: 'schedule.cancelled' },
    ])
    await assert.rejects(run.gateway.schedules.cancel(made.id), refusal('100.360.303', 400))
    await assert.rejects(
      run.gateway.schedules.reschedule(made.id, { job: monthly } as never),
      refusal('100.360.300', 400),
    )
  })

  test('a job that was read is sent again, with its dates in milliseconds', async () => {
    const registrationId = await tools.store()
    const job = { ...monthly, startDate: '2098-01-01 00:00:00', endDate: '2099-12-31 23:59:59' }
    const made = await tools.schedule(registrationId, { job })
    const read = Object.fromEntries(
      Object.entries(made.job).map(([name, value]) => [name, String(value)]),
    )
    const again = await run.gateway.schedules.reschedule(made.id, { job: read } as never)
    assert.deepEqual(again.job, made.job)
    assert.deepEqual(again.nextExecutions, made.nextExecutions)
    // Seconds, and dates without marks, would be moments long ago.
    for (const startDate of ['4039372800', '20980101', '209801010000', '20980101000000']) {
      const refused = run.gateway.schedules.reschedule(made.id, {
        job: { ...monthly, startDate },
      } as never)
      await assert.rejects(refused, ({ code, parameterErrors: [error] }) => {
        assert.deepEqual([code, error.name], ['200.300.404', 'job.startDate'])
        assert.match(error.message, /yyyy-MM-dd HH:mm:ss, or whole number from 1000000000000/)
        return true
      })
    }
  })

  test('a preview stores nothing and uses the zone of the channel', async () => {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Berlin',
      parentId: run.merchant,
      settings: { timeZone: 'Europe/Berlin' },
    })
    const before = await run.sql('select count(*) as n from tollgate.schedule')
    const seen = await run.gateway.schedules.preview({
      entityId: channel,
      job: { expression: '0 30 2 28-31 3 ? 2027' },
    } as never)
    // Half past two does not exist there on 28 March 2027.
    assert.deepEqual(seen.nextExecutions, [
      '2027-03-28 01:00:00+0000',
      '2027-03-29 00:30:00+0000',
      '2027-03-30 00:30:00+0000',
      '2027-03-31 00:30:00+0000',
    ])
    assert.equal(seen.timeZone, 'Europe/Berlin')
    assert.deepEqual(await run.sql('select count(*) as n from tollgate.schedule'), before)
  })

  test('a schedule cancelled with notice runs until its end', async () => {
    const clock = await tools.clockAt('2027-01-10 00:00:00')
    const registrationId = await tools.store({ testClock: clock.id })
    const made = await tools.schedule(registrationId, {
      job: {
        ...monthly,
        durationUnit: 'MONTH',
        durationNumber: '1',
        noticeUnit: 'DAY',
        noticeNumber: '14',
        noticeCallable: 'DURATION_END',
      },
    })
    await tools.advance(clock.id, { to: '2027-02-01 12:00:00' })
    const cancelled = await run.gateway.schedules.cancel(made.id)
    assert.equal(cancelled.state, 'ENDING')
    assert.equal(cancelled.effectiveDate, '2027-03-10 00:00:00+0000')
    assert.deepEqual(cancelled.nextExecutions, ['2027-03-01 06:00:00+0000'])
    await tools.advance(clock.id, { by: 'P6M' })
    assert.deepEqual(await tools.history(made.id), [
      '2027-02-01 06:00:00 APPROVED',
      '2027-03-01 06:00:00 APPROVED',
    ])
    assert.equal((await run.gateway.schedules.get(made.id)).state, 'CANCELLED')
  })

  test('a schedule that cannot be charged or never runs is refused by name', async () => {
    const registrationId = await tools.store()
    const refused = (more: object, ...expected: Parameters<typeof refusal>) =>
      assert.rejects(tools.schedule(registrationId, more), refusal(...expected))
    await refused({ paymentType: 'RF' }, '100.250.105', 400, 'paymentType')
    await refused({ job: {} }, '100.250.100', 400, 'job')
    await refused({ job: { hour: '24' } }, '100.250.121', 400, 'job.hour')
    await refused({ job: { expression: '0 0 0 30 2 ?' } }, '100.250.120', 400, 'job.expression')
    await refused({ amount: '12.001' }, '200.300.404', 400, 'amount')
    await refused(
      { standingInstruction: { source: 'CIT', mode: 'REPEATED', type: 'RECURRING' } },
      '200.300.404',
      400,
      'standingInstruction.source',
    )
    await refused({ testClock: newId() }, '200.300.404', 400, 'testClock')
    await assert.rejects(tools.schedule(newId()), refusal('100.150.200', 404))
    const removed = await tools.store()
    await run.gateway.registrations.remove(removed)
    await assert.rejects(tools.schedule(removed), refusal('100.150.202', 400))
  })

  test('ids of another merchant answer like unknown ones in every operation', async () => {
    const registrationId = await tools.store()
    const { id } = await tools.schedule(registrationId)
    const merchant = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: merchant,
    })
    const options = { caller: { id: 'stranger', entityId: channel } satisfies Caller }
    const { schedules } = run.gateway
    for (const unknown of [newId(), 'x', id]) {
      const gone = refusal('700.400.580', 404)
      await assert.rejects(schedules.get(unknown, options), gone)
      await assert.rejects(schedules.executions(unknown, {}, options), gone)
      await assert.rejects(schedules.cancel(unknown, options), gone)
      await assert.rejects(schedules.reschedule(unknown, { job: monthly } as never, options), gone)
    }
    const listed = await schedules.list({ registrationId } as never, options)
    assert.deepEqual(listed.schedules, [])
    const foreign = { ...charge, registrationId, job: monthly, entityId: channel }
    await assert.rejects(schedules.create(foreign as never, options), refusal('100.150.200', 404))
    await assert.rejects(
      schedules.create({ ...foreign, registrationId: newId() } as never, options),
      refusal('100.150.200', 404),
    )
    assert.equal((await schedules.get(id)).state, 'WAITING')
  })

  test('one key sent a hundred times at once over two processes makes one schedule', async () => {
    const other = await run.another()
    const registrationId = await tools.store()
    const request = { entityId: run.channel, ...charge, registrationId, job: monthly } as never
    const made = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? run.gateway : other).schedules.create(request, {
          idempotencyKey: 'one-schedule',
        }),
      ),
    )
    assert.equal(new Set(made.map(({ id }) => id)).size, 1)
    const { schedules } = await run.gateway.schedules.list({ registrationId } as never)
    assert.equal(schedules.length, 1)
    await assert.rejects(
      run.gateway.schedules.create({ ...(request as object), amount: '13.00' } as never, {
        idempotencyKey: 'one-schedule',
      }),
      refusal('200.300.405', 400, 'Idempotency-Key'),
    )
    await run.gateway.registrations.remove(registrationId)
    const again = await other.schedules.create(request, { idempotencyKey: 'one-schedule' })
    assert.equal(again.id, made[0]!.id, 'a repeat is answered in any state of the registration')
  })
})

/** Removes the parts that differ between answers. */
function essence({ ndc: _ndc, timestamp: _timestamp, ...rest }: Record<string, unknown>) {
  return rest
}
