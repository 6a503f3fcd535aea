/** The cost of matching grows with lines plus payments, never with their product. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type pg from 'pg'
import { lowestId } from '../../../core/ids.ts'
import { askNames, findNames, nameKinds } from '../../../core/settlement/match/store-named.ts'
import { hashJoins, planNew } from '../../../core/settlement/match/store-work.ts'
import { runOf } from '../../../core/settlement/run.ts'
import { scopeById } from '../../../core/settlement/store-scope.ts'
import { explainGeneric, type PlanNode } from '../../rig/explain.ts'
import { type MatchingRun, startMatching } from './matching-run.ts'

const lines = 500
const payments = 3_000

describe('the statement that finds payments by references', () => {
  let run: MatchingRun
  before(async () => {
    run = await startMatching()
    const { id } = await run.pay({ testMode: 'EXTERNAL' })
    await run.sql(
      `insert into tollgate.payment
       select (jsonb_populate_record(payment, jsonb_build_object('id', gen_random_uuid(), 'short_no', short_no + number,
         'merchant_transaction_id', 'order-' || number))).*
       from tollgate.payment, generate_series(1, ${payments}) as number
       where id = $1`,
      [id],
    )
    await run.sql('analyze tollgate.payment')
  })
  after(() => run.close())

  test('compares names before it joins lines with the payments of their merchant', async () => {
    const { engine } = run
    const fileId = await run.stage(
      Array.from({ length: lines }, (_, at) => ({
        settlementId: `line-${at}`,
        merchantTransactionId: `order-${at}`,
        refs: [`ref-${at}`],
      })),
    )
    const [scope] = await engine.lanes.upkeep(scopeById(await run.scope()))
    const over = { id: fileId, scopes: [scope!.id], over: 'new' as const }
    const settlement = { zone: 'UTC', refs: ['reference', 'second', 'third'] }
    const { places, refs } = await runOf(engine, over, scope!, settlement)
    const ids = { after: lowestId, upTo: 'f'.repeat(32) }
    const all = { after: 0, upTo: lines }
    const plan = await engine.lanes.bulk(async (client) => {
      const { lanes } = engine
      for (const step of [planNew(fileId, 'UTC', all, [], 0), hashJoins, askNames(fileId, all)]) {
        await lanes.database.query(client, step as typeof hashJoins)
      }
      const statement = findNames(fileId, places, refs, nameKinds, ids)
      return explainGeneric(client as pg.Client, statement, ['analyze'])
    })
    const rows = nodesOf(plan).map(
      (node) =>
        Number(node['Actual Loops']) *
        (Number(node['Actual Rows']) + Number(node['Rows Removed by Join Filter'] ?? 0)),
    )
    assert.ok(Math.max(...rows) > lines, 'the lines have their payments')
    assert.ok(Math.max(...rows) < 10 * (lines + payments), JSON.stringify(rows))
  })
})

const nodesOf = (node: PlanNode): PlanNode[] => [
  node,
  ...((node.Plans as PlanNode[] | undefined) ?? []).flatMap(nodesOf),
]
