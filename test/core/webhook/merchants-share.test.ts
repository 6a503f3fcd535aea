/** Slow endpoints of one merchant do not hold up the notifications of others. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { startGateway, until } from '../../rig/gateway.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'
import { setLimits } from '../../rig/set-limits.ts'

test('while endpoints of a merchant hang, wherever they belong below it, those of others are told', async (context) => {
  const share = 4
  context.after(
    setLimits({
      ...{ webhooksFast: 8, webhooksRunning: 8, webhooksRunningPerMerchant: share },
      ...{ webhooksStarved: 6, webhooksStarvedPerMerchant: 3 },
      ...{ webhooksInMemory: 16, webhooksInMemoryPerMerchant: 4 },
    }),
  )
  const held: ServerResponse[] = []
  let isTaking = false
  const slow = await startReceiver({
    mode: (_, response) => {
      if (isTaking) response.writeHead(200).end()
      else held.push(response)
    },
  })
  const [above, quiet] = [await startReceiver(), await startReceiver()]
  const run = await startGateway()
  try {
    const { entities, webhooks } = run.gateway
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Quiet',
      parentId: run.division,
    })
    const channel = await entities.create({ kind: 'channel', name: 'Quiet', parentId: merchant })
    const plain = { wrapper: 'NONE' } as const
    for (const entityId of [run.merchant, run.channel]) {
      for (let no = 0; no < 6; no += 1) await webhooks.create({ entityId, url: slow.url, ...plain })
    }
    for (const [entityId, receiver] of [
      [run.division, above],
      [channel, quiet],
    ] as const) {
      const { signingSecret } = await webhooks.create({ entityId, url: receiver.url, ...plain })
      receiver.trust({ secrets: [signingSecret!] })
    }
    const tells = (receiver: typeof quiet, id: string) =>
      receiver.first(({ notification }) => notification?.payload.id === id, 20_000)

    // Merchants share once there are two.
    await tells(quiet, (await run.pay({ entityId: channel })).id)
    const notificationUrl = `${slow.url}callback`
    const paid = [await run.pay({ notificationUrl }), await run.pay({ notificationUrl })]
    await until(async () => (held.length === share ? true : undefined))
    for (const { id } of paid) await tells(above, id)
    for (let no = 0; no < 3; no += 1) {
      const { id } = await run.pay({ entityId: channel })
      await tells(quiet, id)
    }
    assert.equal(held.length, share)

    isTaking = true
    for (const response of held) response.writeHead(200).end()
    // Each of twelve endpoints two, and the callbacks.
    await slow.atLeast(2 * 12 + 2, 20_000)
  } finally {
    await run.close()
    for (const receiver of [slow, above, quiet]) await receiver.close()
  }
})
