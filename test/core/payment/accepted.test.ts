/**
 * Operations accepted and failed later: their amount is returned once, or listed, and no repetition
 * changes it.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { approved, declined } from '@tollgate/plugin-kit'
import { approvedAs, processed, type Script } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  accept,
  approval,
  charged,
  eur,
  failure,
  heldCall,
  type LateRun,
  noMoney,
  refuse,
  startLate,
} from '../../rig/late-words.ts'

const fails = { outcome: failure, minor: '5000' }

describe('captures that fail after their acceptance', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  /** An authorisation of 100.00 with two captures of 50.00, the first one only accepted. */
  const captured = async (reference: string) => {
    const { id } = await run.debit(reference, {}, { paymentType: 'PA', amount: '100.00' })
    const [first] = await Promise.all([
      run.follow(id, 'CP', `${reference}-cp1`, eur('50.00'), { capture: accept }),
      run.follow(id, 'CP', `${reference}-cp2`, eur('50.00')),
    ])
    return { id, first: first.id }
  }
  const reverse = (id: string, reference: string, script: Script = {}) =>
    run.follow(id, 'RV', reference, {}, script)
  /** Exactly the failed capture's amount is free again. */
  const isGivenBackOnce = async (id: string) => {
    const { captured: taken, captures } = await balanceOf(run, id)
    assert.deepEqual({ taken, captures }, { taken: 5000n, captures: 1 })
    await assert.rejects(run.gateway.payments.capture(id, eur('100.00')), { code: '700.400.100' })
    await assert.rejects(run.gateway.payments.capture(id, eur('50.01')), { code: '700.400.100' })
    assert.equal((await run.gateway.payments.capture(id, eur('50.00'))).result.code, charged)
  }

  test('a capture reversed before its failure returns its amount once', async () => {
    const { id, first } = await captured('reversed-first')
    assert.equal((await reverse(first, 'reversed-first-rv')).result.code, charged)
    assert.equal(await run.tell(first, fails), 'settled')
    await isGivenBackOnce(id)
    assert.equal(await run.code(first), failure.reason)
  })

  test('a capture that fails during its reversal returns its amount once', async () => {
    const { id, first } = await captured('failed-first')
    const call = heldCall()
    const reversal = reverse(first, 'failed-first-rv', { reverse: call.handler })
    const operation = await call.begun
    assert.equal(await run.tell(first, fails), 'settled')
    call.answer(approvedAs(operation))
    assert.equal((await reversal).result.code, charged)
    await isGivenBackOnce(id)
  })

  test('a capture that fails during a reversal that is declined returns its amount once', async () => {
    const { id, first } = await captured('declined-reversal')
    const call = heldCall()
    const reversal = reverse(first, 'declined-reversal-rv', { reverse: call.handler })
    await call.begun
    await run.tell(first, fails)
    call.answer(declined(noMoney))
    assert.equal((await reversal).result.code, noMoney)
    await isGivenBackOnce(id)
  })

  test('simultaneous failure and reversal of a capture return its amount once, in many rounds', async () => {
    await Promise.all(
      Array.from({ length: 8 }, async (_, no) => {
        const { id, first } = await captured(`side-by-side-${no}`)
        const call = heldCall()
        const reversal = reverse(first, `side-by-side-${no}-rv`, { reverse: call.handler })
        const operation = await call.begun
        const told = run.bring(first, fails)
        call.answer(approvedAs(operation))
        await reversal
        assert.equal(await processed(run, await told), 'settled')
        await isGivenBackOnce(id)
      }),
    )
  })
})

