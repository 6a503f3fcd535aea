/** One token cannot fill the audit trail, nor leave endpoints behind for ever. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { GatewayError } from '../../../core/index.ts'
import { SetupChanges } from '../../../core/process/setup-changes.ts'
import { purgeEndpoints } from '../../../core/webhook/store.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

const url = 'http://127.0.0.1:9/hook'

describe('changes of webhook endpoints', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  const rows = async (action: string) => {
    const found = await run.sql<{ n: number }>(
      'select count(*)::integer as n from tollgate.audit where action = $1',
      [action],
    )
    return found[0]!.n
  }

  test('an update that changes nothing has no row in the trail', async () => {
    const { id } = await run.gateway.webhooks.create({ entityId: run.channel, url })
    for (let no = 0; no < 3; no += 1) await run.gateway.webhooks.update(id, { url })
    assert.equal(await rows('webhook.changed'), 0)
    await run.gateway.webhooks.update(id, { wrapper: 'NONE' })
    assert.equal(await rows('webhook.changed'), 1)
    assert.equal((await run.gateway.webhooks.get(id)).wrapper, 'NONE')
  })

  test('a token makes so many changes in an hour, then it has to wait; others do not', async () => {
    const caller = { id: 'busy-token', entityId: run.channel }
    const { id } = await run.gateway.webhooks.create({ entityId: run.channel, url })
    const flip = (no: number, by = caller) =>
      run.gateway.webhooks.update(id, { active: no % 2 === 0 ? 'false' : 'true' }, { caller: by })
    for (let no = 0; no < limits.setupChangesPerToken; no += 1) await flip(no)
    await assert.rejects(flip(0), (error: unknown) => {
      assert.ok(error instanceof GatewayError)
      assert.deepEqual([error.code, error.status], ['800.120.100', 429])
      assert.ok(error.retryAfterSeconds! > 3000 && error.retryAfterSeconds! <= 3600)
      return true
    })
    await flip(0, { id: 'another-token', entityId: run.channel })
  })

  test('the count begins anew after its time', () => {
    let nowMs = 0
    const changes = new SetupChanges({ elapsedMs: () => nowMs })
    const caller = { id: 'token', entityId: 'x' }
    for (let no = 0; no < limits.setupChangesPerToken; no += 1) changes.count(caller)
    assert.throws(() => changes.count(caller), GatewayError)
    nowMs = limits.setupChangesMs
    changes.count(caller)
    for (let no = 0; no < 1000; no += 1) changes.count({ id: 'embedder', entityId: null })
  })

  test('removed endpoints are purged once their log is gone', async () => {
    const ids: string[] = []
    for (let no = 0; no < 4; no += 1) {
      ids.push((await run.gateway.webhooks.create({ entityId: run.merchant, url })).id)
    }
    const [old, told, recent, kept] = ids
    for (const id of [old!, told!, recent!]) await run.gateway.webhooks.remove(id)
    await run.sql(
      `update tollgate.webhook_endpoint set removed_at = now() - interval '91 days' where id = any($1)`,
      [[old, told]],
    )
    await run.sql(
      `insert into tollgate.delivery (id, endpoint_id, kind, resource, seq, state, due_at, created_at)
       values (gen_random_uuid(), $1, 'PAYMENT', gen_random_uuid(), 1, 'delivered', now(), now())`,
      [told],
    )
    const database = new Database({ url: run.database.url })
    try {
      const lanes = new Lanes(database, { single: 1, read: 1 })
      const purged = await lanes.single(purgeEndpoints(limits.deliveryDays, 100))
      assert.deepEqual(purged, [{ id: old }])
    } finally {
      await database.close()
    }
    for (const id of [told!, recent!, kept!]) await run.gateway.webhooks.get(id)
    const queued = await run.sql('select from tollgate.webhook_queue where endpoint_id = $1', [old])
    assert.equal(queued.length, 0)
  })
})
