/**
 * Decisions about payments that only operators can end: their connector is gone, their time is
 * over, or their amount is another.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { approved, type Operation, pending, type Reversed, unknown } from '@tollgate/plugin-kit'
import { type Gateway, GatewayError, onFaultPoint } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  charged,
  eur,
  heldCall,
  type LateRun,
  lose,
  refusedFor,
  startLate,
  undecided,
} from '../../rig/late-words.ts'

const alice = { by: 'Alice', reason: 'seen in the acquirer’s back office' }
const byHand = '900.100.300'
const refusedCapture = '700.400.100'
const silent = () => unknown('the acquirer is down')
const tooLate = (): Reversed => ({ is: 'refused', why: 'too late' })
const forLess = (operation: Operation) =>
  approved({ reference: operation.key }, { amount: { minor: 500n, currency: 'EUR' } })
const redirect = { redirect: { url: 'https://bank.example/3ds' } }

describe("operators' decisions about open payments", () => {
  let run: LateRun
  let without: Gateway
  before(async () => {
    run = await startLate({}, { connectorTimeoutMs: 1_000 })
    without = await run.another({ plugins: [], role: 'api' })
  })
  after(() => closeChecked(run))

  /** A refund of 10.00 that an enquiry finds as 5.00. */
  const refundedForLess = async (reference: string, script: object) => {
    const paid = await run.debit(`${reference}-paid`)
    const more = { enquire: forLess, reverseByKey: tooLate, ...script }
    const { id, result } = await run.follow(paid.id, 'RF', reference, eur('10.00'), more)
    assert.equal(result.code, undecided)
    await run.age(id)
    await run.dueNow(id)
    await until(async () =>
      (await run.listed(id)).some(({ reference }) => reference.startsWith('other-amount'))
        ? true
        : undefined,
    )
    await until(async () => {
      const [row] = await run.sql<{ lease_until: Date | null }>(
        'select lease_until from tollgate.attempt where payment_id = $1',
        [id],
      )
      return row?.lease_until === null ? true : undefined
    })
    await assert.rejects(run.gateway.payments.refund(paid.id, eur('1.00')), GatewayError)
    return { id, paid: paid.id }
  }

  test('an approval for another amount cannot be settled as the requested amount', async () => {
    const { id, paid } = await refundedForLess('open-other-amount', { refund: lose })
    await assert.rejects(
      run.operator.settle(id, 'approved', alice),
      refusedFor(/another amount: 500 minor units of EUR\. Give that money back/),
    )
    assert.equal(await run.code(id), undecided)
    await run.operator.settle(id, 'declined', alice)
    assert.equal(await run.code(id), byHand)
    assert.ok((await run.listed(id)).every(({ open }) => !open))
    assert.equal((await run.gateway.payments.refund(paid, eur('1.00'))).result.code, charged)
  })

  test('a late answer settles the payment; with two amounts reported, refunds wait for an operator', async () => {
    const call = heldCall()
    const { id, paid } = await refundedForLess('open-late-answer', { refund: call.handler })
    call.answer(approvedAs(await call.begun))
    await until(async () => ((await run.code(id)) === charged ? true : undefined))
    const entry = await until(async () => {
      const open = (await run.listed(id)).filter((one) => one.open)
      return open.length === 1 && open[0]!.kind === 'conflict' ? open[0] : undefined
    })
    assert.equal(entry.detail.minor, '500')
    await assert.rejects(run.gateway.payments.refund(paid, eur('1.00')), { code: '700.300.600' })
    await run.gateway.operator.resolve(entry.id, alice)
    assert.equal((await run.gateway.payments.refund(paid, eur('1.00'))).result.code, charged)
    assert.equal((await balanceOf(run, paid)).refunded, 1100n)
  })

  test('a pending payment without its connector is decided by hand', async () => {
    const { id } = await run.debit('open-pending-gone', { debit: () => pending(redirect) })
    await assert.rejects(run.operator.settle(id, 'declined', alice), refusedFor(/pending/))
    await without.operator.settle(id, 'declined', alice)
    assert.deepEqual([await run.stateOf(id), await run.code(id)], ['declined', byHand])
    assert.deepEqual(await run.timers(id), [])
  })

  for (const [name, change] of [
    ['is being worked on', `update tollgate.timer set step = 1 where kind = 'expire' and ref = $1`],
    ['is gone', `delete from tollgate.timer where kind = 'expire' and ref = $1`],
  ] as const) {
    test(`a pending payment whose end ${name} is decided by hand`, async () => {
      const script = { debit: () => pending(redirect), enquire: silent }
      const { id } = await run.debit(`open-pending-${name.replaceAll(' ', '-')}`, script)
      await run.operator.enquire(id, alice)
      await assert.rejects(
        run.operator.settle(id, 'approved', alice),
        refusedFor(/pending: its shopper/),
      )
      await run.sql(change, [await run.keyOf(id)])
      await run.operator.settle(id, 'approved', alice)
      assert.equal(await run.code(id), charged)
      assert.equal((await balanceOf(run, id)).captured, 9200n)
    })
  }
})

