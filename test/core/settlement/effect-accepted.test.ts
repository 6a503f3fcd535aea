/** An accepted refund that a record pays out in part or by its order number alone, and a decline at the same moment. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { accepted } from '@tollgate/plugin-kit'
import pg from 'pg'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { eur, failure } from '../../rig/late-words.ts'
import { type Cells, settled } from '../../rig/settlement.ts'
import { type EffectRun, line, startEffects, today } from './effect-run.ts'

describe('an accepted refund that a record leaves as it is', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  type Refund = { readonly sale: string; readonly id: string; readonly mtid: string }
  const accept = async (): Promise<Refund> => {
    const sale = await run.pay()
    const mtid = `refund-${newId()}`
    const { id } = await run.follow(sale, 'RF', mtid, eur('92.00'), {
      refund: (_, context) => {
        context.sending()
        return accepted({}, 'event')
      },
    })
    return { sale, id, mtid }
  }
  const out = { transaction: 'REFUND', cashflow: 'NEG' }
  const records: readonly [string, (refund: Refund) => Cells][] = [
    ['a part', ({ id }) => line(id, { ...out, amount: '50.00' })],
    ['more', ({ id }) => line(id, { ...out, amount: '95.00' })],
    [
      'all, by the order number with a reference that the refund lacks',
      ({ id, mtid }) =>
        settled({ ...out, id: newId(), date: today(), mtid, ref1: `elsewhere-${id}` }),
    ],
  ]

  for (const [what, recordOf] of records) {
    test(`is not declined by a word that was judged before a record paid out ${what}`, async () => {
      const refund = await accept()
      let isHeld = false
      onFaultPoint(async (point, ref) => {
        if (point !== 'before-late' || ref !== refund.id || isHeld) return
        isHeld = true
        await run.file(recordOf(refund))
      })
      assert.equal(await run.tell(refund.id, { outcome: failure }), 'conflict')
      assert.equal(await run.stateOf(refund.id), 'approved')
      assert.ok((await run.kinds(refund.id)).includes('conflict'))
      await assert.rejects(run.follow(refund.sale, 'RF', `again-${refund.id}`, eur('92.00')))
    })
  }

  test('and that a decline ends at that moment is listed', async () => {
    const refund = await accept()
    const { id } = refund
    const holder = new pg.Client(run.database.url)
    await holder.connect()
    const waiting = (count: number) =>
      until(async () => {
        const rows = await run.sql(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
        return rows.length >= count || undefined
      })
    await holder.query('begin')
    await holder.query('select from tollgate.attempt where payment_id = $1 for update', [id])
    // Judged before the record is there, and committed before its effect.
    const told = run.tell(id, { outcome: failure })
    await waiting(1)
    const filed = run.file(line(id, { ...out, amount: '50.00' }))
    await waiting(2)
    await holder.query('commit')
    await holder.end()
    await Promise.all([told, filed])
    assert.equal(await run.stateOf(id), 'declined')
    await until(async () => {
      await run.makeDue()
      return (await run.kinds(id)).includes('conflict') || undefined
    })
    await assert.rejects(run.follow(refund.sale, 'RF', `again-${id}`, eur('92.00')))
    await run.operator.settle(id, 'declined', { by: 'alice', reason: 'it came back' })
  })
})
