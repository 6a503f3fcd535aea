/** Notifications are part of the steps. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'

describe('steps of webhook deliveries', () => {
  let run: TestGateway
  let receiver: Receiver
  before(async () => {
    run = await startGateway()
    receiver = await startReceiver({ mode: 'fail' })
    for (const [entityId, path] of [
      [run.merchant, 'own'],
      [run.psp, 'above'],
    ] as const) {
      await run.gateway.webhooks.create({ entityId, url: `${receiver.url}${path}` } as never)
    }
  })
  after(async () => {
    await run.close()
    await receiver.close()
  })

  const notifications = async (id: string, caller?: { id: string; entityId: string }) => {
    const { steps } = await run.gateway.payments.steps(id, caller === undefined ? {} : { caller })
    return steps.filter(
      ({ name, outcome }) => name === 'notification' || outcome === 'notification',
    )
  }

  test('the steps show each attempt of each notification and the pending ones', async () => {
    const { id } = await run.pay()
    const found = await until(async () => {
      const told = await notifications(id)
      return told.length === 4 ? told : undefined
    })
    assert.deepEqual(found.map(({ name, outcome }) => `${name} ${outcome}`).sort(), [
      'notification failed',
      'notification failed',
      'waits notification',
      'waits notification',
    ])
    const [tried] = found
    assert.match(tried!.text, /^PAYMENT to http:\/\/127\.0\.0\.1:\d+\/(own|above): HTTP 500$/)
    assert.ok((tried!.durationUs ?? -1) >= 0)
    assert.equal(tried!.sent?.['headers.webhook-sequence'], '1')
    assert.doesNotMatch(JSON.stringify(found), /v1,|whsec_/)
  })

  test('the steps show a merchant none of the notifications to others', async () => {
    const { id } = await run.pay()
    await until(async () => ((await notifications(id)).length === 4 ? true : undefined))
    const told = await notifications(id, { id: 'merchant', entityId: run.merchant })
    assert.equal(told.length, 2)
    assert.ok(told.every(({ text }) => text.includes('/own')))
  })

  test('operators can read the steps of one notification by its id', async () => {
    const { id } = await run.pay()
    const [first] = await until(async () => {
      const told = await notifications(id)
      return told.length === 4 ? told : undefined
    })
    const inspected = await run.gateway.inspect(first!.about!)
    assert.ok('steps' in inspected)
    assert.equal(inspected.kind, 'delivery')
    assert.equal(inspected.facts.of, id)
    assert.deepEqual(
      inspected.steps.map(({ name }) => name),
      ['notification', 'waits'],
    )
  })
})
