/** Notifications of an endpoint that was disabled or changed during a delivery. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'

describe('an endpoint that changes during a delivery', () => {
  let run: TestGateway
  let shop: Receiver

  before(async () => {
    shop = await startReceiver()
    run = await startGateway()
  })
  after(async () => {
    await run.close()
    await shop.close()
  })

  test('after a 410 with queued notifications, the next event is sent as soon as the endpoint is active', async () => {
    const { id, signingSecret } = await run.gateway.webhooks.create({
      url: shop.url,
      entityId: run.merchant,
      wrapper: 'NONE',
    })
    shop.trust({ secrets: [signingSecret!] })
    shop.behave('gone')
    // More than run at once, so that others wait in memory at the first 410.
    await Promise.all(Array.from({ length: 40 }, () => run.pay()))
    const off = await until(async () => {
      const endpoint = await run.gateway.webhooks.get(id)
      return endpoint.active === 'true' ? undefined : endpoint
    })
    assert.match(off.disabledReason ?? '', /410/)
    // Running deliveries end too, and could disable the endpoint again.
    await until(async () => {
      const [row] = await run.sql<{ tries: bigint; open: bigint }>(
        `select (select count(*) from tollgate.delivery_attempt) as tries,
         (select count(*) from tollgate.delivery where state = 'pending') as open`,
      )
      return row!.open === 0n && row!.tries === BigInt(shop.received.length) ? true : undefined
    })
    shop.behave('ok')
    await run.gateway.webhooks.update(id, { active: 'true' })
    const payment = await run.pay()
    const told = await shop.first(
      ({ notification }) => notification?.payload.id === payment.id,
      20_000,
    )
    assert.equal(told.accepted, true)
    const { replayed } = await run.gateway.webhooks.replay(id, {
      from: '2020-01-01 00:00:00',
      which: 'DEAD',
    })
    assert.ok(Number(replayed) > 0)
    await until(async () => {
      const [row] = await run.sql<{ open: bigint }>(
        `select count(*) as open from tollgate.delivery where state <> 'delivered'`,
      )
      return row!.open === 0n ? true : undefined
    })
  })

  test('a 410 to a notification sent before a change of the endpoint does not disable it', async () => {
    const held: (() => void)[] = []
    const old = await startReceiver({
      mode: (_received, response) => void held.push(() => response.writeHead(410).end()),
    })
    try {
      const { id } = await run.gateway.webhooks.create({ url: old.url, entityId: run.merchant })
      const triesOf = async () => {
        const rows = await run.sql<{ status: number }>(
          `select a.status from tollgate.delivery_attempt a
         join tollgate.delivery d on d.id = a.delivery_id where d.endpoint_id = $1`,
          [id],
        )
        return rows.map(({ status }) => status)
      }
      await run.pay()
      await old.atLeast(1)
      const moved = await startReceiver()
      try {
        await run.gateway.webhooks.update(id, { url: moved.url })
        // This event brings the change to the sender.
        await run.pay()
        await moved.atLeast(1)
        for (const answer of held) answer()
        await until(async () => ((await triesOf()).includes(410) ? true : undefined))
        await run.pay()
        await moved.atLeast(2)
        assert.equal((await run.gateway.webhooks.get(id)).active, 'true')
      } finally {
        await moved.close()
      }
    } finally {
      await old.close()
    }
  })
})
