/** Reversals of chargebacks without a reference: any key of a chain can name the money of all its captures. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../../core/index.ts'
import { processed } from '../../rig/acquirer.ts'
import { eur, type LateRun } from '../../rig/late-words.ts'
import { by, startToldMeanwhile, waitsForOthers } from '../../rig/told-meanwhile.ts'

describe('a reversal without a reference', () => {
  let run: LateRun
  let close: () => Promise<void>
  before(async () => {
    ;({ run, close } = await startToldMeanwhile())
  })
  after(() => close())

  const again = async (id: string, practice: string) => {
    const wanted = { ...eur('92.00'), standingInstruction: { industryPractice: practice } }
    return (await run.follow(id, 'PA', `again-${newId()}`, wanted as never)).id
  }
  const capture = async (id: string) =>
    (await run.follow(id, 'CP', `capture-${newId()}`, eur('30.00'))).id
  const refund = (id: string) => run.follow(id, 'RF', `refund-${newId()}`, eur('30.00'))
  const unnamed = (is: string) => ({
    outcome: { is, reason: '000.100.220', refs: {} },
    minor: '3000',
  })
  const open = async (id: string) => (await run.listed(id)).filter((entry) => entry.open)

  /**
   * A chargeback that can be of either capture, which an operator has looked at, and one of the second capture.
   *
   * @returns the payment that the first one is recorded at, and another one of its chain.
   */
  async function twoChargebacks(other: 'replacement' | 'increase') {
    const { id } = await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })
    await capture(id)
    const more = other === 'increase' ? await again(id, 'INCREMENTAL_AUTH') : undefined
    const fresh = more === undefined ? await again(id, 'REAUTHORIZATION') : id
    const paid = await capture(fresh)
    const named = more ?? id
    assert.equal(await run.tell(named, unnamed('chargeback')), 'recorded')
    const [entry] = await open(named)
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal(await run.tell(paid, unnamed('chargeback')), 'recorded')
    return { named, fresh, paid }
  }

  for (const other of ['replacement', 'increase'] as const) {
    test(`by the key of another member of the chain (${other}), may be of either chargeback`, async () => {
      const { named, fresh, paid } = await twoChargebacks(other)
      assert.equal(await run.tell(fresh, unnamed('chargebackReversal')), 'recorded')
      const [entry] = await open(named)
      assert.match(String(entry?.detail.why), /several payments have one/)
      await assert.rejects(refund(paid), waitsForOthers)
    })
  }

  test('by the key of a capture is about its own chargeback, where one stands', async () => {
    const { id } = await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })
    const one = await capture(id)
    await capture(id)
    await run.tell(id, unnamed('chargeback'))
    const [entry] = await open(id)
    await run.gateway.operator.resolve(entry!.id, by)
    await run.tell(one, unnamed('chargeback'))
    assert.equal(await run.tell(one, unnamed('chargebackReversal')), 'recorded')
    const facts = await run.sql<{ at: string; rest: bigint }>(
      `select replace(payment_id::text, '-', '') as at, minor - given_back as rest from tollgate.chargeback
       where kind = 'chargeback' and payment_id = any($1::uuid[]) order by at`,
      [[id, one]],
    )
    assert.deepEqual(
      facts,
      [
        { at: id, rest: 3000n },
        { at: one, rest: 0n },
      ].toSorted((a, b) => (a.at < b.at ? -1 : 1)),
    )
  })

  test('that an operator recorded before by hand gives no second chargeback back', async () => {
    const { id } = await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })
    await capture(id)
    const fresh = await again(id, 'REAUTHORIZATION')
    const paid = await capture(fresh)
    await run.tell(id, unnamed('chargeback'))
    const [entry] = await open(id)
    await run.gateway.operator.resolve(entry!.id, by)
    const [fact] = await run.sql<{ id: string }>(
      "select replace(record_id::text, '-', '') as id from tollgate.chargeback where payment_id = $1",
      [id],
    )
    await run.gateway.operator.reverseChargeback(fact!.id, by)
    await run.tell(paid, unnamed('chargeback'))
    const eventId = await run.bring(fresh, unnamed('chargebackReversal'))
    await processed(run, eventId)
    assert.match(String((await open(fresh))[0]?.detail.why), /taken for the reversal by hand/)
    await assert.rejects(refund(paid), waitsForOthers)
  })
})
