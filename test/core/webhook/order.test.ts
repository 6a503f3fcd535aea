/**
 * A busy endpoint gets its notifications oldest first: new ones do not overtake those waiting in
 * the database.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { startGateway, until } from '../../rig/gateway.ts'
import { type Answer, startReceiver } from '../../rig/notification-receiver.ts'

test('events that arrive while memory is full follow all waiting ones', async () => {
  const held: ServerResponse[] = []
  let taken = 0
  const hold: Answer = (_, response) => {
    if (taken > 0) response.writeHead(200).end()
    else held.push(response)
    taken = Math.max(0, taken - 1)
  }
  /** Accepts that many: the held ones, then new ones. */
  const take = (count: number) => {
    const now = held.splice(0, count)
    taken = count - now.length
    for (const response of now) response.writeHead(200).end()
  }
  const shop = await startReceiver({ mode: hold })
  const run = await startGateway()
  try {
    const { signingSecret } = await run.gateway.webhooks.create({
      entityId: run.merchant,
      url: shop.url,
      wrapper: 'NONE',
    })
    shop.trust({ secrets: [signingSecret!] })
    const pay = async (count: number) => {
      const paid = await Promise.all(Array.from({ length: count }, () => run.pay()))
      await until(async () =>
        (await run.sql('select event_id from tollgate.outbox limit 1')).length === 0
          ? true
          : undefined,
      )
      return new Set(paid.map(({ id }) => id))
    }
    const old = await pay(limits.webhooksWaiting + 80)
    // Some memory is free, but too little for a refill from the database.
    take(20)
    await until(async () => {
      const rows = await run.sql(`select id from tollgate.delivery where state = 'delivered'`)
      return rows.length === 20 ? true : undefined
    })
    const fresh = await pay(5)
    take(Number.POSITIVE_INFINITY)
    const told = (await shop.atLeast(old.size + fresh.size, 20_000)).map(
      ({ notification }) => notification!.payload.id,
    )
    assert.equal(new Set(told).size, old.size + fresh.size)
    const before = told.findIndex((id) => fresh.has(id))
    const least = old.size - limits.webhooksPerEndpoint
    assert.ok(before >= least, `only ${before} of ${old.size} were sent before a newer one`)
  } finally {
    await run.close()
    await shop.close()
  }
})
