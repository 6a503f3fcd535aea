/**
 * A failover loses the first commit of a follow-up under way: its later outcome at the acquirer
 * counts.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { declined, type Outcome } from '@tollgate/plugin-kit'
import { approvedAs } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { charged, eur, heldCall, type LateRun, noMoney, startLate } from '../../rig/late-words.ts'

describe('follow-ups whose rows were lost in a failover', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  const excess = async (id: string) => {
    const [row] = await run.sql<{ excess: bigint }>(
      'select excess from tollgate.payment_balance where payment_id = $1',
      [id],
    )
    return row?.excess
  }
  /** The promoted server has neither row nor reservation of the follow-up. */
  const lose = async (id: string, of: string) => {
    await run.sql('delete from tollgate.attempt where payment_id = $1', [id])
    await run.sql('delete from tollgate.payment_request where id = $1', [id])
    await run.sql('delete from tollgate.payment where id = $1', [id])
    await run.sql(
      'update tollgate.payment_balance set refunding = 0, capturing = 0, captures = 0 where payment_id = $1',
      [of],
    )
  }
  /** A follow-up of 60.00 whose rows are lost while the acquirer processes it. */
  const lost = async (type: 'RF' | 'CP', reference: string) => {
    const { id } = await run.debit(reference, {}, { paymentType: type === 'CP' ? 'PA' : 'DB' })
    const call = heldCall()
    const answer = run.follow(id, type, `${reference}-lost`, eur('60.00'), {
      refund: call.handler,
      capture: call.handler,
    })
    const operation = await call.begun
    await lose(operation.paymentId, id)
    const end = async (outcome: Outcome = approvedAs(operation)) => {
      call.answer(outcome)
      const view = await answer
      assert.equal(view.id, operation.paymentId)
      return view
    }
    return { id, lost: operation.paymentId, end }
  }

  for (const [type, sum, full] of [
    ['RF', 'refunded', '700.400.200'],
    ['CP', 'captured', '700.400.100'],
  ] as const) {
    const again = (id: string, amount: string) =>
      run.gateway.payments.followUp(id, { paymentType: type, ...eur(amount) })

    test(`${type}: the row is written again and flagged, and the sums include it`, async () => {
      const { id, lost: it, end } = await lost(type, `rows-lost-${type}`)
      assert.equal((await end()).result.code, charged)
      assert.equal(await run.code(it), charged)
      assert.deepEqual(await run.kinds(it), ['recovered'])
      assert.equal((await balanceOf(run, id))[sum], 6000n)
      assert.equal(await excess(id), 0n)
      await assert.rejects(again(id, '32.01'), { code: full })
      assert.equal((await again(id, '32.00')).result.code, charged)
    })

    test(`${type}: the sums exceed the limit where another follow-up took the rest`, async () => {
      const { id, lost: it, end } = await lost(type, `rest-taken-${type}`)
      assert.equal((await again(id, '92.00')).result.code, charged)
      assert.equal((await end()).result.code, charged)
      assert.deepEqual(await run.kinds(it), ['recovered'])
      assert.equal((await balanceOf(run, id))[sum], 15_200n)
      assert.equal(await excess(id), 6000n)
      await assert.rejects(again(id, '0.01'), { code: full })
    })

    test(`${type}: a decline of the acquirer is recorded and counts for nothing`, async () => {
      const { id, lost: it, end } = await lost(type, `lost-declined-${type}`)
      assert.equal((await again(id, '92.00')).result.code, charged)
      assert.equal((await end(declined(noMoney))).result.code, noMoney)
      assert.equal(await run.code(it), noMoney)
      assert.equal((await balanceOf(run, id))[sum], 9200n)
      assert.equal(await excess(id), 0n)
    })
  }
})
