/** Decided records, and the reports of them. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Registry } from '../../../core/connector/registry.ts'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import type { Engine } from '../../../core/engine.ts'
import { type ReportForm, reportBytes, reportFile } from '../../../core/report/open.ts'
import { reconciliationColumns } from '../../../schemas/index.ts'
import { freshSimulator } from '../../rig/gateway.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'
import { type MatchingRun, startMatching } from '../settlement/matching-run.ts'

/** Cells of a row by column. */
export type Row = Readonly<Record<string, string>>

export type ReportRun = MatchingRun & {
  /**
   * Waits for the end of all transactions that the cluster has now. Files wait for older transactions, and
   * tests beside this one share the cluster.
   */
  olderTransactionsEnd(): Promise<void>
  /** Makes report files now, and returns their ids. */
  cut(): Promise<string[]>
  bytesOf(fileId: string, form?: ReportForm): Promise<Buffer>
  rowsOf(fileId: string): Promise<Row[]>
  /** Ids of all files of a series by number. */
  files(entityId?: string, clockId?: string | null): Promise<string[]>
  /** Another process, without jobs. */
  anotherEngine(): { readonly engine: Engine; close(): Promise<void> }
  /** An account of another merchant with this number. */
  merchantWith(number: string): Promise<{ readonly merchant: string; readonly channel: string }>
}

export async function startReports(): Promise<ReportRun> {
  const run = await startMatching()
  const { lanes } = run.engine
  const bytesOf = async (fileId: string, form: ReportForm = 'guarded') => {
    const file = await reportFile({ lanes }, fileId, form)
    assert.ok(file !== undefined, `there is no report file ${fileId}`)
    const parts: Buffer[] = []
    for await (const part of reportBytes({ lanes }, file, form)) parts.push(part)
    const bytes = Buffer.concat(parts)
    assert.equal(bytes.length, file.bytes)
    assert.ok(createHash('sha256').update(bytes).digest().equals(file.sha256))
    return bytes
  }
  return {
    ...run,
    bytesOf,
    olderTransactionsEnd: () => olderTransactionsEnd(run),
    cut: async () => {
      await olderTransactionsEnd(run)
      return (await run.gateway.reports.cut()).map(({ id }) => id)
    },
    rowsOf: async (fileId) => rowsIn((await bytesOf(fileId)).toString()),
    files: async (entityId = run.merchant, clockId = null) => {
      const rows = await run.sql<{ id: string; no: number }>(
        `select id, no from tollgate.report_file
         where entity_id = $1 and clock_id is not distinct from $2 order by no`,
        [entityId, clockId],
      )
      assert.deepEqual(
        rows.map(({ no }) => no),
        rows.map((_, at) => at + 1),
      )
      return rows.map(({ id }) => id)
    },
    anotherEngine: () => {
      const database = new Database({ url: run.database.url })
      const others = new Lanes(database, { single: 2, read: 2 })
      const registry = new Registry([freshSimulator(), run.acquirer.plugin], {})
      const engine = { lanes: others, registry } as unknown as Engine
      return { engine, close: () => database.close() }
    },
    merchantWith: async (number) => {
      const { entities } = run.gateway
      const merchant = await entities.create({
        kind: 'merchant',
        name: number,
        parentId: run.division,
      })
      const channel = await entities.create({ kind: 'channel', name: number, parentId: merchant })
      const connector = run.acquirer.plugin.connectors![0]!.name
      await entities.createAccount({
        channelId: channel,
        connector,
        mode: 'EXTERNAL',
        settings: { number },
      })
      return { merchant, channel }
    },
    forget: async () => {
      await run.forget()
      await run.sql(`truncate tollgate.report_series, tollgate.report_source, tollgate.report_file,
        tollgate.report_part, tollgate.report_draft, tollgate.report_departure`)
      await run.sql("delete from tollgate.timer where kind = 'report-cut'")
    },
  }
}

/** Rows of a file without quoted cells. */
export function rowsIn(text: string): Row[] {
  assert.ok(!text.includes('"'), 'a cell has quotes: read the file by a reader of RFC 4180')
  assert.ok(text.endsWith('\r\n'))
  const [header, ...lines] = text.slice(0, -2).split('\r\n')
  assert.equal(header, reconciliationColumns.join(';'))
  return lines.map((line) => {
    const cells = line.split(';')
    assert.equal(cells.length, reconciliationColumns.length)
    return Object.fromEntries(reconciliationColumns.map((column, at) => [column, cells[at]!]))
  })
}
