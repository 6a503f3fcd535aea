/** A notification tells the state at its event, however late it is built. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pending } from '@tollgate/plugin-kit'
import { type EventView, GatewayError } from '../../../core/index.ts'
import { type AcquirerRun, message, scriptedName, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'

describe('state at the event', () => {
  let run: AcquirerRun
  let tools: Scheduling
  before(async () => {
    run = await startWithAcquirer()
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  /** The notifications about a resource, oldest first, all built now. */
  const told = (id: string, count: number) =>
    until(async () => {
      const { events } = await run.gateway.events.list({
        limit: '500',
        types: 'PAYMENT,REGISTRATION,SCHEDULE',
      })
      const own = events.filter(({ payload }) => payload.id === id)
      return own.length >= count ? own : undefined
    })
  const shown = (event: EventView, ...names: string[]) => {
    const payload: { readonly [name: string]: unknown } = { ...event.payload }
    return names.map((name) => payload[name])
  }

  test('schedule.created says WAITING although the schedule was changed and cancelled', async () => {
    const registrationId = await tools.store()
    const made = await tools.schedule(registrationId)
    const changed = await run.gateway.schedules.reschedule(made.id, {
      job: { hour: '7', dayOfMonth: '2' },
    } as never)
    await run.gateway.schedules.cancel(made.id)
    const [first, second, third] = await told(made.id, 3)
    assert.deepEqual(shown(first!, 'event', 'state', 'job', 'nextExecutions', 'effectiveDate'), [
      'schedule.created',
      'WAITING',
      made.job,
      made.nextExecutions,
      undefined,
    ])
    assert.deepEqual(shown(second!, 'event', 'state', 'job', 'nextExecutions'), [
      'schedule.changed',
      'WAITING',
      changed.job,
      changed.nextExecutions,
    ])
    assert.deepEqual(shown(third!, 'event', 'state', 'nextExecutions'), [
      'schedule.cancelled',
      'CANCELLED',
      [],
    ])
  })

  test('the last execution that fails is told before the end of its schedule', async () => {
    const clock = await tools.clockAt('2027-01-15 12:00:00')
    const registrationId = await tools.store({ testClock: clock.id })
    const job = { expression: '0 0 6 1 2 ? 2027' }
    const made = await tools.schedule(registrationId, { testClock: clock.id, job })
    await run.gateway.registrations.remove(registrationId)
    await tools.advance(clock.id, { by: 'P1M' })
    const all = await told(made.id, 3)
    assert.deepEqual(
      all.map((event) => shown(event, 'event', 'state')),
      [
        ['schedule.created', 'WAITING'],
        ['schedule.execution.failed', 'ENDED'],
        ['schedule.ended', 'ENDED'],
      ],
    )
    assert.equal((await tools.advance(clock.id, { by: 'P1M' })).status, 'READY')
    assert.equal((await told(made.id, 3)).length, 3)
  })

  test('a registration is told with the holder of that time', async () => {
    const id = await tools.store()
    const update = (card: object) => run.gateway.registrations.update(id, { card } as never)
    await update({ holder: 'Second Holder' })
    await update({ holder: 'Third Holder', expiryYear: '2039' })
    await run.gateway.registrations.extend(id, {})
    await run.gateway.registrations.remove(id)
    const all = await told(id, 5)
    assert.deepEqual(
      all.map((event) => {
        assert.ok(event.type === 'REGISTRATION')
        const { action, payload } = event
        return [action, payload.card?.holder, payload.card?.expiryYear]
      }),
      [
        ['CREATED', 'Jane Jones', '2034'],
        ['UPDATED', 'Second Holder', '2034'],
        ['UPDATED', 'Third Holder', '2039'],
        ['UPDATED', 'Third Holder', '2039'],
        ['DELETED', 'Third Holder', '2039'],
      ],
    )
  })

  test('a registration holds the custom parameters of one request, and each event reads one content', async () => {
    const id = await tools.store()
    const filled = (name: string) => ({
      customParameters: Object.fromEntries(
        Array.from({ length: 10 }, (_, no) => [`${name}${no}`, 'x'.repeat(2000)]),
      ),
    })
    for (const name of ['first', 'second', 'third']) {
      await run.gateway.registrations.update(id, filled(name) as never)
    }
    await assert.rejects(
      run.gateway.registrations.update(id, filled('fourth') as never),
      (error) => {
        assert.ok(error instanceof GatewayError)
        assert.equal(error.parameterErrors[0]?.name, 'customParameters')
        return error.code === '200.300.404'
      },
    )
    const rows = await run.sql(
      `select octet_length(request::text) < 70000 as bounded from tollgate.former_registration
       where registration_id = $1`,
      [id],
    )
    assert.deepEqual(rows, Array(3).fill({ bounded: true }))
    const events = await run.sql<{ bytes: number }>(
      'select octet_length(data::text) as bytes from tollgate.event where resource = $1',
      [id],
    )
    for (const { bytes } of events) assert.ok(bytes < 200, `${bytes} bytes`)
    const names = (await told(id, 4)).map(({ payload }) =>
      Object.keys((payload.customParameters ?? {}) as object)
        .filter((name) => name.endsWith('0'))
        .toSorted(),
    )
    assert.deepEqual(names, [
      [],
      ['first0'],
      ['first0', 'second0'],
      ['first0', 'second0', 'third0'],
    ])
  })

  test('a pending payment keeps its details after its approval', async () => {
    const details = { ClearingInstituteName: 'Elavon' }
    const { id } = await run.debit('state-then-1', {
      debit: (operation) => ({
        ...pending('event', { refs: { reference: `at-${operation.key}` } }),
        details,
      }),
    })
    const key = await run.keyOf(id)
    const outcome = { is: 'approved', refs: { reference: `at-${key}` } }
    await run.gateway.inbound(
      scriptedName,
      run.account,
      message({ eventId: 'state-then-1', key, outcome }),
    )
    const [first, second] = await told(id, 2)
    assert.ok(first?.type === 'PAYMENT')
    assert.equal(first.payload.result.code, '000.200.000')
    assert.equal(first.payload.resultDetails?.ClearingInstituteName, 'Elavon')
    assert.match(second!.payload.result.code, /^000\.100\.1/)
  })
})
