import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  accepted,
  approved,
  type Context,
  declined,
  type Operation,
  pending,
} from '@tollgate/plugin-kit'
import { type AcquirerRun, approvedAs, startWithAcquirer } from '../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../rig/books.ts'
import { card, until } from '../rig/gateway.ts'

const charged = '000.100.112'
const eur = (amount: string) => ({ amount, currency: 'EUR' as const })

/** Waits for an event of the acquirer, or for its expiry. */
const waits = (_: Operation, context: Context) => {
  context.sending()
  return pending('event', { refs: { reference: 'open' } })
}
const polled = (operation: Operation, context: Context) => {
  context.sending()
  return accepted({ reference: `at-${operation.key}` }, { poll: 60_000 })
}

describe('payments ended by time', { concurrency: true }, () => {
  let run: AcquirerRun
  let aheadMs = 0
  before(async () => {
    run = await startWithAcquirer({
      clock: {
        elapsedMs: () => performance.now(),
        realMs: () => Date.now(),
        businessAt: () => new Date(Date.now() + aheadMs),
      },
    })
  })
  after(() => closeChecked(run))

  const code = async (id: string) => (await run.gateway.payments.get(id)).result.code
  const due = async (id: string, kind: string) => {
    const key = await run.keyOf(id)
    const rows = await run.sql(
      `update tollgate.timer set due_at = now() where ref = $1 and kind = $2 returning kind`,
      [key, kind],
    )
    assert.equal(rows.length, 1, `a timer for ${kind} exists`)
  }

  test("the simulator's pending rows end after thirty seconds of the merchant's clock: approved, or declined", async () => {
    const success = await run.pay(card('4000000000000077'))
    const failure = await run.pay({ amount: '12.87' })
    for (const { result } of [success, failure]) assert.equal(result.code, '000.200.000')
    await due(success.id, 'look')
    await due(failure.id, 'look')
    await until(async () => {
      const rows = await run.sql(
        `select 1 from tollgate.attempt
          where payment_id = any($1) and enquiries > 0 and lease_until is null`,
        [[success.id, failure.id]],
      )
      return rows.length === 2 ? true : undefined
    })
    assert.equal(
      await code(success.id),
      '000.200.000',
      'an early enquiry leaves the payment pending',
    )
    const told = await run.sql('select 1 from tollgate.event where resource = $1', [success.id])
    assert.equal(told.length, 1, 'an unchanged payment emits no event')
    aheadMs = 31_000
    await due(success.id, 'look')
    await due(failure.id, 'look')
    await run.event(success.id, 'payment.approved')
    await run.event(failure.id, 'payment.declined')
    assert.equal(await code(success.id), '000.100.110')
    assert.equal(await code(failure.id), '800.100.152')
  })

  test('a pending payment expires after the reversal of its key', async () => {
    const { id } = await run.debit('nobody-comes', {
      debit: waits,
      enquire: () => pending('event', { refs: { reference: 'open' } }),
      reverseByKey: () => ({ is: 'reversed' }),
    })
    await due(id, 'expire')
    await run.event(id, 'payment.expired')
    assert.deepEqual(run.acquirer.of('nobody-comes'), ['debit', 'enquire', 'reverseByKey'])
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), {
      code: '700.400.520',
      status: 400,
    })
    assert.deepEqual(await run.sql('select id from tollgate.instrument where id = $1', [id]), [])
    assert.deepEqual(
      await run.sql('select kind from tollgate.timer where ref = $1', [await run.keyOf(id)]),
      [],
    )
  })

  test('a payment completed at the last moment is approved, not expired', async () => {
    const { id } = await run.debit('just-in-time', { debit: waits, enquire: approvedAs })
    await due(id, 'expire')
    await run.event(id, 'payment.approved')
    assert.equal(await code(id), charged)
  })

  test('an expiry without proof keeps the payment open and lists it', async () => {
    const { id } = await run.debit('cannot-expire', {
      debit: waits,
      enquire: () => pending('event', { refs: { reference: 'open' } }),
      reverseByKey: () => ({ is: 'refused', why: 'too late' }),
    })
    await due(id, 'expire')
    await run.event(id, 'payment.unknown')
    const listed = (await run.gateway.attention()).filter((row) => row.payment_id === id)
    assert.deepEqual(
      listed.map(({ kind }) => kind),
      ['undecided'],
    )
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.400.570' })
    const kinds = async () =>
      (
        await run.sql<{ kind: string }>('select kind from tollgate.timer where ref = $1', [
          await run.keyOf(id),
        ])
      ).map(({ kind }) => kind)
    assert.deepEqual(
      await kinds(),
      ['look'],
      'the payment continues on the ladder, not every minute',
    )
    const pendingAgain = await run.sql(
      `select 1 from tollgate.event where resource = $1 and type = 'payment.pending'`,
      [id],
    )
    assert.equal(
      pendingAgain.length,
      1,
      'a pending answer of the acquirer does not reopen the payment',
    )
  })

  test('an accepted refund is enquired until its end: it stays, or returns its amount', async () => {
    const { id } = await run.debit('polled-debit')
    const refund = (
      reference: string,
      enquire: typeof approvedAs | (() => ReturnType<typeof declined>),
    ) => {
      run.acquirer.tell(reference, { refund: polled, enquire })
      return run.gateway.payments.refund(id, { ...eur('10.00'), merchantTransactionId: reference })
    }
    const kept = await refund('polled-kept', (operation) =>
      approved({ reference: `at-${operation.key}` }),
    )
    const failed = await refund('polled-failed', () => declined('800.100.203'))
    for (const { result } of [kept, failed]) assert.equal(result.code, charged)
    await due(kept.id, 'look')
    await due(failed.id, 'look')
    await run.event(failed.id, 'payment.declined')
    assert.equal((await balanceOf(run, id)).refunded, 1000n)
    await until(async () => {
      const [row] = await run.sql<{ final_by: string | null }>(
        'select final_by from tollgate.payment where id = $1',
        [kept.id],
      )
      return row?.final_by === null ? true : undefined
    })
    assert.equal(await code(kept.id), charged)
  })
})
