/** Another amount reported for an open payment: kept until it is resolved. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { approved, type Context, type Operation } from '@tollgate/plugin-kit'
import { approvedAs } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  eur,
  failure,
  type LateRun,
  lose,
  notCharged,
  startLate,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const frozen = { code: '700.300.600' }

/** Approved for 50.00, for any requested amount. */
const forLess = (_: Operation, context: Context) => {
  context.sending()
  return approved({ reference: 'for-less' }, { amount: { minor: 5000n, currency: 'EUR' } })
}
const unknownYet = () => ({ is: 'unknown', why: 'ask later' }) as const

describe('other amounts reported for open payments', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  const refundOf = async (reference: string, script = {}) => {
    const { id } = await run.debit(reference)
    const refund = await run.follow(id, 'RF', `${reference}-rf`, eur('92.00'), script)
    return { id, refund: refund.id }
  }
  const anotherRefund = (id: string) => run.gateway.payments.refund(id, eur('92.00'))
  const ask = async (id: string) => {
    await run.age(id)
    await run.dueNow(id)
  }
  /** Waits until the lease is free, because the engine writes its note before the release. */
  const decline = async (id: string) => {
    await until(async () => {
      const rows = await run.sql(
        'select from tollgate.attempt where payment_id = $1 and lease_until is null',
        [id],
      )
      return rows.length > 0 ? true : undefined
    })
    return run.operator.settle(id, 'declined', by)
  }
  const isOpenStill = (id: string) =>
    until(async () => ((await run.audited(id)).includes('reverse-by-key') ? true : undefined))

  test('a reversal by key that finds nothing leaves the reported amount in force', async () => {
    const { id, refund } = await refundOf('finds-nothing', {
      refund: forLess,
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => ({ is: 'nothing' }),
    })
    await ask(refund)
    await isOpenStill(refund)
    await assert.rejects(anotherRefund(id), frozen)
    assert.equal(await run.stateOf(refund), 'unknown')
    await decline(refund)
    assert.equal((await anotherRefund(id)).result.code, charged)
  })

  test('an enquiry that finds a decline makes the amount a late success: counted, listed and reversed', async () => {
    const { id, refund } = await refundOf('declined-there', {
      refund: forLess,
      enquire: () => ({ is: 'declined', reason: '800.100.155' }),
      reverseByKey: () => ({ is: 'refused', why: 'too late' }),
    })
    await ask(refund)
    await until(async () =>
      (await run.audited(refund)).includes('late-success-stands') ? true : undefined,
    )
    assert.deepEqual((await run.kinds(refund)).toSorted(), ['(undecided)', 'conflict'])
    await assert.rejects(anotherRefund(id), { code: '700.400.200' })
    await decline(refund)
    assert.equal((await anotherRefund(id)).result.code, charged)
  })

  test('messages report amount and decline in either order', async () => {
    for (const order of ['approved first', 'declined first']) {
      const { id, refund } = await refundOf(order, {
        refund: lose,
        enquire: unknownYet,
        reverseByKey: () => ({ is: 'refused', why: 'too late' }),
      })
      const words = [{ outcome: approval, minor: '5000' }, { outcome: failure }]
      if (order === 'declined first') words.reverse()
      for (const word of words) await run.tell(refund, word)
      await until(async () => ((await run.kinds(refund)).includes('conflict') ? true : undefined))
      await assert.rejects(anotherRefund(id), { code: '700.400.200' }, order)
      await until(async () =>
        (await run.audited(refund)).includes('late-success-stands') ? true : undefined,
      )
      await decline(refund)
    }
  })

  test('an approval without an amount leaves the reported one in force: listed, and refunds wait', async () => {
    const { id, refund } = await refundOf('no-amount', { refund: forLess, enquire: approvedAs })
    await ask(refund)
    await until(async () => ((await run.code(refund)) === charged ? true : undefined))
    await until(async () => ((await run.kinds(refund)).includes('conflict') ? true : undefined))
    const entry = (await run.listed(refund)).find(({ kind }) => kind === 'conflict')
    assert.deepEqual([entry?.detail.minor, entry?.detail.currency], ['5000', 'EUR'])
    await assert.rejects(run.gateway.payments.refund(id, eur('0.01')), { code: /700\.[34]00\./ })
  })

  test('every reported amount is listed, and the requested amount cannot be approved by decision', async () => {
    const { id, refund } = await refundOf('several-amounts', { refund: lose, enquire: unknownYet })
    await run.tell(refund, { outcome: approval, minor: '500' })
    await run.tell(refund, {
      outcome: { is: 'accepted', refs: {}, finalBy: 'event' },
      minor: '400',
    })
    await until(async () =>
      (await run.listed(refund)).filter(({ reference }) => reference.startsWith('other-amount'))
        .length === 2
        ? true
        : undefined,
    )
    await assert.rejects(run.operator.settle(refund, 'approved', by), (error: Error) =>
      /500 minor units of EUR and 400 minor units of EUR/.test(error.message),
    )
    await assert.rejects(anotherRefund(id), frozen)
    await decline(refund)
    assert.equal((await anotherRefund(id)).result.code, charged)
  })

  test('an amount returned by hand is not returned again when it is reported again', async () => {
    const { id } = await run.debit('given-by-hand', { debit: lose, enquire: unknownYet })
    await run.tell(id, { outcome: approval, minor: '5000' })
    await decline(id)
    assert.equal(await run.tell(id, { outcome: approval, minor: '5000' }), 'conflict')
    assert.ok(!run.acquirer.of('given-by-hand').includes('reverseByKey'))
  })

  test('a part that was reversed is a return once the payment is approved, and refunds wait', async () => {
    const { id } = await run.debit('part-reversed', { debit: lose, enquire: unknownYet })
    const reversed = { is: 'reversed', refs: {} }
    assert.equal(await run.tell(id, { outcome: reversed, minor: '4600' }), 'enquired')
    assert.equal(await run.tell(id, { outcome: approval }), 'settled')
    await until(async () => ((await run.kinds(id)).includes('return') ? true : undefined))
    await assert.rejects(anotherRefund(id), frozen)
    const entry = (await run.listed(id)).find(({ kind }) => kind === 'return')!
    assert.equal(entry.detail.minor, '4600')
    await run.gateway.operator.resolve(entry.id, by)
    assert.equal((await run.gateway.payments.refund(id, eur('46.00'))).result.code, charged)
  })

  test('a part that was reversed changes nothing once the payment is declined', async () => {
    const { id } = await run.debit('part-declined', { debit: lose, enquire: unknownYet })
    await run.tell(id, { outcome: { is: 'reversed', refs: {} }, minor: '4600' })
    assert.equal(await run.tell(id, { outcome: failure }), 'settled')
    await until(async () =>
      (await run.kinds(id)).every((kind) => kind === '(undecided)') ? true : undefined,
    )
  })

  test('an amount proven to be reversed is forgotten', async () => {
    const { id, refund } = await refundOf('reversed', {
      refund: forLess,
      enquire: forLess,
      reverseByKey: () => ({ is: 'reversed' }),
    })
    await ask(refund)
    await until(async () => ((await run.code(refund)) === notCharged ? true : undefined))
    await until(async () =>
      (await run.kinds(refund)).every((kind) => kind === '(undecided)') ? true : undefined,
    )
    assert.equal((await anotherRefund(id)).result.code, charged)
  })
})
