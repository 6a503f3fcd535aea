/** Reports of a merchant number that several merchants share: whose money a record is, also when that changes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assign } from '../../../core/settlement/assign.ts'
import { type ReportRun, type Row, startReports } from './report-run.ts'

const by = { by: 'alice', reason: 'agreed with the bank' }

describe('records of a shared merchant number', () => {
  let run: ReportRun
  let other: { readonly merchant: string; readonly channel: string }
  before(async () => {
    run = await startReports()
    other = await run.merchantWith('merchant-1')
  })
  after(() => run.close())

  const pay = async (reference: string, more: object = {}) =>
    (await run.pay({ testMode: 'EXTERNAL', merchantTransactionId: reference, ...more })).id
  const recordOf = async (settlementId: string) => {
    const [row] = await run.sql<{ id: string; entity_id: string; tier: string | null }>(
      'select id, entity_id, tier from tollgate.settlement_record where settlement_id = $1',
      [settlementId],
    )
    return row!
  }
  /** The last row of each record in the files of an entity, as a reader keeps them. */
  const rowsOf = async (entityId: string) => {
    const rows = new Map<string, Row>()
    for (const file of await run.files(entityId)) {
      for (const row of await run.rowsOf(file)) rows.set(row.SettlementTxId!, row)
    }
    return rows
  }

  test('belong to the lowest entity above the payments that an operator assigns', async () => {
    await run.forget()
    const channel = await run.gateway.entities.create({
      ...{ kind: 'channel', name: 'second', parentId: other.merchant },
    })
    const connector = run.acquirer.plugin.connectors![0]!.name
    await run.gateway.entities.createAccount({
      ...{ channelId: channel, connector, mode: 'EXTERNAL' },
      settings: { number: 'merchant-1' },
    })
    const own = await pay('order-a-1', { amount: '47.11' })
    const two = [
      await pay('order-b-1', { amount: '30.00', entityId: other.channel }),
      await pay('order-b-2', { amount: '17.11', entityId: channel }),
    ]
    await run.file([{ settlementId: 'r', minor: 4711n, merchantTransactionId: 'order-a-1' }])
    await run.sql("update tollgate.settlement_record set match_status = 'MULTIPLE_MATCHES'")
    const { id } = await recordOf('r')
    await assign(run.engine, id, two, by)
    assert.equal((await recordOf('r')).entity_id, other.merchant)
    assert.notEqual(own, id)
  })
  const guess = { last4: '0000', brand: 'VISA' }

  test('that are guesses stay above the merchants', async () => {
    await run.forget()
    const id = await pay('order-guess-1', { amount: '48.11' })
    await run.file([{ settlementId: 'g', minor: 4811n, ...guess }])
    const guessed = await recordOf('g')
    assert.deepEqual([guessed.tier, guessed.entity_id], ['composite', run.division])
    await run.file([{ settlementId: 'certain', minor: 4811n, paymentId: id }])
    await run.again()
    await run.cut()
    assert.deepEqual([...(await rowsOf(run.merchant)).keys()], ['certain'])
    assert.equal((await rowsOf(run.division)).get('g')?.MatchingStatus, 'NOT_MATCHED')
  })

  test('have no account of the file they came with', async () => {
    await run.forget()
    await run.file([{ settlementId: 'n', minor: 4911n }])
    await run.cut()
    const row = (await rowsOf(run.division)).get('n')
    assert.deepEqual([row?.MerchantAccountId, row?.MerchantAccountName], ['', ''])
  })

  test('that leave a merchant are taken out of its files by a last row', async () => {
    await run.forget()
    const foreign = await pay('order-move-2', { amount: '50.11', entityId: other.channel })
    await run.file([
      { settlementId: 'm', minor: 5011n, fee: 100n, holder: 'Jane', merchantTransactionId: 'x' },
      { settlementId: 'stays', minor: 5012n },
    ])
    await run.cut()
    assert.equal((await rowsOf(run.division)).get('m')?.SettlementAmount, '50.11')
    await assign(run.engine, (await recordOf('m')).id, [foreign], by)
    await run.cut()
    const [left, has] = [await rowsOf(run.division), await rowsOf(other.merchant)]
    assert.deepEqual([has.get('m')?.SettlementAmount, has.get('m')?.UniqueID], ['50.11', foreign])
    const row = left.get('m')!
    assert.deepEqual(
      [row.Amount, row.SettlementAmount, row.SettlementFee, row.MatchingStatus, row.DivisionId],
      ['0.00', '0.00', '0.00', 'NOT_MATCHED', run.division],
    )
    for (const column of ['UniqueID', 'MatchedTransactions', 'MerchantId', 'AccountHolder']) {
      assert.equal(row[column], '', column)
    }
    assert.equal(left.get('stays')?.SettlementAmount, '50.12')
    assert.deepEqual(await run.cut(), [])
    const files = await run.files(run.division)
    assert.equal((await run.rowsOf(files[1]!)).length, 1)
  })

  test('are in no file of an entity that had them only before its first file', async () => {
    await run.forget()
    const foreign = await pay('order-move-3', { amount: '52.11', entityId: other.channel })
    await run.file([{ settlementId: 'm', minor: 5211n }])
    await assign(run.engine, (await recordOf('m')).id, [foreign], by)
    assert.equal((await run.cut()).length, 1)
    assert.deepEqual(await run.files(run.division), [])
  })
})
