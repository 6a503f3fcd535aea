/** Files that correct earlier ones, or come in parts: what counts, and what operators are told. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  batchLine,
  type Cells,
  type SettlingRun,
  settled,
  settlementFile,
  startSettling,
} from '../../rig/settlement.ts'

describe('settlement files that correct others', () => {
  let run: SettlingRun
  before(async () => {
    run = await startSettling()
  })
  after(() => run.close())

  let last = 0
  const reference = () => `F-${++last}`
  const taken = (lines: readonly Cells[], name: string) =>
    run.taken(settlementFile(lines, { reference: name }))
  const amounts = async (batch: string) => {
    const rows = await run.sql<{ minor: string; discrepancies: string[] }>(
      `select amount_minor::text as minor, discrepancies from tollgate.settlement_record
       where batch = $1 order by amount_minor`,
      [batch],
    )
    return rows.map(({ minor, discrepancies }) => [minor, ...discrepancies])
  }
  const entryOf = async (id: string, kind: string) => {
    const rows = await run.gateway.operator.attention(1000)
    return rows.find(
      ({ detail }) => detail.file === id && (detail.kind ?? detail.exception) === kind,
    )?.detail
  }

  test('have lines without an id about the same payment: these are CHANGED, and count once', async () => {
    const name = reference()
    const line = settled({ batch: 'C-1', mtid: 'order-1' })
    await taken([line, settled({ batch: 'C-1', mtid: 'order-2', amount: '10.00' })], name)
    const second = await taken(
      [{ ...line, amount: '29.00' }, settled({ batch: 'C-1', mtid: 'order-2', amount: '10.00' })],
      name,
    )
    assert.deepEqual(await amounts('C-1'), [['1000'], ['9200', 'CHANGED']])
    assert.equal((await entryOf(second, 'FILE_CHANGED'))?.count, undefined)
    assert.equal((await entryOf(second, 'CHANGED'))?.count, 1)
  })

  test('keep equal lines apart, and add a line that is only new', async () => {
    const name = reference()
    const part = (amount: string) => settled({ batch: 'C-2', mtid: 'order-3', amount })
    await taken([part('40.00'), part('52.00')], name)
    const second = await taken([part('40.00'), part('52.00'), part('7.00')], name)
    assert.deepEqual(await amounts('C-2'), [['700'], ['4000'], ['5200']])
    assert.deepEqual((await entryOf(second, 'FILE_CHANGED'))?.lines, [5])
  })

  test('have lines that name nothing: operators see which lines count beside the earlier ones', async () => {
    const name = reference()
    await taken([settled({ batch: 'C-3' })], name)
    const second = await taken([settled({ batch: 'C-3', amount: '29.00' })], name)
    assert.equal((await amounts('C-3')).length, 2)
    const entry = await entryOf(second, 'FILE_CHANGED')
    assert.deepEqual([entry?.lines, entry?.count], [[3], 1])
    assert.match(String(entry?.do), /counts twice/)
  })

  test('of another reference have an equal line without an id: it counts once, and is listed', async () => {
    const lines = [settled({ batch: 'C-4' }), batchLine('adjustment', '5.00', { batch: 'C-4' })]
    await taken(lines, reference())
    const second = await taken(
      [...lines, batchLine('payout', '87.00', { batch: 'C-4' })],
      reference(),
    )
    assert.equal((await amounts('C-4')).length, 1)
    const file = await run.gateway.settlement.file(second)
    assert.deepEqual(
      file.exceptions?.map(({ kind, line }) => [kind, line]),
      [
        ['REPEATED', 3],
        ['REPEATED', 4],
      ],
    )
    assert.equal((await entryOf(second, 'REPEATED'))?.count, 2)
  })
})
