/** A scheduled charge proven not to have happened is made once more, whichever process died. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Context, declined, type Operation } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { type FaultPoint, newId, onFaultPoint } from '../../../core/index.ts'
import { type AcquirerRun, approvedAs, type Script, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { once, type Scheduling, scheduling } from '../../rig/schedules.ts'
import { setLimits } from '../../rig/set-limits.ts'

describe('charges interrupted before their end', () => {
  let run: AcquirerRun
  let tools: Scheduling
  // A job that died in this process keeps its worker, so at most five die beside one engine.
  const renew = async () => {
    run = await startWithAcquirer({ shutdownGraceMs: 100 })
    tools = scheduling(run)
  }
  before(renew)
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  /** A schedule at the scripted acquirer that is due once, and the reference of its charges. */
  async function planned(script: Script = {}, more: object = {}) {
    const reference = `charge-${newId()}`
    run.acquirer.tell(reference, script)
    const registrationId = await tools.store({ testMode: 'EXTERNAL' })
    const { id } = await tools.schedule(registrationId, {
      testMode: 'EXTERNAL',
      merchantTransactionId: reference,
      job: once,
      ...more,
    })
    return { id, reference, registrationId }
  }

  /** Payments of a schedule in the order of creation. */
  const payments = (id: string) =>
    run.sql<{ id: string; state: string; result_code: string }>(
      'select id, state, result_code from tollgate.payment where schedule_id = $1 order by id',
      [id],
    )
  const states = async (id: string) => (await payments(id)).map(({ state }) => state)
  const timersOf = (id: string) =>
    run.sql<{ kind: string; is_paused: boolean }>(
      `select kind, due_at > now() + interval '30 minutes' as is_paused from tollgate.timer
       where ref like (select replace(id::text, '-', '') from tollgate.occurrence where schedule_id = $1) || '%'`,
      [id],
    )

  /** Work that reaches these fault points, in this order, stops for good, and its lease expires. */
  function dyingAt(...points: readonly FaultPoint[]): Promise<void> {
    const left = [...points]
    return new Promise((died) => {
      onFaultPoint(async (point) => {
        if (point !== left[0]) return
        left.shift()
        if (left.length === 0) onFaultPoint(undefined)
        await run.sql(
          `update tollgate.attempt set lease_until = now() - interval '1 second',
             sent_at = now() - interval '1 hour'
           where lease_until is not null`,
        )
        // The queue would never retry the job, because this process still lives.
        await run.sql("delete from tollgate_boss.job where name = 'charge' and state = 'active'")
        if (left.length === 0) died()
        await new Promise<void>(() => {})
      })
    })
  }

  /** The charge of a schedule stops for good at this point. */
  async function dies(id: string, point: FaultPoint, another = false) {
    const died = dyingAt(point)
    await tools.comeDue([id], another)
    await died
  }

  /** Makes waiting timers due. */
  const later = () => run.sql('update tollgate.timer set due_at = now() where clock_id is null')

  const approvedOnce = (id: string) =>
    until(async () => {
      await later()
      const all = await states(id)
      return all.at(-1) === 'approved' ? all : undefined
    })

  for (const point of ['after-T1', 'before-send', 'after-send', 'before-T2'] as const) {
    test(`a charge interrupted at ${point} is undone with proof and charged by another payment`, async () => {
      const { id, reference } = await planned()
      await dies(id, point)
      assert.deepEqual(await approvedOnce(id), ['declined', 'approved'])
      assert.equal((await payments(id))[0]!.result_code, '900.100.400')
      const isSent = point === 'after-send' || point === 'before-T2'
      const first = isSent ? ['debit', 'enquire', 'reverseByKey'] : ['enquire', 'reverseByKey']
      assert.deepEqual(run.acquirer.of(reference), [...first, 'debit'])
      const { executions } = await tools.executions(id)
      assert.deepEqual(
        executions.map(({ state, attempts }) => [state, attempts]),
        [['APPROVED', 2]],
      )
      // A look that came while the charge was under way is planned for later.
      await until(async () => {
        await later()
        return (await timersOf(id)).length === 0 || undefined
      })
    })
  }

  test('a lost answer is found, and nothing is charged again', async () => {
    const { id, reference } = await planned({ enquire: approvedAs })
    await dies(id, 'before-T2')
    assert.deepEqual(await approvedOnce(id), ['approved'])
    assert.deepEqual(run.acquirer.of(reference), ['debit', 'enquire'])
  })

  test('the deaths of the deciding process and of the next charge leave one charge', async () => {
    await closeChecked(run)
    await renew()
    const { id } = await planned()
    // The charge; the process that decided it, before it continued; the second charge.
    const all = dyingAt('after-T1', 'after-T2', 'after-T1')
    await tools.comeDue([id])
    const isOver = { yet: false }
    all.then(() => {
      isOver.yet = true
    })
    await until(async () => {
      await later()
      return isOver.yet ? true : undefined
    })
    assert.deepEqual(await approvedOnce(id), ['declined', 'declined', 'approved'])
  })

  test('a charge that was not sent is retried at once, then with pauses, and not for ever', async (context) => {
    // Pauses that no busy machine lets pass.
    const [first, ...others] = limits.scheduleRepeatMs
    context.after(setLimits({ scheduleRepeatMs: [first, ...others.map(() => 3_600_000)] }))
    const { id, reference } = await planned({
      debit: () => ({ is: 'notSent', why: 'no connection' }),
    })
    await tools.comeDue([id])
    const most = limits.scheduleRepeatMs.length + 1
    const reaches = (count: number) =>
      until(async () => {
        const all = await states(id)
        return all.length === count && !all.includes('processing') ? true : undefined
      })
    // The first retry has no pause.
    await reaches(2)
    for (let count = 3; count <= most; count += 1) {
      await until(async () => {
        // The timer of the last retry is there until its work ends, due a minute later.
        const [timer, ...more] = await timersOf(id)
        return (timer?.kind === 'resubmit' && timer.is_paused && more.length === 0) || undefined
      })
      assert.equal((await payments(id)).length, count - 1)
      await later()
      await reaches(count)
    }
    await until(async () => ((await timersOf(id)).length === 0 ? true : undefined))
    assert.equal(run.acquirer.of(reference).length, most)
    const { executions } = await tools.executions(id)
    assert.deepEqual(
      executions.map(({ state, attempts, result }) => [state, attempts, result?.code]),
      [['DECLINED', most, '900.100.600']],
    )
  })

  test('a decline of the acquirer is not retried here', async () => {
    const { id, reference } = await planned({
      debit: (_: Operation, context: Context) => {
        context.sending()
        return declined('800.100.155')
      },
    })
    await tools.comeDue([id])
    await until(async () => ((await states(id)).includes('declined') ? true : undefined))
    await later()
    assert.deepEqual(await timersOf(id), [])
    assert.deepEqual(run.acquirer.of(reference), ['debit'])
  })

  test('a retry on a test clock has no pause', async () => {
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const reference = `clock-${newId()}`
    let calls = 0
    run.acquirer.tell(reference, {
      debit: (operation: Operation, context: Context) => {
        calls += 1
        if (calls < 3) return { is: 'notSent', why: 'no connection' }
        context.sending()
        return approvedAs(operation)
      },
    })
    const more = { testMode: 'EXTERNAL' }
    const registrationId = await tools.store({ ...more, testClock: clock.id })
    const { id } = await tools.schedule(registrationId, {
      ...more,
      merchantTransactionId: reference,
    })
    await tools.advance(clock.id, { by: 'P1M' })
    assert.deepEqual(await states(id), ['declined', 'declined', 'approved'])
  })

  test("retries of unsent charges do not count as attempts of the channel's policy", async () => {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Patient',
      parentId: run.merchant,
      settings: { resubmissions: 1, resubmissionHours: [24] },
    })
    await run.gateway.entities.createAccount({
      channelId: channel,
      connector: 'scripted',
      mode: 'EXTERNAL',
      settings: {},
    })
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const reference = `counted-${newId()}`
    const answers = ['lost', 'declined', 'lost', 'approved']
    run.acquirer.tell(reference, {
      debit: (operation: Operation, context: Context) => {
        const answer = answers.shift()
        if (answer === 'lost') return { is: 'notSent', why: 'no connection' }
        context.sending()
        return answer === 'declined' ? declined('800.100.155') : approvedAs(operation)
      },
    })
    const more = { entityId: channel, testMode: 'EXTERNAL' }
    const registrationId = await tools.store({ ...more, testClock: clock.id })
    const { id } = await tools.schedule(registrationId, {
      ...more,
      merchantTransactionId: reference,
    })
    await tools.advance(clock.id, { by: 'P1M' })
    assert.deepEqual(await states(id), ['declined', 'declined', 'declined', 'approved'])
  })

  /** Dies in the middle, and `meanwhile` happens before the discovery. */
  async function diedBefore(
    what: (made: { id: string; registrationId: string }) => Promise<unknown>,
  ) {
    const made = await planned()
    await dies(made.id, 'after-T1')
    await what(made)
    await until(async () => {
      await later()
      const [one] = await states(made.id)
      return one === 'declined' && (await timersOf(made.id)).length === 0 ? true : undefined
    })
    assert.deepEqual(await states(made.id), ['declined'])
    const { executions } = await tools.executions(made.id)
    assert.deepEqual(
      executions.map(({ state }) => state),
      ['DECLINED'],
    )
  }

  test('a due time past its window is not retried, and its decline stands', () =>
    diedBefore(({ id }) =>
      run.sql(
        "update tollgate.occurrence set at = at - interval '25 hours' where schedule_id = $1",
        [id],
      ),
    ))

  test('a charge whose registration was removed is not retried', () =>
    diedBefore(({ registrationId }) => run.gateway.registrations.remove(registrationId)))

  test('a charge whose schedule was cancelled is not retried, also when the next one is under way', async () => {
    const { id } = await planned()
    await dies(id, 'after-T1', true)
    let goOn = () => {}
    const held = new Promise<void>((go) => {
      goOn = go
    })
    const isAtIt = { yet: false }
    onFaultPoint((point) => {
      if (point !== 'before-T1') return
      onFaultPoint(undefined)
      isAtIt.yet = true
      return held
    })
    await until(async () => {
      await later()
      return isAtIt.yet ? true : undefined
    })
    await run.gateway.schedules.cancel(id)
    goOn()
    await until(async () => ((await timersOf(id)).length === 0 ? true : undefined))
    assert.deepEqual(await states(id), ['declined'])
  })
})
