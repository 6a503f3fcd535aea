/** Chargebacks in answers: their exact amount, and their next actions. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { disputesOf } from '../../rig/disputes.ts'
import { type LateRun, startLate } from '../../rig/late-words.ts'

describe('chargebacks in answers', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  const { debit, charge, giveBack, records } = disputesOf(() => run)
  const recordOf = async (id: string) => (await records(id, 'CB'))[0]!.id

  test('a third decimal is shown beside the amount, in every answer', async () => {
    const sale = await debit('dinars-sale', { amount: '10.00', currency: 'KWD' })
    assert.equal(await charge(sale, 'dinars', '9255', 'KWD'), 'recorded')
    const id = await recordOf(sale)
    const { query, payments } = run.gateway
    // At an acquirer, merchants reverse no chargebacks.
    const told = { amount: '9.25', exact: '9.255', nextActions: [] }
    const read = (view: { [field: string]: unknown }) => ({
      amount: view.amount,
      exact: (view.resultDetails as Record<string, string>).ExactAmount,
      nextActions: view.nextActions ?? [],
    })
    assert.deepEqual(read(await payments.get(id)), told)
    assert.deepEqual(read(await query.get(id)), told)
    const linked = await query.linked(sale)
    assert.deepEqual(read(linked.find((view) => view.id === id)!), told)
    const date = { from: '2000-01-01 00:00:00', to: '2090-01-01 00:00:00' }
    const { records: found } = await query.search({ date, paymentTypes: 'CB' } as never)
    assert.deepEqual(read(found.find((view) => view.id === id)!), told)
    const inspected = await run.gateway.inspect(id)
    assert.ok('facts' in inspected && inspected.facts.is === 'CB 9.255 KWD')
    assert.equal((await payments.steps(id)).id, id)
    assert.deepEqual((await payments.get(sale)).nextActions ?? [], [])
    assert.equal((await balanceOf(run, sale)).captured, 10_000n)
    assert.equal(await giveBack(sale, 'dinars', '9255', 'KWD'), 'recorded')
    assert.deepEqual(read(await payments.get(id)), told)
    assert.deepEqual(read(await query.get(id)), told)
  })

  test("a chargeback's next actions depend on no other chargeback, in every answer", async () => {
    const sale = await debit('two-chargebacks')
    await charge(sale, 'first-of-two', '3000')
    const id = await recordOf(sale)
    await charge(sale, 'second-of-two', '3000')
    await giveBack(sale, 'first-of-two', '3000')
    assert.deepEqual((await run.gateway.payments.get(id)).nextActions ?? [], [])
    assert.deepEqual((await run.gateway.query.get(id)).nextActions ?? [], [])
  })
})
