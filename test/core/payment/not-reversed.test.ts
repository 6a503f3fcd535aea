/** A failed reversal is told of an open payment, of whose reversal no answer or no request is on record: its money stands. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Found, type Reversed, unknown } from '@tollgate/plugin-kit'
import { approvedAs, type Script } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { charged, eur, type LateRun, lose, startLate } from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const notReversed = { outcome: { is: 'notReversed', why: 'it stands' } }
const noAnswer = (): Reversed => ({ is: 'unknown', why: 'timeout' })

describe('a failed reversal of an open payment', () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  /** The acquirer gave no answer to the reversal, and tells in enquiries what `found` is by now. */
  function unanswered() {
    const acquirer: { found: Found } = { found: { is: 'notFound' } }
    const script: Script = {
      debit: lose,
      refund: lose,
      enquire: () => acquirer.found as never,
      reverseByKey: noAnswer,
    }
    const askedInVain = async (id: string) => {
      await run.age(id)
      await run.dueNow(id)
      await until(async () => {
        const [row] = await run.sql(
          `select from tollgate.payment
           join tollgate.attempt on attempt.payment_id = payment.id and attempt.lease_until is null
           where payment.id = $1 and payment.answer ? 'asked'`,
          [id],
        )
        return row
      })
      await run.dueLater(id)
      acquirer.found = unknown('busy')
    }
    return { script, askedInVain }
  }

  test('ends the payment whose reversal got no answer, although an enquiry knows nothing', async () => {
    const { script, askedInVain } = unanswered()
    const { id } = await run.debit('no-answer', script)
    await askedInVain(id)
    assert.equal(await run.tell(id, notReversed), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
    assert.deepEqual(await run.kinds(id), ['(undecided)', 'conflict'])
    assert.ok((await run.audited(id)).includes('late-success-stands'))
    await run.operator.settle(id, 'approved', by)
    assert.equal(await run.code(id), charged)
  })

  test('ends one of which no request is on record, too', async () => {
    const script: Script = { debit: lose, enquire: () => unknown('busy') }
    const { id } = await run.debit('no-request', script)
    await run.dueLater(id)
    assert.equal(await run.tell(id, notReversed), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
    assert.ok((await run.kinds(id)).includes('conflict'))
    await run.operator.settle(id, 'declined', by)
    assert.ok((await run.kinds(id)).includes('(conflict)'))
  })

  test('leaves the amount of a refund in the balance until an operator says that it came back', async () => {
    const { script, askedInVain } = unanswered()
    const { id: sale } = await run.debit('refunded')
    const { id } = await run.follow(sale, 'RF', 'no-answer-refund', eur('60.00'), script)
    await askedInVain(id)
    assert.equal(await run.tell(id, { ...notReversed, minor: '6000' }), 'settled')
    assert.equal((await balanceOf(run, sale)).refunding, 6000n)
    await assert.rejects(run.follow(sale, 'RF', 'refund-again', eur('60.00')))
    await run.operator.settle(id, 'declined', by)
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
  })

  test('decides nothing where the enquiry finds the payment approved', async () => {
    const { id } = await run.debit('found-approved', { debit: lose, enquire: approvedAs })
    await run.dueLater(id)
    await run.tell(id, notReversed)
    assert.equal(await run.code(id), charged)
    assert.ok(!(await run.kinds(id)).includes('conflict'))
  })
})
