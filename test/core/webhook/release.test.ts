/** A process releases endpoints in one statement; each keeps its wake time and its state. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from '../../../core/db/database.ts'
import { newId } from '../../../core/index.ts'
import { claimQueues, releaseQueues, takeQueue } from '../../../core/webhook/store-queue.ts'
import { startGateway } from '../../rig/gateway.ts'

const hour = 3_600_000

test("endpoints released together wake at their own times, and other processes' endpoints stay", async () => {
  const run = await startGateway({ role: 'api' })
  const database = new Database({ url: run.database.url })
  const pool = database.pool(1, 'test')
  const now = new Date()
  const at = (hours: number) => new Date(now.getTime() + hours * hour)
  const [me, other] = [newId(), newId()]
  const [content, soon, late, failing, repaired, woken, foreign] = Array.from({ length: 7 }, newId)
  const all = [content, soon, late, failing, repaired, woken, foreign] as string[]
  try {
    for (const id of all) {
      await run.sql('insert into tollgate.webhook_queue (endpoint_id) values ($1)', [id])
      const taken = await database.run(pool, takeQueue(id, id === foreign ? other : me, now))
      assert.equal(taken.length, 1)
    }
    await run.sql(
      'update tollgate.webhook_queue set failures = 3, probe_at = $1 where endpoint_id = any($2)',
      [at(3), [failing, repaired]],
    )
    // The pause of this one is over, and nothing waits for it.
    await run.sql('update tollgate.webhook_queue set probe_at = $1 where endpoint_id = $2', [
      at(-1),
      content,
    ])
    // New notifications arrived while these were owned.
    await run.sql('update tollgate.webhook_queue set wake_at = $1 where endpoint_id = any($2)', [
      now,
      [woken, failing],
    ])
    const asleep = { woken: false, wake_at: null }
    const rows = [
      { ...asleep, endpoint_id: late!, wake_at: at(2) },
      { ...asleep, endpoint_id: content! },
      { ...asleep, endpoint_id: foreign!, wake_at: at(5) },
      { ...asleep, endpoint_id: failing!, wake_at: at(3) },
      { ...asleep, endpoint_id: repaired!, woken: true, wake_at: now },
      { ...asleep, endpoint_id: soon!, wake_at: at(1) },
      { ...asleep, endpoint_id: woken!, wake_at: at(4) },
    ]
    await database.run(pool, releaseQueues(me, rows))

    const found = await run.sql<{ id: string; owner: string; wake_at: Date; failures: number }>(
      `select endpoint_id as id, owner, wake_at, failures from tollgate.webhook_queue`,
    )
    const of = (id: string | undefined) => {
      const row = found.find((each) => each.id.replaceAll('-', '') === id)!
      return { free: row.owner === null, wakeAt: row.wake_at, failures: row.failures }
    }
    assert.deepEqual(of(content), { free: true, wakeAt: null, failures: 0 })
    assert.deepEqual(of(soon), { free: true, wakeAt: at(1), failures: 0 })
    assert.deepEqual(of(late), { free: true, wakeAt: at(2), failures: 0 })
    assert.deepEqual(of(failing), { free: true, wakeAt: at(3), failures: 3 })
    assert.deepEqual(of(repaired), { free: true, wakeAt: now, failures: 3 })
    assert.deepEqual(of(woken), { free: true, wakeAt: now, failures: 0 })
    assert.deepEqual(of(foreign), { free: false, wakeAt: null, failures: 0 })

    const due = async (hours: number) =>
      (await database.run(pool, claimQueues(at(hours), at(9), 10))).map((row) =>
        row.endpoint_id.replaceAll('-', ''),
      )
    assert.deepEqual((await due(0)).toSorted(), [repaired!, woken!].toSorted())
    assert.deepEqual(await due(1), [soon])
    assert.deepEqual((await due(3)).toSorted(), [late!, failing!].toSorted())
  } finally {
    await database.close()
    await run.close()
  }
})
