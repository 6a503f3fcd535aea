/**
 * Test notifications: few at once, cancelled without a waiting client, and no scan of local ports.
 */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import type { Engine } from '../../../core/engine.ts'
import { type Caller, GatewayError, systemClock } from '../../../core/index.ts'
import { createOutgoing } from '../../../core/net/http.ts'
import { newEncryptionKey, newSigningSecret } from '../../../core/vault/webhook-keys.ts'
import { sendNotification } from '../../../core/webhook/attempt.ts'
import { keysOf } from '../../../core/webhook/endpoints.ts'
import { createHost } from '../../../host/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'

const silent = { debug() {}, info() {}, warn() {} }

const endpointsOf = (run: TestGateway, receiver: Receiver, count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, no) => {
      const made = await run.gateway.webhooks.create({
        entityId: run.merchant,
        url: `${receiver.url}${no}`,
      } as never)
      return made.id
    }),
  )

const tooMany = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof GatewayError, String(error))
  assert.deepEqual([error.code, error.status], ['800.120.100', 429])
  assert.match(error.message, words)
  assert.ok((error.retryAfterSeconds ?? 0) >= 1)
  return true
}

describe('tests of webhook endpoints', () => {
  test('tests run one at a time for an endpoint and three for a token, and other requests continue', async () => {
    const run = await startGateway()
    const receiver = await startReceiver({ mode: 'hang' })
    try {
      const ids = await endpointsOf(run, receiver, 5)
      const callerOf = async (name: string): Promise<Caller> =>
        run.gateway.authenticate(
          `Bearer ${(await run.gateway.entities.createToken(run.merchant, name)).token}`,
        )
      const [caller, another] = [await callerOf('one'), await callerOf('two')]
      const send = (no: number, by = caller) => run.gateway.webhooks.test(ids[no]!, { caller: by })
      const running = [0, 1, 2].map((no) => send(no))
      await receiver.atLeast(3)
      await assert.rejects(send(0), tooMany(/a test of this webhook endpoint is still running/))
      await assert.rejects(send(0, another), tooMany(/this webhook endpoint/))
      await assert.rejects(send(3), tooMany(/3 tests of this access token/))
      running.push(send(3, another))
      await receiver.atLeast(4)
      // The hanging test was cancelled, so there is room again.
      receiver.behave('ok')
      for (const tried of await Promise.all(running)) assert.equal(tried.delivered, false)
      assert.equal((await send(0)).delivered, true)
      assert.equal((await send(4)).delivered, true)
    } finally {
      await run.close()
      await receiver.close()
    }
  })

  test('a test ends when its client leaves, and its connection closes', async () => {
    const run = await startGateway({ role: 'api' })
    const receiver = await startReceiver({ mode: 'hang' })
    const host = await createHost(run.gateway, { port: 0, log: silent }).listen()
    try {
      const [id] = await endpointsOf(run, receiver, 1)
      const { token } = await run.gateway.entities.createToken(run.merchant, 'test')
      const client = request(`${host.url}/v1/webhooks/${id}/test`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
      })
      client.on('error', () => {})
      client.end()
      await receiver.atLeast(1)
      assert.equal(receiver.open, 1)
      client.destroy()
      await until(async () => (receiver.open === 0 ? true : undefined))
      receiver.behave('ok')
      await until(async () =>
        run.gateway.webhooks.test(id!).then(
          ({ delivered }) => delivered,
          () => undefined,
        ),
      )
    } finally {
      await host.close()
      await run.close()
      await receiver.close()
    }
  })
})

