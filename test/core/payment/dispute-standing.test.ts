/** Charged-back money is never paid out again, also under concurrency. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type FaultPoint, onFaultPoint } from '../../../core/index.ts'
import { processed } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { chargeback, disputesOf, reversal, waits } from '../../rig/disputes.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  eur,
  type LateRun,
  refuse,
  startLate,
  withoutAnyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'agreed with the bank' }
const chargedBefore = { code: '700.400.570', message: /charged back/ }

describe('standing chargebacks', () => {
  let run: LateRun
  before(async () => {
    run = await startLate({ 'by-nobody': withoutAnyReversal })
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  const { charge, giveBack, refund, whys, endAll, aged } = disputesOf(() => run)
  const keep = (id: string) => run.operator.settle(id, 'approved', by)
  const stands = (id: string) =>
    until(async () => ((await run.audited(id)).includes('late-success-stands') ? true : undefined))
  /** Holds the first arrival at a fault point until its release. */
  const heldAt = (name: FaultPoint) => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    onFaultPoint((point) => {
      if (point !== name) return undefined
      onFaultPoint(undefined)
      reached.resolve()
      return released.promise
    })
    return { reached: reached.promise, goOn: released.resolve }
  }

  test("a chargeback by an authorisation's key stops the engine from reversing a late capture", async () => {
    const { id } = await run.debit('stands-undo', {}, { paymentType: 'PA' })
    const script = { capture: refuse }
    const capture = await run.follow(id, 'CP', 'stands-undo-cp', eur('92.00'), script)
    assert.equal(await charge(id, 'stands-undo'), 'recorded')
    await run.tell(capture.id, { outcome: approval })
    await stands(capture.id)
    assert.deepEqual(run.acquirer.of('stands-undo-cp'), ['capture'])
    assert.deepEqual(await run.kinds(capture.id), ['conflict'])
    await run.operator.settle(capture.id, 'declined', by)
  })

  test("a chargeback by an authorisation's key stops operators from keeping a late capture until its reversal", async () => {
    const more = { paymentType: 'PA', ...run.at('by-nobody') }
    const { id } = await run.debit('stands-keep', {}, more)
    const script = { capture: refuse }
    const capture = await run.follow(id, 'CP', 'stands-keep-cp', eur('92.00'), script)
    await run.tell(capture.id, { outcome: approval })
    await stands(capture.id)
    assert.equal(await charge(id, 'stands-keep'), 'recorded')
    await assert.rejects(keep(capture.id), chargedBefore)
    assert.equal(await giveBack(id, 'stands-keep'), 'recorded')
    await keep(capture.id)
    await endAll(id)
    assert.equal((await refund(capture.id)).result.code, charged)
  })

  test('a chargeback in another currency stops reversal and keeping of a late success', async () => {
    const { id } = await run.debit('stands-dollars', { debit: refuse })
    await charge(id, 'stands-dollars', '10000', 'USD')
    await run.tell(id, { outcome: approval })
    await stands(id)
    assert.deepEqual(run.acquirer.of('stands-dollars'), ['debit'])
    await assert.rejects(keep(id), chargedBefore)
    await giveBack(id, 'stands-dollars', '10000', 'USD')
    await keep(id)
    await endAll(id)
    assert.equal((await refund(id)).result.code, charged)
  })

  test('a chargeback recorded while an operator keeps the money counts in the sums', async () => {
    const { id } = await run.debit('stands-kept', { debit: refuse }, run.at('by-nobody'))
    await run.tell(id, { outcome: approval })
    await stands(id)
    const held = heldAt('before-fact')
    const event = await run.bring(id, { outcome: chargeback, reference: 'stands-kept' })
    await held.reached
    await keep(id)
    held.goOn()
    assert.equal(await processed(run, event), 'recorded')
    assert.deepEqual(await whys(id), [])
    await assert.rejects(refund(id), waits)
    await giveBack(id, 'stands-kept')
    assert.equal((await refund(id)).result.code, charged)
  })

  for (const paymentType of ['DB', 'PA']) {
    test(`a decision to keep money that missed a chargeback is refused: ${paymentType}`, async () => {
      const reference = `stands-unseen-${paymentType}`
      const more = { paymentType, ...run.at('by-nobody') }
      const first = await run.debit(reference, { debit: refuse }, more)
      const late =
        paymentType === 'DB'
          ? first
          : await run.follow(first.id, 'CP', `${reference}-cp`, eur('92.00'), { capture: refuse })
      await run.tell(late.id, { outcome: approval })
      await stands(late.id)
      const held = heldAt('before-late')
      const kept = run.operator.settle(late.id, 'approved', by)
      await held.reached
      assert.equal(await charge(first.id, reference), 'recorded')
      held.goOn()
      await assert.rejects(kept, { code: '700.400.570' })
      await assert.rejects(keep(late.id), chargedBefore)
      await run.operator.settle(late.id, 'declined', by)
    })
  }

  test("a chargeback by an authorisation's key belongs to a capture begun meanwhile", async () => {
    const { id } = await run.debit('stands-capture', {}, { paymentType: 'PA' })
    const held = heldAt('before-fact')
    const event = await run.bring(id, { outcome: chargeback, reference: 'stands-capture' })
    await held.reached
    const capture = await run.follow(id, 'CP', 'stands-capture-cp', eur('92.00'))
    held.goOn()
    assert.equal(await processed(run, event), 'recorded')
    assert.deepEqual(await whys(id), [])
    await assert.rejects(refund(capture.id), waits)
    await giveBack(id, 'stands-capture')
    assert.equal((await refund(capture.id)).result.code, charged)
  })

  test('a repeated reversal without a reference is listed when it reaches a chargeback with one', async () => {
    const { id } = await run.debit('stands-named')
    const part = { minor: '3000' }
    await run.tell(id, { outcome: chargeback, ...part })
    await run.tell(id, { outcome: reversal, ...part })
    const again = await run.bring(id, { outcome: reversal, ...part })
    await charge(id, 'stands-named', '3000')
    await aged(again)
    assert.equal(await processed(run, again), 'recorded')
    assert.deepEqual(await whys(id), [
      'it names no chargeback, and gave one back that has a reference',
    ])
    await assert.rejects(refund(id), waits)
    await endAll(id)
    assert.equal((await refund(id)).result.code, charged)
  })

  test('a reference that resembles a round of another one is its own chargeback', async () => {
    const [one, other] = [await run.debit('rounds-one'), await run.debit('rounds-other')]
    assert.equal(await charge(one.id, 'case-7'), 'recorded')
    assert.equal(await charge(other.id, 'case-7 round 2'), 'recorded')
    assert.equal(await giveBack(one.id, 'case-7'), 'recorded')
    assert.equal((await refund(one.id)).result.code, charged)
    await assert.rejects(refund(other.id), waits)
  })
})
