/** The simulated acquirer lives in the time of a payment's test clock: nothing of it waits for real time. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeChecked } from '../../rig/books.ts'
import { card, startGateway, type TestGateway } from '../../rig/gateway.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'

describe('the simulated acquirer on a test clock', { concurrency: true }, () => {
  let run: TestGateway
  let tools: Scheduling
  before(async () => {
    run = await startGateway()
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  type Row = { id: string; type: string; minor: bigint; code: string; at: Date }

  /** Chargebacks and their reversals of a payment, oldest first, dated on the clock. */
  const disputesOf = (id: string) =>
    run.sql<Row>(
      `select record.id, record.payment_type as type, record.amount_minor as minor, record.result_code as code,
         record.created_at as at
       from tollgate.chargeback as fact
       join tollgate.payment as record on record.id = fact.record_id
       where fact.payment_id = $1 order by record.id`,
      [id],
    )

  const eventsOf = async (id: string) => {
    const rows = await run.sql<{ type: string; data: { code: string } }>(
      'select type, data from tollgate.event where resource = $1 order by seq',
      [id],
    )
    return rows.map(({ type, data }) => `${type} ${data.code}`)
  }

  const state = async (id: string) => (await run.gateway.payments.get(id)).result.code

  test('a late success and a late decline come when the clock gets there, not before', async () => {
    const clock = await tools.clockAt('2027-03-01 10:00:00')
    const pay = (number: string, amount: string) =>
      run.pay({ ...card(number), amount, testClock: clock.id })
    const success = await pay('4000000000000077', '92.00')
    const decline = await pay('4200000000000000', '92.87')
    await tools.advance(clock.id, { by: 'PT29S' })
    assert.deepEqual(
      [await state(success.id), await state(decline.id)],
      ['000.200.000', '000.200.000'],
    )
    await tools.advance(clock.id, { by: 'PT1S' })
    assert.deepEqual(
      [await state(success.id), await state(decline.id)],
      ['000.100.110', '800.100.152'],
    )
    assert.deepEqual(await eventsOf(success.id), [
      'payment.pending 000.200.000',
      'payment.approved 000.100.110',
    ])
    assert.deepEqual(await eventsOf(decline.id), [
      'payment.pending 000.200.000',
      'payment.declined 800.100.152',
    ])
  })

  test('a charge of a schedule that is pending at first is decided before the clock moves on', async () => {
    const clock = await tools.clockAt('2027-03-01 10:00:00')
    const registrationId = await tools.store({ testClock: clock.id })
    const job = { expression: '0 0 12 * * ?' }
    const { id } = await tools.schedule(registrationId, { amount: '12.87', job })
    await tools.advance(clock.id, { by: 'P2D' })
    assert.deepEqual(await tools.history(id), [
      '2027-03-01 12:00:00 DECLINED',
      '2027-03-02 12:00:00 DECLINED',
    ])
  })

  test('an enquiry for a merchant before the time leaves the payment to its clock', async () => {
    const clock = await tools.clockAt('2027-03-01 10:00:00')
    const { id } = await run.pay({ ...card('4000000000000077'), testClock: clock.id })
    // Every follow-up asks the acquirer first, also one that is refused.
    await assert.rejects(run.gateway.payments.followUp(id, { paymentType: 'CR' } as never))
    assert.equal(await state(id), '000.200.000')
    await tools.advance(clock.id, { by: 'PT30S' })
    assert.equal(await state(id), '000.100.110')
  })

  test('chargebacks come at their time, with their events, and refunds wait for their reversal', async () => {
    const clock = await tools.clockAt('2027-03-01 10:00:00')
    const pay = (fields: object) => run.pay({ ...fields, testClock: clock.id })
    const stays = await pay(card('4000000000000259'))
    const returns = await pay(card('4000000000002685'))
    const account = { holder: 'Jane Jones', iban: 'DE35370400440532013002' }
    const returned = await run.gateway.payments.create({
      ...{ entityId: run.channel, testClock: clock.id, paymentType: 'DB' },
      ...{ amount: '92.00', currency: 'EUR', paymentBrand: 'DIRECTDEBIT_SEPA' },
      bankAccount: account,
    } as never)
    const all = [stays.id, returns.id, returned.id]
    await tools.advance(clock.id, { to: '2027-03-02 22:30:00' })
    for (const id of all)
      assert.deepEqual(await disputesOf(id), [], 'no chargeback on the first days')
    await tools.advance(clock.id, { to: '2027-03-05 10:00:00' })
    const told = async (id: string) =>
      (await disputesOf(id)).map(
        ({ type, code, minor, at }) => `${at.toISOString().slice(0, 10)} ${type} ${code} ${minor}`,
      )
    assert.deepEqual(await Promise.all(all.map(told)), [
      ['2027-03-04 CB 000.100.220 9200'],
      ['2027-03-04 CB 000.100.221 9200'],
      ['2027-03-03 CB 000.100.203 9200'],
    ])
    const refund = () =>
      run.gateway.payments.followUp(returns.id, {
        paymentType: 'RF',
        amount: '92.00',
        currency: 'EUR',
      } as never)
    await assert.rejects(refund(), { code: '700.300.600' })
    await tools.advance(clock.id, { to: '2027-03-09 10:00:00' })
    assert.deepEqual(await told(returns.id), [
      '2027-03-04 CB 000.100.221 9200',
      '2027-03-07 CR 000.100.110 9200',
    ])
    assert.equal((await told(stays.id)).length, 1)
    assert.equal((await refund()).result.code, '000.100.110')
    // Notifications follow from the events of the disputes' own records.
    const events = (await disputesOf(returns.id)).map(({ id }) => eventsOf(id))
    assert.deepEqual(await Promise.all(events), [
      ['payment.approved 000.100.221'],
      ['payment.approved 000.100.110'],
    ])
  })
})
