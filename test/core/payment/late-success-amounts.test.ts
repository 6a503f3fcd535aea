/** Late successes for another amount: exactly the completed amount is undone or kept. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  eur,
  type LateRun,
  noMoney,
  refuse,
  startLate,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }

describe('late successes for another amount, undone by reversals', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate({
      'by-reversal': withoutKeyReversal,
      'by-whole-reversal': (connector) => {
        const lesser = withoutKeyReversal(connector)
        return { ...lesser, supports: { ...lesser.supports, reverse: { partial: false } } }
      },
    })
  })
  after(() => closeChecked(run))

  const declined = async (reference: string) =>
    (await run.debit(reference, { debit: refuse }, run.at('by-reversal'))).id
  const stands = (id: string) =>
    until(async () => ((await run.audited(id)).includes('late-success-stands') ? true : undefined))
  const reversals = (reference: string) =>
    run.acquirer.calls.filter((call) => call.reference === reference && call.what === 'reverse')

  test('a smaller charge is reversed with its own amount', async () => {
    const id = await declined('late-less')
    await run.tell(id, { outcome: approval, minor: '5000' })
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
    const [reversal, ...others] = reversals('late-less')
    assert.deepEqual(reversal?.operation.amount, { minor: 5000n, currency: 'EUR' })
    assert.deepEqual(reversal?.operation.original?.amount, { minor: 5000n, currency: 'EUR' })
    assert.deepEqual(others, [])
  })

  test('a charge in another currency is left to operators, because no reversal can express it', async () => {
    const id = await declined('late-currency')
    await run.tell(id, { outcome: approval, currency: 'USD' })
    await stands(id)
    assert.deepEqual(reversals('late-currency'), [])
    assert.deepEqual(await run.kinds(id), ['conflict'])
    await assert.rejects(run.operator.settle(id, 'approved', by), { code: '700.400.570' })
    await run.operator.settle(id, 'declined', by)
    assert.equal(await run.code(id), noMoney)
    assert.deepEqual(await run.kinds(id), ['(conflict)'])
  })

  test('a smaller charge kept by an operator can be refunded, and no more', async () => {
    const id = await declined('late-kept')
    run.acquirer.tell('late-kept', { reverse: refuse })
    await run.tell(id, { outcome: approval, minor: '5000' })
    await stands(id)
    await run.operator.settle(id, 'approved', by)
    assert.equal((await run.gateway.payments.get(id)).amount, '50.00')
    await assert.rejects(run.gateway.payments.refund(id, eur('50.01')), { code: '700.400.200' })
    assert.equal((await run.gateway.payments.refund(id, eur('50.00'))).result.code, charged)
  })

  test('a late refund holds the amount that the acquirer tells, until an operator decides', async () => {
    const sale = await run.debit('late-refund-of', {}, run.at('by-reversal'))
    const refused = { refund: refuse, reverse: refuse }
    const late = await run.follow(sale.id, 'RF', 'late-refund', eur('20.00'), refused)
    await run.tell(late.id, { outcome: approval, minor: '9200' })
    await stands(late.id)
    assert.equal((await balanceOf(run, sale.id)).refunding, 9200n)
    await assert.rejects(run.gateway.payments.refund(sale.id, eur('0.01')), { code: '700.400.200' })
    await run.operator.settle(late.id, 'declined', by)
    assert.equal((await balanceOf(run, sale.id)).refunding, 0n)
    assert.equal((await run.gateway.payments.refund(sale.id, eur('92.00'))).result.code, charged)
  })

  test('a late capture holds the amount that the acquirer tells, until an operator decides', async () => {
    const place = { paymentType: 'PA', ...run.at('by-reversal') }
    const held = await run.debit('late-capture-of', {}, place)
    const refused = { capture: refuse, reverse: refuse }
    const late = await run.follow(held.id, 'CP', 'late-capture', eur('20.00'), refused)
    await run.tell(late.id, { outcome: approval, minor: '5000' })
    await stands(late.id)
    assert.equal((await balanceOf(run, held.id)).capturing, 5000n)
    await assert.rejects(run.gateway.payments.capture(held.id, eur('42.01')), {
      code: '700.400.100',
    })
    await assert.rejects(run.operator.settle(late.id, 'approved', by), {
      code: '700.400.570',
    })
    await run.operator.settle(late.id, 'declined', by)
    assert.equal((await balanceOf(run, held.id)).capturing, 0n)
    assert.equal((await run.gateway.payments.capture(held.id, eur('92.00'))).result.code, charged)
  })

  test('an increment is not undone by a reversal of the whole authorisation', async () => {
    const { id } = await run.debit(
      'late-whole',
      {},
      { paymentType: 'PA', ...run.at('by-whole-reversal') },
    )
    const fields = {
      ...eur('60.00'),
      standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
    }
    const late = await run.follow(id, 'PA', 'late-whole-more', fields, { increment: refuse })
    await run.tell(late.id, { outcome: approval, minor: '6000' })
    await stands(late.id)
    assert.deepEqual(reversals('late-whole-more'), [])
    assert.equal((await balanceOf(run, id)).increasing, 6000n)
    await run.operator.settle(late.id, 'approved', by)
    assert.equal((await balanceOf(run, id)).authorised, 15_200n)
  })
})
