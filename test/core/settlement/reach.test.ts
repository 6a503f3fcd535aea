/** Whose lines a file can bring: callers below a psp, accounts that come later, readings that fail. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SettlementItem } from '@tollgate/plugin-kit'
import { rightSet } from '../../../core/caller/rights.ts'
import { until } from '../../rig/gateway.ts'
import {
  type Cells,
  type SettlingRun,
  sampleSettlement,
  settled,
  settlementFile,
  settlingAcquirer,
  startSettling,
  streamed,
} from '../../rig/settlement.ts'

describe('the reach of a settlement file', () => {
  let run: SettlingRun
  let other: { readonly merchant: string; readonly account: string }
  /** The reader of files fails. */
  let isBroken = false
  before(async () => {
    async function* parse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SettlementItem> {
      for await (const item of sampleSettlement.parse(bytes)) {
        if (isBroken && item.is === 'record') throw new TypeError('a change of the connector')
        yield item.is === 'end' ? { is: 'end' } : item
        if (item.is !== 'record' || item.descriptor !== 'with a fee') continue
        const amount = { minor: 10n, currency: 'EUR' }
        yield {
          ...item,
          ...{ recordType: 'FEE', transactionType: 'AUTH_FEE', cashflow: 'NEG' },
          ...{ amount, settled: amount },
        }
      }
    }
    run = await startSettling({ acquirer: settlingAcquirer({ parse }) })
    const { entities } = run.gateway
    const parentId = run.division
    const merchant = await entities.create({ kind: 'merchant', name: 'B', parentId })
    const channelId = await entities.create({ kind: 'channel', name: 'B', parentId: merchant })
    const connector = run.acquirer.plugin.connectors![0]!.name
    const account = await entities.createAccount({
      ...{ channelId, connector, mode: 'EXTERNAL' },
      settings: { merchantNumber: 'MID-B0001' },
    })
    other = { merchant, account }
  })
  after(() => run.close())

  const callerB = () =>
    ({ id: 'token', entityId: other.merchant, rights: rightSet(['reconcile']) }) as never
  let last = 0
  const fresh = (more: Cells = {}) => settled({ id: `R-${++last}`, ...more })
  const fileOf = (id: string) => run.gateway.settlement.file(id)
  const done = (id: string, least: number) =>
    until(async () => {
      const file = await fileOf(id)
      return file.state === 'done' && file.records >= least ? file : undefined
    })
  const entriesOf = async (id: string) => {
    const rows = await run.gateway.operator.attention(1000)
    return rows.flatMap(({ detail }) =>
      detail.file === id ? [detail.kind ?? detail.exception] : [],
    )
  }

  test('is the entity of the caller, also when the caller has it read again', async () => {
    const bytes = settlementFile([fresh(), fresh({ merchant: 'MID-B0001' })])
    const caller = callerB()
    const imported = await run.gateway.settlement.import(streamed(bytes), {
      accountId: other.account,
      caller,
    })
    const { records, exceptions } = await fileOf((await done(imported.id, 1)).id)
    assert.equal(records, 1)
    assert.deepEqual(
      exceptions?.map(({ kind, why }) => [kind, why]),
      [['UNKNOWN_ACCOUNT', 'no account of the importer has the merchant number MID-00001']],
    )
    await run.gateway.settlement.rerun(imported.id, { caller, reason: 'again' })
    assert.equal((await done(imported.id, 1)).records, 1)
    // The same bytes from above bring the rest.
    const again = await run.gateway.settlement.import(streamed(bytes), { accountId: run.account })
    assert.deepEqual([again.id, again.isRepeat], [imported.id, false])
    assert.equal((await done(imported.id, 2)).exceptionCount, 0)
  })

  test('leaves out a number that other merchants share', async () => {
    const connector = run.acquirer.plugin.connectors![0]!.name
    const channelId = await run.gateway.entities.create({
      ...{ kind: 'channel', name: 'B2', parentId: other.merchant },
    })
    const accountId = await run.gateway.entities.createAccount({
      ...{ channelId, connector, mode: 'EXTERNAL' },
      settings: { merchantNumber: 'MID-00001' },
    })
    await assert.rejects(
      run.gateway.settlement.import(streamed(settlementFile([fresh()])), {
        accountId,
        caller: callerB(),
      }),
      { code: '200.300.404' },
    )
  })

  test('grows with an account: the same bytes are read again, and their entry ends', async () => {
    const bytes = settlementFile([fresh(), fresh({ merchant: 'MID-LATER' })])
    const { id } = await run.gateway.settlement.import(streamed(bytes), { accountId: run.account })
    await done(id, 1)
    assert.deepEqual((await entriesOf(id)).sort(), ['NOT_MATCHED', 'UNKNOWN_ACCOUNT'])
    const repeat = await run.gateway.settlement.import(streamed(bytes), { accountId: run.account })
    assert.equal(repeat.isRepeat, true)
    const { account } = await run.addAccount('MID-LATER')
    const again = await run.gateway.settlement.import(streamed(bytes), { accountId: account })
    assert.deepEqual([again.id, again.isRepeat], [id, false])
    assert.equal((await done(id, 2)).exceptionCount, 0)
    assert.ok(!(await entriesOf(id)).includes('UNKNOWN_ACCOUNT'))
  })

  test('stays when a reading fails: the file is done, and the failure is listed', async () => {
    const bytes = settlementFile([fresh()])
    const { id } = await run.gateway.settlement.import(streamed(bytes), { accountId: run.account })
    await done(id, 1)
    isBroken = true
    await run.gateway.settlement.rerun(id, { reason: 'again' })
    await until(async () => ((await entriesOf(id)).includes('RERUN_REFUSED') ? true : undefined))
    const file = await done(id, 1)
    assert.deepEqual([file.refused, (await entriesOf(id)).includes('REFUSED')], [undefined, false])
    isBroken = false
    await run.gateway.settlement.rerun(id, { reason: 'mended' })
    await until(async () => ((await entriesOf(id)).includes('RERUN_REFUSED') ? undefined : true))
  })

  test('has both records of a line that yields two', async () => {
    const bytes = settlementFile([fresh({ descriptor: 'with a fee' }), fresh()])
    const { id } = await run.gateway.settlement.import(streamed(bytes), { accountId: run.account })
    await done(id, 3)
    const rows = await run.sql(
      'select line, record_type from tollgate.settlement_record where file_id = $1 order by line, record_type',
      [id],
    )
    assert.deepEqual(rows, [
      { line: 2, record_type: 'FEE' },
      { line: 2, record_type: 'SETTLED' },
      { line: 3, record_type: 'SETTLED' },
    ])
  })
})