describe('two-step sales whose connector disappears between the steps', () => {
  let run: LateRun
  before(async () => {
    run = await startLate({}, { role: 'api' })
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  const halfDone = async (reference: string) => {
    let begun = 0
    onFaultPoint((point) => {
      if (point !== 'before-T1') return
      begun += 1
      if (begun === 2) throw new Error('died')
    })
    const { id, result, referencedId } = await run.debit(reference, {}, { paymentType: 'PA.CP' })
    onFaultPoint(undefined)
    assert.equal(result.code, undecided)
    const authorisation = referencedId as string
    const worker = await run.another({ plugins: [], role: 'worker' })
    await until(async () => {
      await run.dueNow(authorisation)
      return (await run.kinds(authorisation)).includes('unreversed') ? true : undefined
    })
    return { id, authorisation, worker }
  }
  const isAtRest = (authorisation: string) =>
    until(async () => {
      await run.dueNow(authorisation)
      // Skips the pause of a failed job.
      await run.sql(
        `update tollgate_boss.job set start_after = now() where name = 'capture' and state = 'retry'`,
      )
      return (await run.timers(authorisation)).length === 0 ? true : undefined
    })

  test('the sale is listed, declined by hand, and released when the connector returns', async () => {
    const { operator } = run.gateway
    const { id, authorisation, worker } = await halfDone('gone-declined')
    const [entry] = await run.listed(authorisation)
    assert.match(String(entry?.detail.why), /connector scripted .* is not available/)
    const told = await operator.enquire(id, alice)
    assert.deepEqual([told.state, told.resultCode], ['processing', undecided])
    assert.match((await operator.redrive(id, alice)).text, /queued/)
    await assert.rejects(operator.settle(id, 'approved', alice), refusedFor(/only .* declined/))
    const ended = await operator.settle(id, 'declined', alice)
    assert.deepEqual([ended.state, ended.resultCode], ['declined', refusedCapture])
    assert.equal(await run.code(id), refusedCapture)
    assert.deepEqual(await run.audited(id), ['payment.redriven', 'payment.settled'])
    await assert.rejects(
      operator.settle(authorisation, 'declined', alice),
      refusedFor(/a decision is final/),
    )
    await assert.rejects(operator.settle(id, 'approved', alice), refusedFor(/a decision is final/))
    await worker.close()
    const back = await run.another({ plugins: [run.acquirer.plugin], role: 'worker' })
    await isAtRest(authorisation)
    assert.deepEqual(run.acquirer.of('gone-declined'), ['authorize', 'reverse'])
    assert.equal((await balanceOf(run, authorisation)).reversed, 9200n)
    assert.ok((await run.listed(authorisation)).every(({ open }) => !open))
    await back.close()
  })

  test('the sale is captured when the connector returns, and its entry is closed', async () => {
    const { id, authorisation, worker } = await halfDone('gone-back')
    await worker.close()
    await run.another({ plugins: [run.acquirer.plugin], role: 'worker' })
    await isAtRest(authorisation)
    assert.equal(await run.code(id), charged)
    assert.deepEqual(await run.kinds(authorisation), ['(unreversed)'])
  })
})
