/** A settlement line with a chargeback of a payment whose outcome is not known. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { eur, lose } from '../../rig/late-words.ts'
import { busy, by, waitsForOthers } from '../../rig/told-meanwhile.ts'
import { chargeback, type EffectRun, startEffects } from './effect-run.ts'

describe('a chargeback in a line about an open payment', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  const release = (id: string) => run.follow(id, 'RV', `release-${newId()}`)
  /** An authorisation, and a capture of which the acquirer says nothing. */
  const withOpenCapture = async () => {
    const id = await run.pay({}, { paymentType: 'PA' })
    const script = { capture: lose, enquire: busy }
    const open = await run.follow(id, 'CP', `open-${newId()}`, eur('20.00'), script)
    await run.dueLater(open.id)
    return { id, open: open.id }
  }
  /** The work that is due about a payment was begun so often. */
  const isTried = async (id: string, times: number) => {
    await run.dueNow(id)
    const rows = await run.sql(
      `select from tollgate.timer where step >= $2 and
        ref in ($1::text, (select attempt_key from tollgate.payment where id = $1::text::uuid))`,
      [id, times],
    )
    return rows.length > 0
  }
  const decline = async (id: string) => {
    await run.operator.enquire(id, by)
    await run.operator.settle(id, 'declined', by)
  }
  /** The line met the open payment, and is tried again after a while. */
  const putOff = (id: string) =>
    until(async () => {
      const rows = await run.sql(
        "select from tollgate.settlement_record where named_payment = $1 and effect = 'open' and effect_after > now()",
        [id],
      )
      return rows.length > 0 || undefined
    })

  test('an open payment with a chargeback in a line is not reversed by its key', async () => {
    const reversals: string[] = []
    const id = await run.pay({
      debit: lose,
      reverseByKey: ({ key }) => {
        reversals.push(key)
        return { is: 'reversed' }
      },
    })
    await run.age(id)
    await run.imported([chargeback(id)])
    await until(async () => ((await run.kinds(id)).includes('undecided') ? true : undefined))
    assert.deepEqual(reversals, [])
    await run.operator.settle(id, 'approved', { by: 'ada', reason: 'it was charged' })
    const disputes = await until(async () => {
      await run.makeDue()
      const books = await run.booksOf(id)
      return books.disputes.length > 0 ? books.disputes : undefined
    })
    assert.deepEqual(disputes, ['chargeback 9200 9200'])
  })

  test('the authorisation of a capture is not released after a decline of the capture', async () => {
    const { id, open } = await withOpenCapture()
    await run.file(chargeback(open, { amount: '20.00' }))
    await putOff(open)
    const held = Promise.withResolvers<void>()
    onFaultPoint((point) => (point === 'before-settlement-effect' ? held.promise : undefined))
    await decline(open)
    await assert.rejects(release(id), waitsForOthers)
    assert.deepEqual((await run.booksOf(open)).effects, ['open'])
    held.resolve()
    // The decision made the line due: nothing else does here.
    await until(async () => (await run.booksOf(open)).disputes.length > 0 || undefined)
    await assert.rejects(release(id), waitsForOthers)
  })

  test('nor where the line could not be recorded', async () => {
    const { id, open } = await withOpenCapture()
    onFaultPoint((point) => {
      if (point === 'before-settlement-effect') throw new Error('a defect')
    })
    await run.file(chargeback(open, { amount: '20.00' }))
    await until(async () => {
      await run.makeDue()
      return String((await run.booksOf(open)).effects) === 'failed' || undefined
    })
    await decline(open)
    await assert.rejects(release(id), waitsForOthers)
  })

  test('the engine does not release the authorisation of a sale in two steps either', async () => {
    const reversals: string[] = []
    const sale = await run.pay(
      {
        capture: lose,
        enquire: busy,
        reverse: ({ key }) => {
          reversals.push(key)
          return { is: 'approved', refs: {} }
        },
      },
      { paymentType: 'PA.CP' },
    )
    const [{ id }] = (await run.sql<{ id: string }>(
      'select id from tollgate.payment where chain_id = $1',
      [sale],
    )) as [{ id: string }]
    await run.dueLater(sale)
    await run.file(chargeback(sale))
    await putOff(sale)
    const held = Promise.withResolvers<void>()
    onFaultPoint((point) => (point === 'before-settlement-effect' ? held.promise : undefined))
    await decline(sale)
    await until(async () => (await isTried(id, 3)) || reversals.length > 0 || undefined)
    held.resolve()
    assert.deepEqual(reversals, [])
  })
})
