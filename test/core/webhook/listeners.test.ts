/** Payments are told to webhooks of their own entities, and cost nothing for webhooks of others. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

describe('a payment with webhooks in its installation', () => {
  let run: TestGateway
  let otherMerchant: string
  const made: string[] = []

  before(async () => {
    // Without workers, rows of the outbox stay.
    run = await startGateway({ role: 'api' })
    otherMerchant = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
  })
  after(() => run.close())
  afterEach(async () => {
    for (const id of made.splice(0)) await run.gateway.webhooks.remove(id)
    await run.sql('delete from tollgate.outbox')
  })

  const listen = async (entityId: string) => {
    const { id } = await run.gateway.webhooks.create({
      entityId,
      url: 'https://example.com/notifications',
      wrapper: 'NONE',
    })
    made.push(id)
  }
  const waiting = async (ids: readonly string[]) => {
    const rows = await run.sql<{ id: string }>(
      "select distinct replace(resource::text, '-', '') as id from tollgate.outbox",
    )
    return ids.filter((id) => rows.some((row) => row.id === id)).length
  }
  /** One payment by itself, then several in one commit. */
  const pay = async () => {
    const alone = await run.pay()
    const together = await Promise.all(Array.from({ length: 20 }, () => run.pay()))
    return [alone, ...together].map(({ id }) => id)
  }

  for (const level of ['psp', 'division', 'merchant', 'channel'] as const) {
    test(`waits for the webhook of its ${level}`, async () => {
      await listen(run[level])
      const ids = await pay()
      assert.equal(await waiting(ids), ids.length)
    })
  }

  test('waits for no webhook of another merchant', async () => {
    await listen(otherMerchant)
    assert.equal(await waiting(await pay()), 0)
  })

  test('waits for any webhook where this process does not know the entities above it', async (t) => {
    await listen(otherMerchant)
    t.mock.property(limits, 'tokenCacheMs', 0)
    const ids = await pay()
    assert.equal(await waiting(ids), ids.length)
  })
})
