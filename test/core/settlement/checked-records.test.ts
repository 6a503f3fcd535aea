/** An accountant sees each difference with both amounts, marks it as checked, and lists what never settled. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type SettlingRun, settled, settlementFile, startSettling } from '../../rig/settlement.ts'
import { today } from './effect-run.ts'

const decided = { by: 'alice', reason: 'agreed with the bank' }

describe('the accountant of a merchant', () => {
  let run: SettlingRun
  before(async () => {
    run = await startSettling()
  })
  after(() => run.close())

  const pay = async (order: string, more: object = {}) =>
    (await run.pay({ testMode: 'EXTERNAL', merchantTransactionId: order, ...more })).id
  const file = (...lines: Parameters<typeof settled>[0][]) =>
    run.taken(settlementFile(lines.map((line) => settled({ date: today(), ...line }))))
  const entries = async (fileId: string) =>
    (await run.gateway.operator.attention(100)).filter(({ detail }) => detail.file === fileId)

  test('reads order, payment, expected and reported amount of a difference', async () => {
    const id = await pay('order-DIFF-1')
    const fileId = await file({ id: 'DIFF-1', paymentId: id, amount: '90.00' })
    const [record] = await run.gateway.settlement.exceptions({ fileId })
    assert.deepEqual(
      [record!.merchantTransactionId, record!.expected, record!.amount, record!.discrepancies],
      ['order-DIFF-1', '92.00 EUR', '90.00', ['AMOUNT']],
    )
    const [entry] = await entries(fileId)
    assert.deepEqual(entry!.detail.records, [
      `line 2, order order-DIFF-1, payment ${id}, expected 92.00 EUR, reported 90.00 EUR`,
    ])
  })

  test('marks it as checked, until a correction changes the record', async () => {
    const id = await pay('order-CHECK-1')
    const fileId = await file({ id: 'CHECK-1', paymentId: id, amount: '90.00' })
    const listed = () => run.gateway.settlement.exceptions({ fileId })
    const [record] = await listed()
    assert.deepEqual(await run.gateway.settlement.check(record!.id, decided), {
      matchStatus: 'MATCHED',
      discrepancies: ['AMOUNT'],
    })
    assert.deepEqual([await listed(), await entries(fileId)], [[], []])
    await assert.rejects(run.gateway.settlement.check(record!.id, decided), { code: '700.400.570' })
    const [audit] = await run.sql<{ actor: string; action: string }>(
      'select actor, action from tollgate.audit where resource = $1',
      [record!.id],
    )
    assert.deepEqual(audit, { actor: 'alice', action: 'settlement-record.checked' })
    await file({ id: 'CHECK-2', paymentId: id })
    assert.deepEqual((await listed())[0]?.discrepancies, ['AMOUNT', 'DUPLICATE_SETTLEMENT'])
  })

  test('reads that a record reports as failed what was approved, and not the opposite', async () => {
    const id = await pay('order-FAILED-1')
    const fileId = await file({ id: 'FAILED-1', paymentId: id, status: 'FAILED' }, { id: 'NOBODY' })
    const records = await run.gateway.settlement.exceptions({ fileId })
    // A look at the file lists what the effects of its records found.
    await run.gateway.settlement.check(
      records.find(({ matchStatus }) => matchStatus === 'NOT_MATCHED')!.id,
      decided,
    )
    const [entry] = (await entries(fileId)).filter(({ detail }) => detail.exception === 'STATE')
    assert.equal(
      entry!.detail.came,
      'a record that reports a failed operation (FAILED), although the payment was approved',
    )
    assert.deepEqual(entry!.detail.records, [
      `line 2, order order-FAILED-1, payment ${id}, expected 92.00 EUR, reported 92.00 EUR as FAILED`,
    ])
  })

  test('lists what never settled, and neither preauthorisations nor settled payments', async () => {
    const from = new Date()
    const never = await pay('order-NEVER')
    const paid = await pay('order-PAID')
    await pay('order-PA', { paymentType: 'PA' })
    await file({ id: 'PAID', paymentId: paid })
    const to = new Date(Date.now() + 60_000)
    const unsettled = await run.gateway.settlement.unsettled({ from, to })
    assert.deepEqual(
      unsettled.map(({ id, merchantTransactionId, amount, currency }) => [
        ...[id, merchantTransactionId, amount, currency],
      ]),
      [[never, 'order-NEVER', '92.00', 'EUR']],
    )
    assert.deepEqual(await run.gateway.settlement.unsettled({ from, to, after: never }), [])
    // Only its amount, card and brand name this one: a guess, until an operator confirms it.
    await file({ id: 'NAMELESS', brand: 'VISA', last4: '0000' })
    assert.equal((await run.gateway.settlement.unsettled({ from, to })).length, 1)
    assert.equal((await run.gateway.payments.get(never)).settlement, undefined)
    const texts = async () =>
      (await run.gateway.payments.steps(never)).steps.map(({ text }) => text ?? '')
    assert.match(
      (await texts()).join('\n'),
      /SETTLED 92\.00 .*, which may be about another payment/,
    )
    const [guess] = await run.sql<{ id: string }>(
      'select record_id as id from tollgate.settlement_match where payment_id = $1',
      [never],
    )
    await run.gateway.settlement.assign(guess!.id, [never], decided)
    assert.deepEqual(await run.gateway.settlement.unsettled({ from, to }), [])
    assert.equal((await run.gateway.payments.get(never)).settlement?.amount, '92.00')
    assert.doesNotMatch((await texts()).join('\n'), /another payment/)
    const { channel } = await run.addAccount('MID-ELSEWHERE')
    const caller = { id: 'foreign', entityId: channel, rights: 2 ** 20 - 1 }
    assert.deepEqual(await run.gateway.settlement.unsettled({ from, to, caller }), [])
  })

  test('lists a payment on a test clock on the day of the clock', async () => {
    const clock = await run.gateway.testClocks.create({
      entityId: run.merchant,
      time: '2027-03-01 12:00:00',
    } as never)
    const id = await pay('order-CLOCK', { testClock: clock.id })
    const on = async (day: number) => {
      const [from, to] = [new Date(Date.UTC(2027, 2, day)), new Date(Date.UTC(2027, 2, day + 1))]
      return (await run.gateway.settlement.unsettled({ from, to })).map((one) => one.id)
    }
    assert.deepEqual([await on(1), await on(2)], [[id], []])
    const now = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }
    const made = await run.gateway.settlement.unsettled(now)
    assert.ok(!made.some((one) => one.id === id))
  })
})