describe('webhook URLs on this machine', () => {
  test("Tollgate's own ports stay closed in every spelling, for new and existing endpoints", async () => {
    const receiver = await startReceiver()
    const port = Number(new URL(receiver.url).port)
    const exceptPorts: number[] = []
    const run = await startGateway({ allowLoopbackForMerchants: { exceptPorts } })
    try {
      const [id] = await endpointsOf(run, receiver, 1)
      assert.equal((await run.gateway.webhooks.test(id!)).delivered, true)
      exceptPorts.push(port)
      for (const host of ['127.0.0.1', 'localhost', '127.1', '[::1]', '0x7f000001']) {
        for (const protocol of ['http', 'https']) {
          const url = `${protocol}://${host}:${port}/`
          await assert.rejects(
            run.gateway.webhooks.create({ entityId: run.merchant, url } as never),
            (error: GatewayError) =>
              error.parameterErrors[0]?.name === 'url' &&
              error.parameterErrors[0].message.includes(
                `must not lead to port ${port} of this machine, which belongs to the gateway or its database`,
              ),
            url,
          )
        }
      }
      assert.equal((await run.gateway.webhooks.test(id!)).error, 'refused-address')
      assert.equal(receiver.received.length, 1)
    } finally {
      await run.close()
      await receiver.close()
    }
  })

  test('a refused connection, a name that nobody knows and a failed handshake are named', async () => {
    const receiver = await startReceiver()
    const run = await startGateway({ allowLoopbackForMerchants: true })
    try {
      const [id] = await endpointsOf(run, receiver, 1)
      const told = async (url: string) => {
        await run.gateway.webhooks.update(id!, { url })
        return (await run.gateway.webhooks.test(id!)).error ?? ''
      }
      assert.match(
        await told(receiver.url.replace('http:', 'https:')),
        /^not-sent: TLS failed \([A-Z0-9_]+\)$/,
      )
      assert.match(
        await told('https://nobody.invalid/'),
        /^not-sent: name not found \((ENOTFOUND|EAI_AGAIN)\)$/,
      )
      const { url } = receiver
      await receiver.close()
      assert.equal(await told(url), 'not-sent: connection refused (ECONNREFUSED)')
    } finally {
      await run.close()
    }
  })

  test('loopback is closed by default although connectors may reach it, and always on live', async () => {
    const receiver = await startReceiver()
    const run = await startGateway({ allowLoopback: true, allowLoopbackForMerchants: false })
    try {
      await assert.rejects(endpointsOf(run, receiver, 1), (error: GatewayError) =>
        /https/.test(error.parameterErrors[0]?.message ?? ''),
      )
      await run.pay({ notificationUrl: receiver.url })
      await until(async () => {
        const rows = await run.sql<{ error: string }>('select error from tollgate.delivery_attempt')
        return rows[0]?.error === 'refused-address' ? true : undefined
      })
      assert.equal(receiver.received.length, 0)
    } finally {
      await run.close()
      await receiver.close()
    }
  })

  test('only the status is shown, so a test or the log reveals no other local service', async () => {
    const secret = 'the answer of an inner service'
    const receiver = await startReceiver({
      mode: (_, response) => void response.writeHead(418).end(secret),
    })
    const run = await startGateway()
    try {
      const [id] = await endpointsOf(run, receiver, 1)
      const { httpStatus, answer } = await run.gateway.webhooks.test(id!)
      assert.deepEqual([httpStatus, answer], [418, undefined])
      await run.pay()
      const shown = await until(async () => {
        const log = await run.gateway.webhooks.deliveries(id!)
        return log.deliveries[0]?.attempts[0] === undefined ? undefined : log
      })
      assert.equal(shown.deliveries[0]?.attempts[0]?.httpStatus, 418)
      const kept = await run.sql('select answer from tollgate.delivery_attempt')
      assert.doesNotMatch(JSON.stringify([shown, kept]), new RegExp(secret))
    } finally {
      await run.close()
      await receiver.close()
    }
  })

  /** What is kept of an answer with this body. */
  async function answerKept(body: string) {
    const receiver = await startReceiver({
      mode: (_, response) => void response.writeHead(418).end(body),
    })
    const toMerchants = createOutgoing({ name: 'test', allowLoopback: true })
    try {
      const secrets = { encryptionKey: newEncryptionKey(), signingSecret: newSigningSecret() }
      const endpoint = {
        url: receiver.url,
        wrapper: 'NONE',
        previousUntil: null,
        previousKeyUntil: null,
      }
      const tried = await sendNotification(
        { clock: systemClock, toMerchants, showsAnswers: true } as unknown as Engine,
        endpoint as never,
        keysOf(secrets),
        { id: 'a', sequence: 1, body: '{}' },
      )
      assert.equal(tried.status, 418)
      return tried.answer ?? ''
    } finally {
      await toMerchants.close()
      await receiver.close()
    }
  }

  test("a public endpoint's answer is shown from its start, without card numbers", async () => {
    const answer = await answerKept(`4200000000000000 no coffee ${'x'.repeat(5_000)}`)
    assert.match(answer, /no coffee/)
    assert.doesNotMatch(answer, /4200000000000000/)
    assert.equal(answer.length, 1_024)
  })

  test('an answer that a hidden secret makes shorter shows no part of a card number at its end', async () => {
    const number = '4111111111111111'
    for (let digits = 6; digits < number.length; digits += 1) {
      const [head, tail] = ['{"password":"', '","card":"']
      const fill = 2 * 1_024 - head.length - tail.length - digits
      const answer = await answerKept(`${head}${'x'.repeat(fill)}${tail}${number}"}`)
      assert.doesNotMatch(answer, /4111/)
      assert.notEqual(answer, '')
    }
    const short = await answerKept(`{"password":"${'x'.repeat(500)}","why":"no coffee"}`)
    assert.equal(short, '{"password":"[sensitive]","why":"no coffee"}')
  })
})
