/** Pages, sums and files are read by their indexes, however many other records there are. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import type { Sql } from '../../../core/db/sql.ts'
import { lowestId } from '../../../core/ids.ts'
import { batchesOf, sumsOf } from '../../../core/report/store-aggregation.ts'
import { sourcesWithNews, versionsOf } from '../../../core/report/store-cut.ts'
import { recordsOf, runsOf } from '../../../core/report/store-page.ts'
import { explainGeneric, type PlanNode } from '../../rig/explain.ts'
import { inScope } from '../../rig/scope.ts'
import { type ReportRun, startReports } from './report-run.ts'

describe('statements of reports', () => {
  let run: ReportRun
  let client: pg.Client
  let batch: { id: string; scope_id: string; name: string; currency: string }
  before(async () => {
    run = await startReports()
    const lines = Array.from({ length: inScope(4_000, 20_000) }, (_, at) => ({
      ...{ settlementId: `S-${at}`, batch: `payout-${at % 20}`, date: `2026-03-${10 + (at % 2)}` },
    }))
    await run.file(lines)
    await run.sql('vacuum analyze tollgate.settlement_record')
    client = new pg.Client({ connectionString: run.database.url })
    await client.connect()
    ;[batch] = (await run.sql<typeof batch>(
      'select id, scope_id, name, currency from tollgate.settlement_batch order by name limit 1',
    )) as [typeof batch]
  })
  after(async () => {
    await client.end()
    await run.close()
  })

  /** Indexes of a plan, and tables that it reads whole. */
  const readBy = async (statement: Sql): Promise<{ indexes: string[]; whole: string[] }> => {
    const nodes: PlanNode[] = []
    const visit = (node: PlanNode) => {
      nodes.push(node)
      for (const inner of (node.Plans as PlanNode[] | undefined) ?? []) visit(inner)
    }
    visit(await explainGeneric(client, statement))
    const texts = (name: string, of: readonly PlanNode[]) => [
      ...new Set(of.flatMap((node) => (node[name] === undefined ? [] : [String(node[name])]))),
    ]
    const scans = nodes.filter((node) => node['Node Type'] === 'Seq Scan')
    return { indexes: texts('Index Name', nodes), whole: texts('Relation Name', scans) }
  }
  const isByIndex = async (statement: Sql, index: string) => {
    const { indexes, whole } = await readBy(statement)
    assert.ok(indexes.includes(index), `by index: ${indexes}; whole: ${whole}`)
    assert.ok(!whole.includes('settlement_record'), whole.join())
  }

  test('pages and their number come from the index of pages', async () => {
    const own = [run.channel]
    const slice = {
      day: '2026-03-10',
      entityId: run.channel,
      afterId: lowestId,
      skip: 0,
      take: 100,
    }
    await isByIndex(runsOf(batch, own, null), 'settlement_record_page')
    await isByIndex(runsOf(batch, own, 'FEE'), 'settlement_record_page')
    await isByIndex(recordsOf(batch, null, [slice]), 'settlement_record_page')
    await isByIndex(recordsOf(batch, 'SETTLED', [slice]), 'settlement_record_page')
  })

  test('sums come from the index of pages', async () => {
    await isByIndex(sumsOf([batch.id], [run.channel]), 'settlement_record_page')
    const wanted = {
      from: '2026-03-01',
      to: '2026-03-31',
      currency: 'EUR',
      mode: 'EXTERNAL',
    } as const
    const after = { day: '0001-01-01', id: lowestId }
    const { whole } = await readBy(batchesOf([run.channel], [run.merchant], wanted, after, 501))
    assert.ok(!whole.includes('settlement_record'), whole.join())
  })

  test('new versions come from the index of their source', async () => {
    const source = { scopeId: batch.scope_id, entityId: run.channel }
    const beginning = { txid: '0', recordId: lowestId }
    await isByIndex(
      versionsOf(source, beginning, beginning, '9000000000', 2_000),
      'settlement_record_report',
    )
    const series = { entityId: run.merchant, clockId: null }
    await isByIndex(sourcesWithNews(series, beginning, null), 'settlement_record_report')
  })
})
