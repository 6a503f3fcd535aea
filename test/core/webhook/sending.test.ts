import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { WebhookView } from '../../../core/index.ts'
import { encryptBody, encryptionKey } from '../../../core/vault/webhook-keys.ts'
import { startGateway } from '../../rig/gateway.ts'
import { decrypt, startReceiver } from '../../rig/notification-receiver.ts'

test('the encrypted body matches the known answer, both ways', () => {
  const key = '000102030405060708090a0b0c0d0e0f'.repeat(2)
  const { body, iv, tag } = encryptBody(encryptionKey(key), '{"type":"PAYMENT"}', Buffer.alloc(12))
  assert.equal(body, '0A3471C72D9BE49A8520F79C66BBD9A12FF9')
  assert.equal(iv, '000000000000000000000000')
  assert.equal(tag, 'CE573FB7A41AB78E743180DC83FF09BD')
  const headers = { 'x-initialization-vector': iv, 'x-authentication-tag': tag }
  assert.equal(decrypt(headers, Buffer.from(body), key).toString(), '{"type":"PAYMENT"}')
})

describe('a notification', () => {
  for (const wrapper of ['TEXT', 'JSON', 'NONE'] as const) {
    test(`a notification with wrapper ${wrapper} holds the payment's answer, and its signature covers the bytes sent`, async () => {
      const run = await startGateway()
      const receiver = await startReceiver()
      try {
        const endpoint = await run.gateway.webhooks.create({
          entityId: run.merchant,
          url: receiver.url,
          wrapper,
        } as never)
        const key = wrapper === 'NONE' ? undefined : endpoint.encryptionKey
        receiver.trust({ secrets: [endpoint.signingSecret!], key })
        const paid = await run.pay()
        const [got] = await receiver.atLeast(1)
        assert.equal(got?.method, 'POST')
        const type = wrapper === 'TEXT' ? /^text\/plain/ : /^application\/json/
        assert.match(got?.headers['content-type'] ?? '', type)
        assert.equal(got?.problem, undefined)
        const told = got!.notification!
        assert.equal(told.type, 'PAYMENT')
        assert.equal('action' in told, false)
        const { nextActions: _, ndc, ...answer } = paid
        const { presentationAmount, presentationCurrency, ndc: own, ...payload } = told.payload
        assert.deepEqual(payload, answer)
        assert.notEqual(own, ndc)
        assert.deepEqual([presentationAmount, presentationCurrency], ['92.00', 'EUR'])
        new Webhook(endpoint.signingSecret!).verify(got!.body, got!.headers, { jsonParse: false })
        assert.equal(got?.sequence, 1)
        assert.match(got?.id ?? '', /^[0-9a-f]{32}$/)
      } finally {
        await run.close()
        await receiver.close()
      }
    })
  }
})

test("during a secret's rotation both secrets sign, a day later only the new one", async () => {
  const run = await startGateway()
  const receiver = await startReceiver()
  try {
    const made = await run.gateway.webhooks.create({
      entityId: run.channel,
      url: receiver.url,
    } as never)
    const rotated: WebhookView = await run.gateway.webhooks.rotate(made.id)
    assert.notEqual(rotated.signingSecret, made.signingSecret)
    assert.equal(rotated.encryptionKey, undefined)
    await run.pay()
    const [got] = await receiver.atLeast(1)
    for (const secret of [made.signingSecret!, rotated.signingSecret!]) {
      new Webhook(secret).verify(got!.body, got!.headers, { jsonParse: false })
    }
    await run.sql(
      `update tollgate.webhook_endpoint set previous_until = now() - interval '1 second', version = version + 1`,
    )
    await run.pay()
    const [, later] = await receiver.atLeast(2)
    const verify = (secret: string) =>
      new Webhook(secret).verify(later!.body, later!.headers, { jsonParse: false })
    verify(rotated.signingSecret!)
    assert.throws(() => verify(made.signingSecret!), /No matching signature/)
  } finally {
    await run.close()
    await receiver.close()
  }
})
