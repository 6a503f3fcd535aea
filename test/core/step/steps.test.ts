import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accepted, declined, type Operation, type Outcome, unknown } from '@tollgate/plugin-kit'
import { systemClock } from '../../../core/clock.ts'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import type { Engine } from '../../../core/engine.ts'
import { type Caller, GatewayError, type StepView } from '../../../core/index.ts'
import { housekeeping } from '../../../core/jobs/housekeeping.ts'
import { StepLog } from '../../../core/transcript/log.ts'
import {
  type AcquirerRun,
  approvedAs,
  enquire,
  message,
  processed,
  scriptedName,
  sentAgain,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { card, startGateway, until } from '../../rig/gateway.ts'
import { lineTo } from '../../rig/proxy.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })
const named = (steps: readonly StepView[]) =>
  steps.map(({ name, outcome }) => (outcome === undefined ? name : `${name} ${outcome}`))

describe('the step log', () => {
  let run: AcquirerRun
  let tools: Scheduling
  before(async () => {
    run = await startWithAcquirer({ connectorTimeoutMs: 400 })
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  const stepsOf = async (id: string) => (await run.gateway.payments.steps(id)).steps

  test('a payment shows its steps in order: received, sent, settled, followed up, each with its time', async () => {
    const paid = await run.pay({ paymentType: 'PA' })
    const captured = await run.gateway.payments.capture(paid.id, eur('50.00'))
    const steps = await stepsOf(paid.id)
    assert.deepEqual(named(steps), [
      'accepted',
      'authorize approved',
      'settled approved',
      'follow-up approved',
    ])
    assert.deepEqual(
      steps.map(({ number }) => number),
      [1, 2, 3, 4],
    )
    const [accepted, sent, settled, followUp] = steps as [StepView, StepView, StepView, StepView]
    assert.deepEqual(
      [accepted.sent?.amount, accepted.sent?.['card.last4Digits'], accepted.sent?.['card.holder']],
      ['92.00', '0000', '[person]'],
    )
    assert.ok((sent.durationUs ?? 0) > 0, 'the call has its duration')
    assert.match(sent.text, /^92\.00 EUR; refs\.reference sim-/)
    assert.match(sent.answered?.['refs.reference'] ?? '', /^sim-/)
    assert.equal(settled.by, 'answer')
    assert.equal(followUp.about, captured.id)
    const times = steps.map(({ at }) => at)
    assert.deepEqual(times, times.toSorted())
    const ofCapture = named(await stepsOf(captured.id))
    assert.deepEqual(ofCapture, ['accepted', 'capture approved', 'settled approved'])
  })

  test('steps that a process could not write before its death are missing, and rows prove all others', async () => {
    const paid = await run.pay({ paymentType: 'PA' })
    await run.gateway.payments.capture(paid.id, eur('50.00'))
    await stepsOf(paid.id)
    await run.sql('delete from tollgate.step where payment_id = $1', [paid.id])
    assert.deepEqual(named(await stepsOf(paid.id)), [
      'accepted',
      'settled approved',
      'follow-up approved',
    ])
  })

  test('a lost answer shows its enquiry, list entry, timer and every change of state', async () => {
    const { id } = await run.debit('log-lost', {
      debit: (_, context) => {
        context.sending()
        return unknown('the line went dead')
      },
      enquire: () => unknown('the acquirer is down'),
    })
    await enquire(run, id)
    assert.deepEqual(named(await stepsOf(id)), [
      'accepted',
      'debit unknown',
      'settled unknown',
      'enquire unknown',
      'attention undecided',
      'waits look',
    ])
    run.acquirer.tell('log-lost', { enquire: approvedAs })
    await enquire(run, id)
    const steps = await stepsOf(id)
    assert.deepEqual(named(steps).slice(5), [
      'enquire approved',
      'settled approved',
      'attention-resolved undecided',
    ])
    assert.match(steps[1]?.text ?? '', /why the line went dead/)
    assert.equal(
      steps.find(({ name, outcome }) => name === 'settled' && outcome === 'approved')?.by,
      'enquiry',
    )
  })

  test('an answer after its deadline is shown as late', async () => {
    const told = Promise.withResolvers<Outcome>()
    const begun = Promise.withResolvers<Operation>()
    const { id } = await run.debit('log-late', {
      debit: (operation, context) => {
        context.sending()
        begun.resolve(operation)
        return told.promise
      },
    })
    told.resolve(approvedAs(await begun.promise))
    await run.event(id, 'payment.approved')
    const steps = await stepsOf(id)
    const calls = steps.filter(({ name }) => name === 'debit')
    assert.deepEqual(named(calls), ['debit unknown', 'debit approved'])
    assert.match(calls[0]?.text ?? '', /did not answer in time/)
    assert.match(calls[1]?.text ?? '', /after its time was over/)
    assert.ok((calls[1]?.durationUs ?? 0) > (calls[0]?.durationUs ?? 0), 'the exchange ended later')
    assert.equal(steps.at(-1)?.by, 'late-answer')
  })

  test('an error of a connector shows kind and place to operators, and nothing of it to a token', async () => {
    const { id } = await run.debit('log-throws', {
      debit: (operation, context) => {
        context.sending()
        const number =
          operation.instrument?.kind === 'card' ? operation.instrument.number.reveal() : ''
        throw new RangeError(`no\n    at ${number} (evil/4200000000000000.ts:1:1)`)
      },
    })
    const own = (await stepsOf(id)).find(({ name }) => name === 'debit')
    assert.match(
      own?.text ?? '',
      /the connector threw RangeError at step\/steps\.test\.ts:\d+:\d+$/,
    )
    const token: Caller = { id: 'shop', entityId: run.channel }
    const { steps } = await run.gateway.payments.steps(id, { caller: token })
    const theirs = steps.find(({ name }) => name === 'debit')
    assert.equal(theirs?.text, '92.00 EUR')
    for (const text of [JSON.stringify(own), JSON.stringify(steps)]) {
      assert.doesNotMatch(text, /4200000000000000/)
    }
  })

  test('repeats of one request are counted, and their log is bounded', async () => {
    const paid = await run.pay({}, { key: 'log-again' })
    const again = Array.from({ length: 30 }, () => run.pay({}, { key: 'log-again' }))
    for (const { id } of await Promise.all(again)) assert.equal(id, paid.id)
    const repeats = (await stepsOf(paid.id)).filter(({ name }) => name === 'repeated')
    const times = repeats.map(({ text }) => Number(/again (\d+) times/.exec(text)?.[1] ?? 1))
    assert.equal(
      times.reduce((sum, one) => sum + one, 0),
      30,
    )
    assert.ok(repeats.length < 30)
  })

  test('messages of the acquirer are shown with their proof and their effect', async () => {
    const { id } = await run.debit('log-event', {
      debit: (_, context) => {
        context.sending()
        return unknown('the line went dead')
      },
      enquire: () => unknown('down'),
    })
    const key = await run.keyOf(id)
    const outcome = { is: 'approved', refs: { reference: 'ev-1' } }
    const forged = message({ eventId: 'log-1', key, outcome }, {})
    await sentAgain(run.gateway.inbound(scriptedName, run.account, forged))
    assert.equal(await processed(run, 'log-1'), 'enquired')
    await run.gateway.inbound(
      scriptedName,
      run.account,
      message({ eventId: 'log-2', key, outcome }),
    )
    assert.equal(await processed(run, 'log-2'), 'settled')
    const events = (await stepsOf(id)).filter(({ name }) => name === 'acquirer-event')
    assert.deepEqual(named(events), ['acquirer-event enquired', 'acquirer-event settled'])
    assert.match(events[0]?.text ?? '', /not proven/)
    assert.doesNotMatch(events[1]?.text ?? '', /not proven/)
  })

  test('a later word does not change what settled a payment before', async () => {
    const { id } = await run.debit('log-confirmed', {
      debit: (operation, context) => {
        context.sending()
        return accepted({ reference: `at-${operation.key}` }, 'event')
      },
    })
    const settled = async (of: string) =>
      (await stepsOf(of)).filter(({ name }) => name === 'settled')
    const before = await settled(id)
    assert.deepEqual(
      before.map(({ by }) => by),
      ['answer'],
    )
    const told = async (of: string, eventId: string) => {
      const outcome = { is: 'approved', refs: { reference: eventId } }
      const about = message({ eventId, key: await run.keyOf(of), outcome })
      await run.gateway.inbound(scriptedName, run.account, about)
      return processed(run, eventId)
    }
    assert.equal(await told(id, 'log-confirms'), 'settled')
    assert.deepEqual(await settled(id), before)
    const over = await run.debit('log-over', {
      debit: (_, context) => {
        context.sending()
        return declined('800.100.152')
      },
    })
    await told(over.id, 'log-late-approval')
    const [after, ...more] = await settled(over.id)
    assert.deepEqual([after?.outcome, more.length], ['declined', 0])
    assert.notEqual(after?.by, 'event', 'the event made no decline')
  })

  test('operators see the deciding person, and a token sees only that an operator decided', async () => {
    const { id } = await run.debit('log-decided', {
      debit: (_, context) => {
        context.sending()
        return unknown('the line went dead')
      },
      enquire: () => unknown('down'),
    })
    const alice = { by: 'Alice', reason: 'the file of the bank' }
    await run.operator.enquire(id, alice)
    await run.operator.settle(id, 'approved', alice)
    const own = await stepsOf(id)
    assert.ok(
      own.some(
        ({ outcome, by, text }) =>
          outcome === 'payment.settled' && by === 'Alice' && text.includes('the file of the bank'),
      ),
    )
    const { steps } = await run.gateway.payments.steps(id, {
      caller: { id: 'shop', entityId: run.channel },
    })
    assert.ok(steps.some(({ outcome, by }) => outcome === 'payment.settled' && by === 'operator'))
    assert.doesNotMatch(JSON.stringify(steps), /Alice|the file of the bank/)
  })

  test('the steps of another channel are hidden, and an unknown id is not found', async () => {
    const { gateway, merchant, channel } = run
    const foreign = await gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: merchant,
    })
    const { id } = await run.pay()
    const registration = await tools.store()
    const schedule = await tools.schedule(registration)
    const reads = (caller: Caller) => [
      gateway.payments.steps(id, { caller }),
      gateway.registrations.steps(registration, { caller }),
      gateway.schedules.steps(schedule.id, { caller }),
    ]
    const notFound = (error: unknown) => error instanceof GatewayError && error.status === 404
    for (const read of await Promise.allSettled(reads({ id: 'foreign', entityId: foreign }))) {
      assert.ok(read.status === 'rejected' && notFound(read.reason))
    }
    for (const { steps } of await Promise.all(reads({ id: 'own', entityId: channel }))) {
      assert.ok(steps.length > 0)
    }
    for (const wrong of ['x', '0'.repeat(32)])
      await assert.rejects(gateway.payments.steps(wrong), notFound)
  })

  test("a registration shows a channel nothing of a sibling's charges on it", async () => {
    const { gateway, channel, merchant } = run
    const name = 'Sibling'
    const sibling = await gateway.entities.create({ kind: 'channel', name, parentId: merchant })
    const id = await tools.store()
    const pay = (entityId: string, amount: string) =>
      gateway.registrations.pay(id, { entityId, ...eur(amount), paymentType: 'DB' } as never)
    const [own, theirs] = [await pay(channel, '5.00'), await pay(sibling, '77.31')]
    const planned = await tools.schedule(id, { entityId: sibling, amount: '66.13' })
    const textOf = async (caller: Caller) =>
      JSON.stringify((await gateway.registrations.steps(id, { caller })).steps)
    const seen = await textOf({ id: 'own', entityId: channel })
    assert.match(seen, new RegExp(own.id))
    for (const foreign of [theirs.id, planned.id, '77.31', '66.13']) {
      assert.ok(!seen.includes(foreign), foreign)
    }
    const whole = await textOf({ id: 'merchant', entityId: merchant })
    for (const one of [own.id, theirs.id, planned.id, '77.31', '66.13']) {
      assert.ok(whole.includes(one), one)
    }
  })

  test('a registration shows its storage, changes, payments, schedules and removal', async () => {
    const id = await tools.store()
    await run.gateway.registrations.update(id, { card: { holder: 'Jane Smith' } } as never)
    const paid = await run.gateway.registrations.pay(id, {
      entityId: run.channel,
      ...eur('5.00'),
      paymentType: 'DB',
    } as never)
    const schedule = await tools.schedule(id)
    await run.gateway.registrations.remove(id)
    const { steps } = await run.gateway.registrations.steps(id)
    assert.deepEqual(named(steps), [
      'accepted',
      'payment approved',
      'changed RR',
      'payment approved',
      'schedule waiting',
      'changed DR',
    ])
    assert.ok(steps.some(({ about }) => about === paid.id))
    assert.ok(steps.some(({ about }) => about === schedule.id))
    assert.doesNotMatch(JSON.stringify(steps), /Jane/)
  })

  test('a schedule shows its steps, and an execution everything about its payment', async () => {
    const clock = await tools.clockAt('2027-01-15 12:00:00')
    const registration = await tools.store({ testClock: clock.id })
    const { id } = await tools.schedule(registration)
    await tools.advance(clock.id, { by: 'P2M' })
    const { steps } = await run.gateway.schedules.steps(id)
    assert.deepEqual(named(steps), [
      'accepted',
      'execution approved',
      'execution approved',
      'waits execution',
    ])
    const { executions } = await tools.executions(id)
    const execution = executions.at(-1)!
    const one = await run.gateway.schedules.steps(execution.id)
    assert.deepEqual(named(one.steps), [
      'execution approved',
      'accepted',
      'debit approved',
      'settled approved',
      'settlement SUCCESS',
    ])
    const paid = await stepsOf(execution.paymentId!)
    assert.match(paid[0]?.text ?? '', new RegExp(`due by schedule ${id} for 2027-02-01T06:00:00`))
  })

  test('each number known to an operator leads to the steps', async () => {
    const reference = 'inspected-order-1'
    const paid = await run.pay({ merchantTransactionId: reference })
    const idOf = async (number: string) => {
      const found = await run.gateway.inspect(number)
      return 'candidates' in found ? found.candidates.map(({ id }) => id) : found.id
    }
    const dashed = paid.id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase()
    for (const number of [paid.id, dashed, paid.shortId, reference, await run.keyOf(paid.id)]) {
      assert.equal(await idOf(number), paid.id, number)
    }
    const second = await run.pay({ merchantTransactionId: reference })
    assert.deepEqual(
      await idOf(reference),
      [second.id, paid.id],
      'several are listed, the newest first',
    )
    const registration = await tools.store()
    const found = await run.gateway.inspect(registration)
    assert.equal('kind' in found && found.kind, 'registration')
    await assert.rejects(run.gateway.inspect('nothing-has-this'), /nothing has the number/)
  })

  test("a decline shows the acquirer's code, and its steps remain after the sealed number is erased", async () => {
    const { id } = await run.debit('log-declined', {
      debit: () => declined('800.100.155', { code: '51', text: 'no funds on 4200000000000000' }),
    })
    const call = (await stepsOf(id)).find(({ name }) => name === 'debit')
    assert.equal(call?.answered?.['details.AcquirerResponse'], '51')
    assert.equal(call?.answered?.['details.AcquirerText'], 'no funds on ************0000')
  })

  test('steps older than the setting are dropped with their month', async () => {
    const paid = await run.pay({ ...card('4200000000000000') })
    await stepsOf(paid.id)
    await run.sql(`select tollgate.create_partitions('2020-01-15', 2)`)
    const old = `${Date.UTC(2020, 0, 20).toString(16).padStart(12, '0')}70008000000000000000`
    const ancient = `${Date.UTC(2001, 0, 20).toString(16).padStart(12, '0')}70008000000000000000`
    for (const id of [old, ancient]) {
      await run.sql(
        `insert into tollgate.step (payment_id, id, at, name) values ($1, $1, '2020-01-20', 'debit')`,
        [id],
      )
    }
    const database = new Database({ url: run.database.url })
    const lanes = new Lanes(database, { single: 1, read: 1 })
    const log = { info() {}, warn() {} }
    try {
      const steps = new StepLog(lanes, systemClock, log, 30)
      await housekeeping.run({}, { lanes, steps, clock: systemClock } as unknown as Engine)
    } finally {
      await database.close()
    }
    const left = await run.sql<{ payment_id: string }>(
      'select payment_id from tollgate.step where payment_id = any($1)',
      [[old, ancient, paid.id]],
    )
    assert.deepEqual(
      left.map(({ payment_id }) => payment_id),
      [paid.id],
    )
    const months = await run.sql<{ name: string }>(
      `select relname as name from pg_class where relname in ('step_2020_01', 'step_2020_02', 'payment_2020_01')`,
    )
    assert.deepEqual(
      months.map(({ name }) => name),
      ['payment_2020_01'],
    )
  })
})

test('steps keep their times to the millisecond where process and database share a clock', async () => {
  const run = await startGateway({ role: 'api' })
  const database = new Database({ url: run.database.url })
  const lanes = new Lanes(database, { single: 1, read: 1 })
  const paymentId = '0'.repeat(32)
  const noted: number[] = []
  try {
    // Each round compares the two clocks anew, at another point of their millisecond.
    for (let round = 0; round < 60; round += 1) {
      const steps = new StepLog(lanes, systemClock, { info() {}, warn() {} }, 30)
      const note = () => {
        noted.push(systemClock.realMs())
        steps.note({ paymentId, name: 'debit', startedMs: noted.at(-1)! })
      }
      note()
      await steps.flush()
      note()
      await steps.close()
    }
    const rows = await run.sql<{ at: Date }>('select at from tollgate.step order by id')
    assert.deepEqual(
      rows.map(({ at }) => at.getTime()),
      noted,
    )
  } finally {
    await database.close()
    await run.close()
  }
})

test('steps of payments wait in bounded memory during a database outage and are written afterwards', async () => {
  const run = await startWithAcquirer()
  const line = await lineTo(run.database.url)
  const warned: string[] = []
  const log = { info() {}, warn: (_: object, text: string) => void warned.push(text) }
  const database = new Database({ url: line.url })
  const lanes = new Lanes(database, { single: 1, read: 1 })
  try {
    const steps = new StepLog(lanes, systemClock, log, 30)
    const paymentId = '0'.repeat(32)
    const rows = async () =>
      (await run.sql('select 1 from tollgate.step where payment_id = $1', [paymentId])).length
    steps.note({ paymentId, name: 'debit', startedMs: systemClock.realMs() })
    await steps.flush()
    assert.equal(await rows(), 1)
    // A step that Postgres refuses must not delay the others.
    steps.note({ paymentId: 'no id', name: 'debit', startedMs: systemClock.realMs() })
    for (let count = 0; count < 30_000; count += 1) {
      steps.note({ paymentId, name: 'debit', startedMs: systemClock.realMs() })
    }
    await steps.flush()
    assert.equal(await rows(), 20_000, 'steps beyond the bound are dropped')
    assert.deepEqual(warned, ['steps were not logged: too many waited'])
    line.down()
    steps.note({ paymentId, name: 'debit', startedMs: systemClock.realMs() })
    await steps.flush()
    assert.deepEqual(warned.slice(1), [], 'an outage has lines of its own')
    line.up()
    await until(async () => ((await rows()) === 20_001 ? true : undefined))
    await steps.close()
    steps.note({ paymentId, name: 'debit', startedMs: systemClock.realMs() })
    await steps.flush()
    assert.equal(await rows(), 20_001, 'a closed log accepts no more steps')
  } finally {
    await database.close()
    await line.close()
    await run.close()
  }
})
