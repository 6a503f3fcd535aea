/**
 * Later events of a resource have the feed order of their insertion, so firing inserts them in
 * sequence.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from '../../../core/db/database.ts'
import { newId } from '../../../core/index.ts'
import { writeFired } from '../../../core/schedule/store-fire.ts'
import { startGateway } from '../../rig/gateway.ts'

test('events of one firing are inserted in the order of their resources', async () => {
  const run = await startGateway({ role: 'api' })
  const database = new Database({ url: run.database.url })
  try {
    const [one, other] = [newId(), newId()]
    const event = (resource: string, seq: number) => ({
      id: newId(),
      resource,
      seq,
      channel_id: run.channel,
      type: 'schedule.missed',
      data: {},
    })
    const events = [4, 2, 3].flatMap((seq) => [event(one, seq), event(other, seq)])
    const fired = { schedules: [], executions: [], missed: [], events, ended: [] }
    await database.run(database.pool(1, 'test'), writeFired(fired))
    for (const resource of [one, other]) {
      const rows = await run.sql<{ seq: number }>(
        'select seq from tollgate.event where resource = $1 order by ctid',
        [resource],
      )
      assert.deepEqual(
        rows.map(({ seq }) => seq),
        [2, 3, 4],
      )
    }
  } finally {
    await database.close()
    await run.close()
  }
})
