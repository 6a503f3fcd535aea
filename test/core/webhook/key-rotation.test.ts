/** The encryption key of an endpoint changes while its receiver has the old or the new one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { systemClock, type WebhookView } from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { decrypt, type Receiver, startReceiver } from '../../rig/notification-receiver.ts'

type Shop = {
  readonly run: TestGateway
  readonly receiver: Receiver
  readonly endpoint: WebhookView
  later(ms: number): void
}

/** A receiver that accepts exactly the notifications its present keys open. */
async function inShop(keys: string[], work: (shop: Shop) => Promise<void>): Promise<void> {
  let aheadMs = 0
  const run = await startGateway({
    clock: { ...systemClock, realMs: () => systemClock.realMs() + aheadMs },
  })
  const receiver = await startReceiver({
    mode: ({ headers, body }, response) => {
      const opens = keys.some((key) => {
        try {
          return decrypt(headers, Buffer.from(body), key).length > 0
        } catch {
          return false
        }
      })
      response.writeHead(opens ? 200 : 400).end()
    },
  })
  try {
    const endpoint = await run.gateway.webhooks.create({
      entityId: run.merchant,
      url: receiver.url,
      types: 'PAYMENT',
    } as never)
    keys.push(endpoint.encryptionKey!)
    const later = (ms: number) => {
      aheadMs += ms
    }
    await work({ run, receiver, endpoint, later })
  } finally {
    await run.close()
    await receiver.close()
  }
}

const rotate = async ({ run, endpoint }: Shop) => {
  const rotated = await run.gateway.webhooks.rotate(endpoint.id, {}, { key: 'ENCRYPTION' })
  assert.match(rotated.encryptionKey ?? '', /^[0-9a-f]{64}$/)
  assert.notEqual(rotated.encryptionKey, endpoint.encryptionKey)
  assert.equal(rotated.signingSecret, undefined, 'the secret stays and is not shown')
  assert.ok(rotated.previousKeyUntil !== undefined && rotated.previousSecretUntil === undefined)
  return rotated.encryptionKey!
}

const delivered = ({ run, endpoint }: Shop, count: number) =>
  until(async () => {
    const { deliveries } = await run.gateway.webhooks.deliveries(endpoint.id)
    const done = deliveries.filter(({ state }) => state === 'DELIVERED')
    return done.length === count ? deliveries : undefined
  })

test('a receiver with the old key alone gets everything without delay until the day is over', () => {
  const keys: string[] = []
  return inShop(keys, async (shop) => {
    await rotate(shop)
    for (let no = 0; no < 3; no += 1) await shop.run.pay()
    for (const { attempts } of await delivered(shop, 3)) assert.equal(attempts.length, 1)
  })
})

test("a receiver with the new key alone is sent the new key's messages from the second attempt on", () => {
  const keys: string[] = []
  return inShop(keys, async (shop) => {
    const fresh = await rotate(shop)
    keys.splice(0, keys.length, fresh)
    await shop.run.pay()
    await shop.receiver.atLeast(1)
    await until(async () => {
      const { deliveries } = await shop.run.gateway.webhooks.deliveries(shop.endpoint.id)
      return deliveries[0]?.attempts.length === 1 ? true : undefined
    })
    shop.later(7_000)
    const [one] = await delivered(shop, 1)
    assert.deepEqual(
      one?.attempts.map(({ httpStatus }) => httpStatus),
      [400, 200],
    )
    // The sender remembers the working key.
    await shop.run.pay()
    const [next] = await delivered(shop, 2)
    assert.equal(next?.attempts.length, 1)
  })
})

test('a test uses the new key, and after a day all messages do', () => {
  const keys: string[] = []
  return inShop(keys, async (shop) => {
    const fresh = await rotate(shop)
    const { run, endpoint } = shop
    assert.equal((await run.gateway.webhooks.test(endpoint.id)).httpStatus, 400)
    keys.push(fresh)
    assert.equal((await run.gateway.webhooks.test(endpoint.id)).httpStatus, 200)
    keys.splice(0, keys.length, fresh)
    shop.later(limits.webhookRotationMs + 1_000)
    await run.pay()
    const [one] = await delivered(shop, 1)
    assert.equal(one?.attempts.length, 1)
    assert.equal((await run.gateway.webhooks.get(endpoint.id)).previousKeyUntil, undefined)
  })
})

test('secret and key can be rotated at once without losing either previous one', () => {
  const keys: string[] = []
  return inShop(keys, async (shop) => {
    const { run, endpoint, receiver } = shop
    const secret = await run.gateway.webhooks.rotate(endpoint.id)
    const fresh = await rotateBoth(shop)
    assert.ok(fresh.previousSecretUntil !== undefined && fresh.previousKeyUntil !== undefined)
    await run.pay()
    const [got] = await receiver.atLeast(1)
    assert.equal(got?.headers['webhook-signature']?.split(' ').length, 2)
    await delivered(shop, 1)
    assert.notEqual(secret.signingSecret, endpoint.signingSecret)
  })
})

const rotateBoth = ({ run, endpoint }: Shop) =>
  run.gateway.webhooks.rotate(endpoint.id, {}, { key: 'ENCRYPTION' })
