/** The delivery log is dropped by month after its time, and never with a waiting notification. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { dropDeliveries } from '../../../core/webhook/store.ts'
import { startGateway } from '../../rig/gateway.ts'

const idOf = (month: number) =>
  `${Date.UTC(2020, month, 20).toString(16).padStart(12, '0')}70008000000000000000`

test('expired months are dropped whole, except one with a waiting notification', async () => {
  // A worker would drop the months itself.
  const run = await startGateway({ role: 'api' })
  const database = new Database({ url: run.database.url })
  try {
    await run.sql(`select tollgate.create_partitions('2020-01-15', 2)`)
    const states = ['delivered', 'pending']
    for (const [month, state] of states.entries()) {
      await run.sql(
        `insert into tollgate.delivery (id, endpoint_id, kind, resource, seq, state, due_at, created_at)
         values ($1, gen_random_uuid(), 'PAYMENT', gen_random_uuid(), 1, $2, now(), now())`,
        [idOf(month), state],
      )
      await run.sql(
        `insert into tollgate.delivery_attempt (id, delivery_id, at, duration_ms, request)
         values ($1, $1, now(), 1, '{}')`,
        [idOf(month)],
      )
    }
    const lanes = new Lanes(database, { single: 1, read: 1 })
    const [first] = await lanes.single(dropDeliveries(90))
    assert.equal(first!.dropped, 3)
    const left = await run.sql<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relname ~ '^delivery.*_2020_' order by 1`,
    )
    assert.deepEqual(
      left.map(({ name }) => name),
      ['delivery_2020_02'],
    )
    await run.sql(`update tollgate.delivery set state = 'dead' where id = $1`, [idOf(1)])
    const [second] = await lanes.single(dropDeliveries(90))
    assert.equal(second!.dropped, 1)
  } finally {
    await database.close()
    await run.close()
  }
})
