/** The feed and a webhook agree in content, id and sequence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, until } from '../../rig/gateway.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'
import { scheduling } from '../../rig/schedules.ts'

test('the feed and the notifications of an endpoint agree', async () => {
  const shop = await startReceiver()
  const run = await startGateway()
  try {
    const { signingSecret, encryptionKey } = await run.gateway.webhooks.create({
      url: shop.url,
      entityId: run.merchant,
      types: 'PAYMENT,REGISTRATION,SCHEDULE',
    })
    shop.trust({ secrets: [signingSecret!], key: encryptionKey })
    const payment = await run.pay({ paymentType: 'PA', createRegistration: 'true' })
    await run.gateway.payments.capture(payment.id, { amount: '12.00', currency: 'EUR' })
    const tools = scheduling(run)
    const registration = await tools.store()
    const schedule = await tools.schedule(registration)
    await run.gateway.schedules.cancel(schedule.id)
    await run.gateway.registrations.update(registration, {
      entityId: run.channel,
      card: { expiryMonth: '06', expiryYear: '2035' },
    } as never)
    await run.gateway.registrations.remove(registration)
    await olderTransactionsEnd(run)
    const events = await until(async () => {
      const { events } = await run.gateway.events.list({ limit: '100' })
      return events.length >= 8 ? events : undefined
    })
    assert.deepEqual(
      events.map(({ type, action = '', sequence }) => `${type} ${action} ${sequence}`),
      [
        'PAYMENT  1',
        'REGISTRATION CREATED 1',
        'PAYMENT  1',
        'REGISTRATION CREATED 1',
        'SCHEDULE CREATED 1',
        'SCHEDULE DELETED 2',
        'REGISTRATION UPDATED 2',
        'REGISTRATION DELETED 3',
      ],
    )
    await until(async () => (shop.received.length >= events.length ? true : undefined))
    const heard = new Map(shop.received.map((one) => [one.id, one]))
    for (const { id, sequence, at: _at, ...notification } of events) {
      const one = heard.get(id)
      assert.equal(one?.problem, undefined)
      assert.equal(one?.sequence, sequence)
      assert.deepEqual(one?.notification?.type, notification.type)
      assert.deepEqual(one?.notification?.action, notification.action)
      assert.equal(one?.notification?.payload.id, notification.payload.id)
    }
    assert.equal(heard.size, events.length)
  } finally {
    await run.close()
    await shop.close()
  }
})
