/**
 * Chargebacks and their reversals as facts from an acquirer: each recorded once, by its reference.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { processed } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { chargeback, disputesOf, reversal, waits } from '../../rig/disputes.ts'
import {
  approval,
  charged,
  eur,
  failure,
  type LateRun,
  lose,
  noMoney,
  refuse,
  startLate,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'agreed with the bank' }

describe('chargebacks reported by the acquirer', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  const { debit, charge, giveBack, refund, chargedBack, records, hasWaited, turnNow, aged } =
    disputesOf(() => run)
  const amounts = async (id: string, type: 'CB' | 'CR') =>
    (await records(id, type)).map(({ amount_minor }) => amount_minor)
  const recordOf = async (id: string) => (await records(id, 'CB'))[0]!.id

  test('three partial chargebacks at once, each reported twice, count once each, and refunds wait for all', async () => {
    const id = await debit('three-parts')
    const parts = ['a', 'b', 'c']
    const outcomes = await Promise.all(
      [...parts, ...parts].map((part) => charge(id, `three-${part}`, '3000')),
    )
    assert.deepEqual(outcomes.sort(), [...Array(3).fill('known'), ...Array(3).fill('recorded')])
    assert.deepEqual(await amounts(id, 'CB'), [3000n, 3000n, 3000n])
    assert.equal(await chargedBack(id), 9000n)
    assert.deepEqual(await run.kinds(id), [])
    for (const part of parts) {
      await assert.rejects(refund(id), waits)
      await assert.rejects(run.gateway.payments.reverse(id), waits)
      assert.equal(await giveBack(id, `three-${part}`, '3000'), 'recorded')
    }
    assert.equal(await chargedBack(id), 0n)
    assert.equal((await refund(id, '92.00')).result.code, charged)
  })

  test('a known reference with another amount is listed and changes nothing', async () => {
    const id = await debit('same-reference')
    await charge(id, 'same-ref', '3000')
    assert.equal(await charge(id, 'same-ref', '4000'), 'conflict')
    assert.equal(await charge(id, 'same-ref', '3000', 'USD'), 'conflict')
    assert.deepEqual(await amounts(id, 'CB'), [3000n])
    assert.equal(await chargedBack(id), 3000n)
    assert.deepEqual(await run.kinds(id), ['beyond-sums', 'beyond-sums'])
  })

  test('a chargeback without a reference is identified by its event id', async () => {
    const id = await debit('no-reference')
    const tell = (eventId: string) => run.tell(id, { outcome: chargeback, minor: '3000', eventId })
    assert.equal(await tell('no-reference-1'), 'recorded')
    assert.equal(await tell('no-reference-2'), 'recorded')
    assert.equal(
      await tell('no-reference-2'),
      'recorded',
      'the first report about the chargeback counts',
    )
    assert.deepEqual(await amounts(id, 'CB'), [3000n, 3000n])
  })

  test('a reversal that precedes its chargeback waits and freezes nothing', async () => {
    const id = await debit('reversal-first')
    const early = await run.bring(id, { outcome: reversal, reference: 'early', minor: '3000' })
    await hasWaited(early)
    assert.equal((await refund(id, '10.00')).result.code, charged)
    assert.equal(await charge(id, 'early', '3000'), 'recorded')
    await assert.rejects(refund(id), waits)
    await turnNow(early)
    assert.equal(await processed(run, early), 'recorded')
    assert.equal((await refund(id)).result.code, charged)
    assert.deepEqual(await run.kinds(id), [])
  })

  test('a reversal without a chargeback within 72 hours is listed', async () => {
    const id = await debit('never-charged')
    const early = await run.bring(id, { outcome: reversal, reference: 'never', minor: '3000' })
    await hasWaited(early)
    assert.deepEqual(await run.kinds(id), [])
    await aged(early)
    assert.equal(await processed(run, early), 'conflict')
    assert.deepEqual(await run.kinds(id), ['beyond-sums'])
    assert.equal((await refund(id)).result.code, charged)
  })

  test("a reversal larger than its chargeback is recorded and listed, and frees only the chargeback's amount", async () => {
    const id = await debit('beyond-its-chargeback')
    await charge(id, 'beyond-a', '3000')
    await charge(id, 'beyond-b', '2000')
    assert.equal(await giveBack(id, 'beyond-a', '5000'), 'recorded')
    assert.equal(await chargedBack(id), 2000n)
    assert.deepEqual(await amounts(await recordOf(id), 'CR'), [5000n])
    const [entry, ...others] = await run.listed(id)
    assert.deepEqual([entry?.kind, entry?.detail.leftMinor, others], ['beyond-sums', '-2000', []])
    await assert.rejects(refund(id), waits)
  })

  test('a chargeback in another currency is recorded outside the sums, and refunds wait for an operator', async () => {
    const id = await debit('other-currency')
    assert.equal(await charge(id, 'dollars', '9900', 'USD'), 'recorded')
    assert.equal(await chargedBack(id), 0n)
    assert.equal((await run.gateway.payments.get(await recordOf(id))).currency, 'USD')
    await assert.rejects(refund(id), waits)
    const [entry] = await run.listed(id)
    assert.equal(entry?.kind, 'beyond-sums')
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await refund(id)).result.code, charged)
  })

  test("a chargeback by an authorisation's key belongs to its only capture", async () => {
    const id = await debit('one-capture', { paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(id, eur('50.00'))
    assert.equal(await charge(id, 'one-capture', '5000'), 'recorded')
    assert.deepEqual(await amounts(capture.id, 'CB'), [5000n])
    await assert.rejects(refund(capture.id), waits)
    assert.equal((await run.gateway.payments.capture(id, eur('42.00'))).result.code, charged)
    assert.equal(await giveBack(id, 'one-capture', '5000'), 'recorded')
    assert.equal((await refund(capture.id)).result.code, charged)
  })

  test('a chargeback without a reference is reversed without one, although another capture follows', async () => {
    const id = await debit('nameless-capture', { paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(id, eur('50.00'))
    assert.equal(await run.tell(id, { outcome: chargeback, minor: '5000' }), 'recorded')
    await run.gateway.payments.capture(id, eur('42.00'))
    assert.equal(await run.tell(id, { outcome: reversal, minor: '5000' }), 'recorded')
    assert.equal((await refund(capture.id)).result.code, charged)
  })

  test('a chargeback of an authorisation with several captures freezes all until an operator closes the entry', async () => {
    const id = await debit('two-captures', { paymentType: 'PA' })
    const captures = [
      await run.gateway.payments.capture(id, eur('50.00')),
      await run.gateway.payments.capture(id, eur('30.00')),
    ]
    assert.equal(await charge(id, 'two-captures', '5000'), 'recorded')
    for (const capture of captures) await assert.rejects(refund(capture.id), waits)
    await assert.rejects(run.gateway.payments.reverse(id), waits)
    const [entry] = await run.listed(id)
    assert.equal(entry?.kind, 'beyond-sums')
    await run.gateway.operator.resolve(entry!.id, by)
    for (const capture of captures) assert.equal((await refund(capture.id)).result.code, charged)
    assert.equal((await run.gateway.payments.reverse(id)).amount, '12.00')
  })

  test('a chargeback of a declined payment is recorded and listed, and changes no state', async () => {
    const { id } = await run.debit('of-declined', { debit: refuse })
    assert.equal(await charge(id, 'of-declined', '9200'), 'recorded')
    assert.deepEqual(await amounts(id, 'CB'), [9200n])
    assert.equal(await run.code(id), noMoney)
    assert.deepEqual(await run.kinds(id), ['beyond-sums'])
  })

  for (const [name, decision, kinds] of [
    ['approved', approval, []],
    ['declined', failure, ['beyond-sums']],
  ] as const) {
    test(`a chargeback of an undecided payment waits until the payment is ${name}`, async () => {
      const { id } = await run.debit(`undecided-${name}`, {
        debit: lose,
        enquire: () => ({ is: 'unknown', why: 'ask later' }),
      })
      const early = await run.bring(id, {
        outcome: chargeback,
        reference: `undecided-${name}`,
        minor: '9200',
      })
      await hasWaited(early)
      assert.deepEqual(await amounts(id, 'CB'), [])
      assert.equal(await run.tell(id, { outcome: decision }), 'settled', 'later events can pass')
      await turnNow(early)
      assert.equal(await processed(run, early), 'recorded')
      assert.deepEqual(await amounts(id, 'CB'), [9200n])
      assert.equal(await run.stateOf(id), name)
      assert.deepEqual(
        (await run.kinds(id)).filter((kind) => kind === 'beyond-sums'),
        kinds,
      )
    })
  }
})
