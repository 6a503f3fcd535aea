/** An event that another account of the merchant heard of, and what the payment's account hears under the same id. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Outcome } from '@tollgate/plugin-kit'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { approvedOf, chargeback, type SharedRun, startShared, undecided } from './shared-number.ts'

const vague = { is: 'unknown', why: 'nothing is known of it here' }
const waits = { code: '700.300.600' }

describe('claims of both accounts under one event id', () => {
  let run: SharedRun
  before(async () => {
    run = await startShared()
  })
  after(() => closeChecked(run))
  const refund = (id: string) =>
    run.gateway.payments.refund(id, { amount: '5.00', currency: 'EUR' })
  const makeDue = () =>
    run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
  const chargebacksOf = async (id: string) => {
    const rows = await run.sql<{ minor: string }>(
      'select minor::text as minor from tollgate.chargeback where payment_id = $1 order by at',
      [id],
    )
    return rows.map(({ minor }) => minor)
  }

  test('a handed chargeback that waits stays when the account reads nothing in the event', async () => {
    const { id } = await run.debit('vague-beside', undecided)
    const key = await run.keyOf(id)
    const about = { eventId: 'vague-beside', key }
    await run.bring(run.other, { ...about, outcome: chargeback, reference: 'case-vague' })
    assert.equal(await run.outcomeAt(run.other, about.eventId), 'handed-over')
    await run.bring(run.account, { ...about, outcome: vague })
    assert.equal(await run.outcomeOf(run.account, about.eventId, 'unknown'), 'enquired')
    await run.bring(run.account, { eventId: 'vague-decided', key, outcome: approvedOf(key) })
    await run.outcomeAt(run.account, 'vague-decided')
    await makeDue()
    assert.equal(await run.outcomeOf(run.account, about.eventId, 'chargeback'), 'recorded')
    assert.deepEqual(await chargebacksOf(id), ['9200'])
    await assert.rejects(refund(id), waits)
  })

  test('a handed chargeback that waits stays when the account uses its id for another payment', async () => {
    const { id } = await run.debit('id-used-here', undecided)
    const { id: another } = await run.debit('id-used-there')
    const [key, anotherKey] = [await run.keyOf(id), await run.keyOf(another)]
    await run.bring(run.other, { eventId: '1001', key, outcome: chargeback })
    assert.equal(await run.outcomeAt(run.other, '1001'), 'handed-over')
    await run.bring(run.account, { eventId: '1001', key: anotherKey, outcome: chargeback })
    await until(async () => (await chargebacksOf(another)).length === 1 || undefined)
    await run.bring(run.account, { eventId: 'id-decided', key, outcome: approvedOf(key) })
    await run.outcomeAt(run.account, 'id-decided')
    await makeDue()
    await until(async () => (await chargebacksOf(id)).length === 1 || undefined)
    await assert.rejects(refund(id), waits)
    // Again, to both addresses: known.
    await run.bring(run.other, { eventId: '1001', key, outcome: chargeback })
    await run.bring(run.account, { eventId: '1001', key: anotherKey, outcome: chargeback })
    assert.deepEqual([await chargebacksOf(id), await chargebacksOf(another)], [['9200'], ['9200']])
    assert.deepEqual([await run.listed(id), await run.listed(another)], [[], []])
  })

  test('a handed chargeback counts although the account used its id for another payment before', async () => {
    const [{ id }, { id: another }] = [
      await run.debit('id-used-late'),
      await run.debit('id-used-early'),
    ]
    const [key, anotherKey] = [await run.keyOf(id), await run.keyOf(another)]
    await run.bring(run.account, { eventId: '1002', key: anotherKey, outcome: chargeback })
    assert.equal(await run.outcomeAt(run.account, '1002'), 'recorded')
    await run.bring(run.other, { eventId: '1002', key, outcome: chargeback })
    await until(async () => (await chargebacksOf(id)).length === 1 || undefined)
    await assert.rejects(refund(id), waits)
    assert.deepEqual([await run.listed(id), await run.listed(another)], [[], []])
  })

  test('a handed approval that waits for the answer is a late success, whatever the account reads', async () => {
    const answer = Promise.withResolvers<Outcome>()
    const begun = Promise.withResolvers<void>()
    const paying = run.debit('answer-held', {
      debit: (_, context) => {
        context.sending()
        begun.resolve()
        return answer.promise
      },
      reverseByKey: () => ({ is: 'unknown', why: 'down' }),
    })
    await begun.promise
    const [row] = await run.sql<{ id: string; key: string }>(
      `select id, attempt_key as key from tollgate.payment where merchant_transaction_id = 'answer-held'`,
    )
    const { id, key } = row!
    const about = { eventId: 'answer-held', key }
    await run.bring(run.other, { ...about, outcome: approvedOf(key) })
    assert.equal(await run.outcomeAt(run.other, about.eventId), 'handed-over')
    await run.bring(run.account, { ...about, outcome: vague })
    answer.resolve({ is: 'declined', reason: '800.100.155' })
    await paying
    await makeDue()
    await until(async () => (await run.listed(id)).includes('conflict') || undefined)
  })

  test('a chargeback that only one of the accounts reads with its reference is one', async () => {
    const { id } = await run.debit('named-once')
    const about = { eventId: 'named-once', key: await run.keyOf(id), minor: '4000' }
    await run.bring(run.other, { ...about, outcome: chargeback })
    assert.equal(await run.outcomeAt(run.account, about.eventId), 'recorded')
    await run.bring(run.account, { ...about, outcome: chargeback, reference: 'case-named' })
    const stored = `select count(*)::integer as rows, count(processed_at)::integer as ended
      from tollgate.inbound_event where account = $1 and claim ->> 'key' = $2`
    await until(async () => {
      const [row] = await run.sql<{ rows: number; ended: number }>(stored, [run.account, about.key])
      return (row!.rows === 2 && row!.ended === 2) || undefined
    })
    assert.deepEqual(await chargebacksOf(id), ['4000'])
    assert.deepEqual(await run.listed(id), [])
  })

  test('an event that reaches both addresses at once, several times, counts once', async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, async (_, no) => {
        const { id } = await run.debit(`at-once-${no}`)
        return { id, no, key: await run.keyOf(id) }
      }),
    )
    await Promise.all(
      made.flatMap(({ no, key }) =>
        [run.account, run.other, run.other, run.account].map((account) =>
          run.bring(account, { eventId: `at-once-${no}`, key, minor: '3000', outcome: chargeback }),
        ),
      ),
    )
    await until(async () => {
      const open = await run.sql(
        `select 1 from tollgate.inbound_event where event_id like 'at-once-%' and processed_at is null`,
      )
      return open.length === 0 || undefined
    })
    for (const { id } of made) {
      assert.deepEqual(await chargebacksOf(id), ['3000'])
      assert.deepEqual(await run.listed(id), [])
    }
    const rows = await run.sql<{ rows: number }>(
      `select count(*)::integer as rows from tollgate.inbound_event where event_id like 'at-once-%'`,
    )
    assert.equal(rows[0]!.rows, 24)
  })
})