describe('sales that fail after their acceptance', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  const by = { by: 'alice', reason: 'seen in their portal' }

  test('a sale accepted, confirmed, then declined stays approved, and refunds wait for its return', async () => {
    const { id } = await run.debit('returned-sale', { debit: accept })
    assert.equal(await run.tell(id, { outcome: approval }), 'settled')
    assert.deepEqual(await run.kinds(id), [])
    assert.equal(await run.tell(id, { outcome: failure }), 'conflict')
    assert.equal(await run.code(id), charged)
    assert.equal((await balanceOf(run, id)).captured, 9200n)
    const [entry] = await run.listed(id)
    assert.equal(entry?.kind, 'return')
    assert.equal(entry?.detail.minor, '9200')
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.300.600' })
    await assert.rejects(run.gateway.payments.reverse(id), { code: '700.300.600' })
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await run.gateway.payments.refund(id, eur('92.00'))).result.code, charged)
  })

  test('a repeated confirmation, and an acceptance after it, change nothing', async () => {
    const { id } = await run.debit('final-twice', { debit: accept })
    await run.tell(id, { outcome: approval })
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    const again = { is: 'accepted', refs: { reference: 'r' }, finalBy: 'event' }
    assert.equal(await run.tell(id, { outcome: again }), 'known')
    const events = await run.sql('select type from tollgate.event where resource = $1', [id])
    assert.deepEqual(events, [{ type: 'payment.approved' }], 'an unchanged payment emits no event')
  })

  test('a refunded sale that fails is declined and listed with its refunds', async () => {
    const { id } = await run.debit('refunded-failed', { debit: accept })
    await run.gateway.payments.refund(id, eur('30.00'))
    assert.equal(await run.tell(id, { outcome: failure }), 'settled')
    assert.equal(await run.code(id), failure.reason)
    const [entry, ...others] = await run.listed(id)
    assert.deepEqual([entry?.kind, others], ['late-failure', []])
    assert.equal(entry?.detail.beyondMinor, '3000')
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.400.520' })
  })

  test('a sale without refunds that fails is declined and not listed', async () => {
    const { id } = await run.debit('failed-plainly', { debit: accept })
    await run.tell(id, { outcome: failure })
    assert.equal(await run.code(id), failure.reason)
    assert.deepEqual(await run.kinds(id), [])
  })

  test('a sale approved after its failure is reversed by key', async () => {
    const { id } = await run.debit('failed-approved', {
      debit: accept,
      reverseByKey: () => ({ is: 'reversed' }),
    })
    await run.tell(id, { outcome: failure })
    assert.equal(await run.tell(id, { outcome: approval }), 'settled')
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
    assert.equal(await run.code(id), failure.reason)
    assert.deepEqual(await run.audited(id), ['late-success-reversed'])
    assert.deepEqual(run.acquirer.of('failed-approved'), ['debit', 'reverseByKey'])
  })

  test('a failed sale kept by an operator can be refunded, less its earlier refunds', async () => {
    const { id } = await run.debit('failed-kept', {
      debit: accept,
      reverseByKey: () => ({ is: 'refused', why: 'too late' }),
      reverse: refuse,
    })
    await run.gateway.payments.refund(id, eur('30.00'))
    await run.tell(id, { outcome: failure })
    await run.tell(id, { outcome: approval })
    await until(async () =>
      (await run.audited(id)).includes('late-success-stands') ? true : undefined,
    )
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.400.520' })
    await run.operator.settle(id, 'approved', by)
    assert.equal(await run.code(id), charged)
    await assert.rejects(run.gateway.payments.refund(id, eur('62.01')), { code: '700.400.200' })
    assert.equal((await run.gateway.payments.refund(id, eur('62.00'))).result.code, charged)
  })

  test('a failed sale returned by hand stays declined and counts for nothing', async () => {
    const { id } = await run.debit('given-back', {
      debit: accept,
      reverseByKey: () => ({ is: 'refused', why: 'too late' }),
      reverse: refuse,
    })
    await run.tell(id, { outcome: failure })
    await run.tell(id, { outcome: approved({ reference: 'late' }) })
    await until(async () =>
      (await run.audited(id)).includes('late-success-stands') ? true : undefined,
    )
    await run.operator.settle(id, 'declined', by)
    assert.equal(await run.code(id), failure.reason)
    assert.deepEqual(await run.kinds(id), ['(conflict)'])
    assert.ok((await run.audited(id)).includes('payment.given-back'))
  })
})
