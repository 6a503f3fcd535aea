/** A notification that cannot be written is put aside, and its endpoint gets the others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, until } from '../../rig/gateway.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'

test('a notification that cannot be written is given up and listed once, and its endpoint gets all others', async () => {
  const shop = await startReceiver()
  const run = await startGateway({ role: 'api' })
  try {
    const { id: endpoint, signingSecret } = await run.gateway.webhooks.create({
      entityId: run.merchant,
      url: shop.url,
      wrapper: 'NONE',
    })
    shop.trust({ secrets: [signingSecret!] })
    const before = await run.pay()
    const broken = await run.pay()
    const after = await run.pay()
    // A value that no version of the engine writes.
    await run.sql(`update tollgate.payment set currency = 'ZZZ' where id = $1`, [broken.id])
    await run.another({ role: 'worker' })
    const told = (await shop.atLeast(2)).map(({ notification }) => notification!.payload.id)
    assert.deepEqual(told.toSorted(), [before.id, after.id].toSorted())
    const [dead] = await until(async () => {
      const rows = await run.sql<{ reason: string; attempts: number }>(
        `select reason, attempts from tollgate.delivery where state = 'dead'`,
      )
      return rows.length > 0 ? rows : undefined
    })
    assert.deepEqual(dead, { reason: 'it cannot be told', attempts: 0 })
    const listed = await run.gateway.attention()
    assert.deepEqual(
      listed.map(({ kind, payment_id, detail }) => [kind, payment_id, detail.why, detail.resource]),
      [['event', null, 'a notification cannot be told', broken.id]],
    )
    assert.equal(listed[0]?.detail.endpoint, endpoint)
  } finally {
    await run.close()
    await shop.close()
  }
})
