/** A notification taken by a process with a fast clock is due for all processes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../core/clock.ts'
import { startGateway, until } from '../../rig/gateway.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'

test('a notification taken by a process an hour ahead is due at once for the others', async () => {
  const shop = await startReceiver({ mode: () => {} })
  const ahead = { ...systemClock, realMs: () => systemClock.realMs() + 3_600_000 }
  const run = await startGateway({ clock: ahead })
  try {
    const entityId = run.merchant
    await run.gateway.webhooks.create({ entityId, url: shop.url, wrapper: 'NONE' })
    const notificationUrl = `${shop.url}/own`
    const { id } = await run.pay({ notificationUrl })
    const rows = await until(async () => {
      const found = await run.sql<{ kind: string; state: string; due: boolean }>(
        `select kind, state, due_at <= now() as due from tollgate.delivery where resource = $1 order by kind`,
        [id],
      )
      return found.length === 2 ? found : undefined
    })
    // The endpoint is unreachable, so the rows stay as they were taken.
    assert.deepEqual(rows, [
      { kind: 'CALLBACK', state: 'pending', due: true },
      { kind: 'PAYMENT', state: 'pending', due: true },
    ])
  } finally {
    await run.close()
    await shop.close()
  }
})
