/**
 * Connections keep their first plan, and a new database was never analysed: the statements of the
 * group lane and of the dispatcher find rows by key at every size of their tables.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { byIndex } from '../../../core/db/lanes.ts'
import type { Sql } from '../../../core/db/sql.ts'
import { acceptScheduled, settleFirst } from '../../../core/payment/store-first.ts'
import { writeFired } from '../../../core/schedule/store-fire.ts'
import { writeOutcomes } from '../../../core/webhook/store-delivery.ts'
import { explainGeneric, type PlanNode } from '../../rig/explain.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { inScope, sampled } from '../../rig/scope.ts'

/** The rows of a growing table, which statements read by key. */
type Case = {
  readonly table: string
  readonly statement: Sql
  readonly fill: string
  /** Settings of the connection, if they differ from `byIndex`. */
  readonly settings?: Readonly<Record<string, string>>
}
const cases: readonly Case[] = [
  {
    table: 'attempt',
    statement: settleFirst.many([]),
    fill: `insert into tollgate.attempt (key, payment_id, kind, connector, state, lease_until)
      select gen_random_uuid()::text, gen_random_uuid(), 'debit', 'simulator', 'sending', now()
      from generate_series(1, $1)`,
  },
  {
    table: 'occurrence',
    statement: acceptScheduled.many([]),
    fill: `insert into tollgate.occurrence (id, schedule_id, at)
      select gen_random_uuid(), gen_random_uuid(), now()
      from generate_series(1, $1)`,
  },
  {
    table: 'delivery',
    statement: writeOutcomes([]),
    fill: `insert into tollgate.delivery (id, endpoint_id, event_id, kind, resource, seq, due_at, created_at)
      select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'PAYMENT', gen_random_uuid(), 1, now(), now()
      from generate_series(1, $1)`,
  },
  {
    table: 'schedule',
    statement: writeFired({ schedules: [], missed: [], events: [], executions: [], ended: [] }),
    settings: { plan_cache_mode: 'force_generic_plan' },
    fill: `insert into tollgate.schedule (id, channel_id, entity_id, merchant_id, registration_id, short_no, mode,
        payment_type, amount_minor, currency, zone, expression, job, request, created_at, next_at)
      select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 'LIVE',
        'DB', 100, 'EUR', 'UTC', '0 0 0 1 * ? *', '{}', '{}', now(), now()
      from generate_series(1, $1)`,
  },
]
const growing = Array.from({ length: 60 }, (_, step) => 25 * step)
const sizes = [...sampled(growing, 12), ...inScope([10_000], [10_000, 30_000])]

describe('plans', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  /** Uses a new connection, because an old one keeps the plan of a small index. */
  async function planOf(statement: Sql, settings: Case['settings'] = byIndex): Promise<PlanNode> {
    const client = new pg.Client({ connectionString: run.database.url })
    await client.connect()
    try {
      for (const [name, value] of Object.entries(settings)) {
        await client.query(`set ${name} = ${value}`)
      }
      return await explainGeneric(client, statement)
    } finally {
      await client.end()
    }
  }

  for (const { table, statement, fill, settings } of cases) {
    test(`${table}: rows are found by key, whatever the size of the table`, async () => {
      let stored = 0
      for (const size of sizes) {
        if (size > stored) await run.sql(fill, [size - stored])
        stored = size
        const reads = readsOf(await planOf(statement, settings), table)
        assert.notEqual(reads.length, 0)
        for (const read of reads) {
          assert.match(
            String(read['Index Cond'] ?? `no condition: ${read['Node Type']}`),
            /^\((key|id) = given(_\d)?\.\w+\)$/,
            `with ${size} rows`,
          )
        }
      }
    })
  }
})

/** The nodes of a plan that read a table. */
function readsOf(node: PlanNode, table: string): PlanNode[] {
  const below = ((node.Plans ?? []) as PlanNode[]).flatMap((inner) => readsOf(inner, table))
  const isRead =
    String(node['Relation Name']).startsWith(table) && String(node['Node Type']).includes('Scan')
  return isRead ? [node, ...below] : below
}
