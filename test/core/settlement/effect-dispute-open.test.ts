/** A settlement line with a chargeback of a payment whose outcome is not known. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '../../rig/gateway.ts'
import { lose } from '../../rig/late-words.ts'
import { chargeback, type EffectRun, startEffects } from './effect-run.ts'

describe('a chargeback in a line about an open payment', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

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
})
