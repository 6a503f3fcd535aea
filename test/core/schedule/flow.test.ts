import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeChecked } from '../../rig/books.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { cardOf } from '../../rig/payment-request.ts'

const good = '4200000000000000'
const charge = { amount: '12.00', currency: 'EUR', paymentType: 'DB' }
const monthly = { hour: '6', dayOfMonth: '1', month: '*' }

describe('schedules on a test clock', { concurrency: true }, () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway()
  })
  after(() => closeChecked(run))

  const clockAt = (time: string) =>
    run.gateway.testClocks.create({ entityId: run.merchant, time } as never)
  const stored = async (more: object = {}) => {
    const made = await run.gateway.registrations.create({
      entityId: run.channel,
      paymentBrand: 'VISA',
      card: cardOf(good),
      ...more,
    } as never)
    return made.id
  }
  const schedule = (registrationId: string, more: object = {}) =>
    run.gateway.schedules.create({
      entityId: run.channel,
      ...charge,
      registrationId,
      job: monthly,
      ...more,
    } as never)
  const advance = async (id: string, by: object) => {
    await run.gateway.testClocks.advance(id, by as never)
    return until(async () => {
      const clock = await run.gateway.testClocks.get(id)
      return clock.status === 'READY' ? clock : undefined
    })
  }

  test('a monthly subscription is charged once a month until it is cancelled', async () => {
    const clock = await clockAt('2027-01-15 10:00:00')
    const registrationId = await stored({ testClock: clock.id })
    const made = await schedule(registrationId)
    assert.deepEqual(made.nextExecutions, [
      '2027-02-01 06:00:00+0000',
      '2027-03-01 06:00:00+0000',
      '2027-04-01 06:00:00+0000',
      '2027-05-01 06:00:00+0000',
      '2027-06-01 06:00:00+0000',
    ])
    assert.equal(made.state, 'WAITING')
    const arrived = await advance(clock.id, { by: 'P3M' })
    assert.equal(arrived.now, '2027-04-15 10:00:00+0000')
    const { executions, missed } = await run.gateway.schedules.executions(made.id)
    assert.deepEqual(
      executions.map(({ scheduledAt, state, attempts }) => ({ scheduledAt, state, attempts })),
      ['2027-04-01', '2027-03-01', '2027-02-01'].map((day) => ({
        scheduledAt: `${day} 06:00:00+0000`,
        state: 'APPROVED',
        attempts: 1,
      })),
    )
    assert.deepEqual(missed, [])
    const paid = await run.gateway.payments.get(executions[0]!.paymentId!)
    assert.equal(paid.amount, '12.00')
    assert.equal(paid.timestamp, '2027-04-01 06:00:00+0000')
    assert.equal(paid.registrationId, registrationId)
    assert.deepEqual([paid.source, paid.scheduleId], ['SCHEDULER', made.id])
    assert.deepEqual(paid.standingInstruction, {
      mode: 'REPEATED',
      source: 'MIT',
      type: 'RECURRING',
      recurringType: 'SUBSCRIPTION',
      initialTransactionId: (paid.standingInstruction as Record<string, string>)
        .initialTransactionId,
    })
    const cancelled = await run.gateway.schedules.cancel(made.id)
    assert.equal(cancelled.state, 'CANCELLED')
    assert.deepEqual(cancelled.nextExecutions, [])
    await advance(clock.id, { by: 'P1Y' })
    const later = await run.gateway.schedules.executions(made.id)
    assert.equal(later.executions.length, 3)
  })
})
