/** An endpoint that was switched off while much waited for it hears again once it is switched on. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startGateway, type TestGateway, until } from '../../support/gateway.ts'
import { type Receiver, startReceiver } from '../../support/notification-receiver.ts'

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

test('after 410 with a queue in memory, the next event comes as soon as it is active', async () => {
  const { id, signingSecret } = await run.gateway.webhooks.create({
    url: shop.url,
    entityId: run.merchant,
    wrapper: 'NONE',
  })
  shop.trust({ secrets: [signingSecret!] })
  shop.behave('gone')
  // More than run at once: the others wait in memory when the first answer says 410.
  await Promise.all(Array.from({ length: 40 }, () => run.pay()))
  const off = await until(async () => {
    const endpoint = await run.gateway.webhooks.get(id)
    return endpoint.active === 'true' ? undefined : endpoint
  })
  assert.match(off.disabledReason ?? '', /410/)
  // What was under way is answered and written, too: it could switch the endpoint off again.
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
  }, 20_000)
})
