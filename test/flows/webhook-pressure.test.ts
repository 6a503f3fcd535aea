/**
 * When more endpoints wait than a process has room for, events stay in the database and none is
 * forgotten.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { lowestIdAt } from '../../core/ids.ts'
import { startGateway, type TestGateway } from '../rig/gateway.ts'
import { startReceiver } from '../rig/notification-receiver.ts'

/** Longer than the usual interval between looks for events. */
const longMs = 180_000

/** A merchant and a channel of another PSP, hidden from the other endpoints. */
async function elsewhere({ gateway: { entities } }: TestGateway) {
  const psp = await entities.create({ kind: 'psp', name: 'Quiet' })
  const division = await entities.create({ kind: 'division', name: 'Quiet', parentId: psp })
  const merchant = await entities.create({ kind: 'merchant', name: 'Quiet', parentId: division })
  return entities.create({ kind: 'channel', name: 'Quiet', parentId: merchant })
}

test('claims pause while endpoints lack room, and overdue notifications are sent once there is some', async () => {
  const held: ServerResponse[] = []
  let isTaking = false
  const shop = await startReceiver({
    mode: (_, response) => {
      if (isTaking) response.writeHead(200).end()
      else held.push(response)
    },
  })
  const quiet = await startReceiver()
  const run = await startGateway({ role: 'api' })
  try {
    const channel = await elsewhere(run)
    const { webhooks } = run.gateway
    const plain = { wrapper: 'NONE' } as const
    const ways = [run.psp, run.division, run.merchant, run.channel]
    await Promise.all(
      ways
        .flatMap((entityId) => Array<string>(limits.webhooksPerEntity).fill(entityId))
        .map((entityId) => webhooks.create({ entityId, url: shop.url, ...plain })),
    )
    const { signingSecret } = await webhooks.create({
      entityId: channel,
      url: quiet.url,
      ...plain,
    })
    quiet.trust({ secrets: [signingSecret!] })
    // Two for each of four hundred endpoints: for seconds more wait than have room.
    await Promise.all([run.pay(), run.pay()])
    await run.another({ role: 'worker' })
    await shop.atLeast(limits.webhooksFast)
    const [old, late] = [await run.pay({ entityId: channel }), await run.pay({ entityId: channel })]
    await run.sql(
      `with e as (update tollgate.event set id = $1 where resource = $2)
       update tollgate.outbox set event_id = $1 where resource = $2`,
      [lowestIdAt(Date.now() - longMs), old.id],
    )
    // Hanging endpoints have released their places: a second has passed, and with it two looks for
    // events.
    await shop.atLeast(2 * limits.webhooksFast)
    const waiting = await run.sql<{ resource: string }>('select resource from tollgate.outbox')
    assert.deepEqual(waiting.map(({ resource }) => resource).sort(), [old.id, late.id].sort())
    assert.equal(quiet.received.length, 0)

    isTaking = true
    for (const response of held) response.writeHead(200).end()
    // Far sooner than the next full look, twice a minute.
    for (const { id } of [late, old]) {
      await quiet.first(({ notification }) => notification?.payload.id === id)
    }
  } finally {
    await run.close()
    await shop.close()
    await quiet.close()
  }
})
