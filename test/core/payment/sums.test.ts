import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { FollowUpRequest } from '../../../core/index.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { card, startGateway, type TestGateway } from '../../rig/gateway.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })
const final = (amount: string) => ({ ...eur(amount), sequence: 'FINAL' })
const full = { code: '700.400.100' }
const approved = '000.100.110'

describe('sums of one payment', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway()
  })
  after(() => closeChecked(run))

  const authorise = async (more: Record<string, unknown> = {}) =>
    (await run.pay({ ...card('4200000000000000'), paymentType: 'PA', ...more })).id
  const capture = (id: string, fields: FollowUpRequest) => run.gateway.payments.capture(id, fields)
  const refund = (id: string, fields: FollowUpRequest) => run.gateway.payments.refund(id, fields)
  const reverse = (id: string, fields?: Record<string, string>) =>
    run.gateway.payments.reverse(id, fields)

  test('partial captures add up to the authorised amount and not one cent more', async () => {
    const id = await authorise()
    for (const amount of ['50.00', '41.99']) {
      assert.equal((await capture(id, eur(amount))).amount, amount)
    }
    await assert.rejects(capture(id, eur('0.02')), full)
    await capture(id, eur('0.01'))
    await assert.rejects(capture(id, eur('0.01')), full)
    const balance = await balanceOf(run, id)
    assert.equal(balance.captured, 9200n)
    assert.equal(balance.captures, 3)
  })

  test('a capture above the whole amount is refused and leaves the authorisation unchanged', async () => {
    const id = await authorise()
    await assert.rejects(capture(id, eur('92.01')), full)
    assert.equal((await capture(id, eur('92.00'))).result.code, approved)
  })

  test('numberOfCaptures is a limit of its own, and a reversed capture no longer counts', async () => {
    const id = await authorise({ numberOfCaptures: '2' })
    const first = await capture(id, eur('1.00'))
    await capture(id, eur('1.00'))
    await assert.rejects(capture(id, eur('1.00')), full)
    await reverse(first.id)
    await capture(id, eur('1.00'))
    await assert.rejects(capture(id, eur('1.00')), full)
  })

  test('a FINAL capture closes captures, and the rest can only be released', async () => {
    const id = await authorise()
    await capture(id, final('40.00'))
    await assert.rejects(capture(id, eur('1.00')), full)
    const rest = await reverse(id)
    assert.equal(rest.amount, '52.00')
  })

  test('a FINAL refund closes refunds, and a FINAL reversal closes reversals of the rest', async () => {
    const debit = await run.pay()
    await refund(debit.id, final('10.00'))
    await assert.rejects(refund(debit.id, eur('1.00')), { code: '700.400.200' })
    const id = await authorise()
    await reverse(id, final('10.00'))
    await assert.rejects(reverse(id), { code: '700.400.300' })
    assert.equal((await capture(id, eur('82.00'))).result.code, approved)
  })

  test('the reversal of a FINAL capture opens its authorisation for captures again', async () => {
    const id = await authorise()
    const closing = await capture(id, final('40.00'))
    await reverse(closing.id)
    assert.equal((await capture(id, eur('92.00'))).result.code, approved)
  })

  test('a reversal without an amount releases the open rest, one with an amount that part', async () => {
    const id = await authorise()
    await capture(id, eur('30.00'))
    const part = await reverse(id, eur('12.00'))
    assert.equal(part.amount, '12.00')
    await assert.rejects(reverse(id, eur('50.01')), { code: '700.400.300' })
    await assert.rejects(capture(id, eur('50.01')), full)
    const rest = await reverse(id)
    assert.equal(rest.amount, '50.00')
    await assert.rejects(reverse(id), { code: '700.400.300' })
    await assert.rejects(capture(id, eur('0.01')), full)
  })

  test('refunds add up to the charged amount, on a debit, a capture and a credit alike', async () => {
    const debit = await run.pay()
    const taken = await capture(await authorise(), eur('92.00'))
    const credit = await run.pay({ paymentType: 'CD' })
    for (const { id } of [debit, taken, credit]) {
      await refund(id, eur('91.99'))
      await assert.rejects(refund(id, eur('0.02')), { code: '700.400.200' })
      await refund(id, eur('0.01'))
      await assert.rejects(refund(id, eur('0.01')), { code: '700.400.200' })
    }
  })

  test('a refund excludes later reversals, and a reversal excludes later refunds', async () => {
    const refunded = await run.pay()
    await refund(refunded.id, eur('0.01'))
    await assert.rejects(reverse(refunded.id), { code: '700.400.300' })
    const reversed = await run.pay()
    await reverse(reversed.id)
    await assert.rejects(refund(reversed.id, eur('0.01')), { code: '700.400.200' })
  })

  test('a debit is reversed as a whole, and another amount is refused', async () => {
    const { id } = await run.pay()
    await assert.rejects(reverse(id, eur('91.99')), { code: '700.400.300' })
    assert.equal((await reverse(id, eur('92.00'))).amount, '92.00')
  })

  test('the reversal of a capture returns its amount to the authorisation', async () => {
    const id = await authorise()
    const taken = await capture(id, eur('60.00'))
    await assert.rejects(capture(id, eur('60.00')), full)
    const undone = await reverse(taken.id)
    assert.equal(undone.amount, '60.00')
    const { captured, captures } = await balanceOf(run, id)
    assert.deepEqual({ captured, captures }, { captured: 0n, captures: 0 })
    assert.equal((await capture(id, eur('92.00'))).result.code, approved)
    await assert.rejects(reverse(taken.id), { code: '700.400.300' })
    await assert.rejects(refund(taken.id, eur('1.00')), { code: '700.400.200' })
  })

  test('the reversal of an authorisation leaves its captures refundable', async () => {
    const id = await authorise()
    const taken = await capture(id, eur('60.00'))
    await reverse(id)
    assert.equal((await refund(taken.id, eur('60.00'))).result.code, approved)
  })

  test('a declined capture returns its amount, count and final mark', async () => {
    const id = await authorise({ numberOfCaptures: '1' })
    // A capture that waits on purpose and has a parameter that the simulator refuses.
    const refused = await run.gateway.payments.capture(id, {
      ...final('92.00'),
      customParameters: { SIM_DECLINE: '800.100.152' },
    })
    assert.equal(refused.result.code, '800.100.152')
    const { captured, capturing, captures } = await balanceOf(run, id)
    assert.deepEqual(
      { captured, capturing, captures },
      { captured: 0n, capturing: 0n, captures: 0 },
    )
    assert.equal((await capture(id, eur('92.00'))).result.code, approved)
  })

  test('declined refunds and reversals return their reservations', async () => {
    const bad = { customParameters: { SIM_DECLINE: '800.100.152' } }
    const debit = await run.pay()
    assert.equal(
      (await run.gateway.payments.refund(debit.id, { ...final('92.00'), ...bad })).result.code,
      '800.100.152',
    )
    assert.equal((await run.gateway.payments.reverse(debit.id, bad)).result.code, '800.100.152')
    const id = await authorise()
    assert.equal(
      (await run.gateway.payments.reverse(id, { ...final('5.00'), ...bad })).result.code,
      '800.100.152',
    )
    assert.equal((await reverse(id)).amount, '92.00')
    assert.equal((await refund(debit.id, eur('92.00'))).result.code, approved)
  })

  test('amounts of zero-decimal currencies are limited in whole units', async () => {
    const { id } = await run.pay({ paymentType: 'PA', amount: '500', currency: 'JPY' })
    const yen = (amount: string) => ({ amount, currency: 'JPY' as const })
    await capture(id, yen('499'))
    await assert.rejects(capture(id, yen('2')), full)
    await assert.rejects(capture(id, yen('0.50')), { code: '100.550.303' })
    await capture(id, yen('1.00'))
  })
})
