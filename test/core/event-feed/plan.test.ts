/** A client that waits for events costs the same, however many events there are. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { channelsWithNews } from '../../../core/event-feed/store.ts'
import { lowestId } from '../../../core/ids.ts'
import { explainGeneric, type PlanNode } from '../../rig/explain.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

const events = 20_000

describe('a look for news of clients that wait', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
    await run.pay()
    await run.sql(
      `insert into tollgate.event (id, resource, seq, channel_id, type, data)
       select gen_random_uuid(), resource, 1, channel_id, type, data
       from (select * from tollgate.event limit 1) one, generate_series(1, ${events})`,
    )
    await run.sql('analyze tollgate.event')
  })
  after(() => run.close())

  test('reads no event that its channels have seen', async () => {
    const [newest] = await run.sql<{ txid: string; seq: number; id: string }>(
      'select txid::text as txid, seq, id::text as id from tollgate.event order by txid desc, seq desc, id desc limit 1',
    )
    const client = new pg.Client({ connectionString: run.database.url })
    await client.connect()
    try {
      const statement = channelsWithNews([run.channel], [newest!], lowestId)
      const plan = await explainGeneric(client, statement, ['analyze'])
      const rows = nodesOf(plan).reduce(
        (sum, node) =>
          sum +
          Number(node['Actual Loops']) *
            (Number(node['Actual Rows']) +
              Number(node['Rows Removed by Filter'] ?? 0) +
              Number(node['Rows Removed by Join Filter'] ?? 0)),
        0,
      )
      assert.ok(rows < 100, `${rows} rows`)
    } finally {
      await client.end()
    }
  })
})

const nodesOf = (node: PlanNode): PlanNode[] => [
  node,
  ...((node.Plans ?? []) as PlanNode[]).flatMap(nodesOf),
]
