import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type {
  Caller,
  DeliveriesView,
  Reply,
  WebhooksView,
  WebhookView,
} from '../../../core/index.ts'
import { newId } from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'

const goodCard = '4200000000000000'

describe('webhook endpoints', () => {
  let run: TestGateway
  let receiver: Receiver
  before(async () => {
    run = await startGateway()
    receiver = await startReceiver()
  })
  after(async () => {
    await run.close()
    await receiver.close()
  })

  const call = (
    operation: string,
    caller: Caller,
    { id, fields = {} }: { id?: string; fields?: Readonly<Record<string, string>> } = {},
  ): Promise<Reply> => {
    const text = new URLSearchParams(fields).toString()
    return run.gateway.call(operation, caller, {
      ...(id === undefined ? {} : { path: { id } }),
      body: Buffer.from(text),
      query: text,
      contentType: 'application/x-www-form-urlencoded',
      requestId: newId(),
    })
  }
  const merchant = (): Caller => ({ id: 'm', entityId: run.merchant })
  const bodyOf = (reply: Reply) => reply.body as unknown as WebhookView & WebhooksView

  test('webhook endpoints are created, listed, read, changed and removed over HTTP, and secrets are shown once', async () => {
    const made = await call('webhooks.create', merchant(), { fields: { url: receiver.url } })
    assert.equal(made.status, 200)
    const { id, encryptionKey, signingSecret, types, wrapper, active } = bodyOf(made)
    assert.match(encryptionKey ?? '', /^[0-9a-f]{64}$/)
    assert.match(signingSecret ?? '', /^whsec_/)
    assert.deepEqual([types, wrapper, active], ['PAYMENT,REGISTRATION', 'TEXT', 'true'])
    const listed = await call('webhooks.list', merchant())
    assert.deepEqual(
      bodyOf(listed).webhooks.map((one) => one.id),
      [id],
    )
    assert.doesNotMatch(JSON.stringify(listed.body), /whsec_|encryptionKey/)
    const changed = await call('webhooks.update', merchant(), {
      id,
      fields: { wrapper: 'JSON', types: 'SCHEDULE', active: 'false' },
    })
    const now = bodyOf(changed)
    assert.deepEqual(
      [now.types, now.wrapper, now.active, now.url],
      ['SCHEDULE', 'JSON', 'false', receiver.url],
    )
    assert.equal((await call('webhooks.get', merchant(), { id })).status, 200)
    assert.equal((await call('webhooks.remove', merchant(), { id })).status, 200)
    assert.deepEqual(bodyOf(await call('webhooks.list', merchant())).webhooks, [])
  })

  test('a type without notifications is refused by name', async () => {
    const fields = { url: receiver.url, types: 'PAYMENT,RISK' }
    const refused = await call('webhooks.create', merchant(), { fields })
    assert.equal(refused.status, 400)
    const { result } = refused.body as { result: { parameterErrors: { name: string }[] } }
    assert.deepEqual(
      result.parameterErrors.map(({ name }) => name),
      ['types'],
    )
  })

  test('a removed webhook endpoint shows its settings and undelivered notifications, and nothing else', async (t) => {
    const broken = await startReceiver({ mode: 'fail' })
    t.after(() => broken.close())
    const { id } = await run.gateway.webhooks.create({
      entityId: run.merchant,
      url: broken.url,
    } as never)
    const payments = [await run.pay(), await run.pay()]
    await broken.atLeast(2)
    const logged = async (fields: Readonly<Record<string, string>> = {}) =>
      (await call('webhooks.deliveries', merchant(), { id, fields }))
        .body as unknown as DeliveriesView
    // Both were attempted, and their retries are seconds away.
    await until(async () => {
      const { deliveries } = await logged({ state: 'PENDING' })
      return deliveries.filter(({ attempts }) => attempts.length > 0).length === 2
        ? true
        : undefined
    })
    await run.sql(
      `update tollgate.delivery set due_at = now() + interval '1 day' where endpoint_id = $1`,
      [id],
    )
    const removed = bodyOf(await call('webhooks.remove', merchant(), { id }))
    assert.ok(removed.removedAt)
    const dead = await until(async () => {
      const { deliveries } = await logged({ state: 'DEAD' })
      return deliveries.length === 2 ? deliveries : undefined
    })
    assert.deepEqual(
      dead.map(({ resource, reason }) => [resource, reason]),
      payments.toReversed().map((payment) => [payment.id, 'the endpoint was removed']),
    )
    assert.deepEqual((await logged({ state: 'PENDING' })).deliveries, [])

    const shown = bodyOf(await call('webhooks.get', merchant(), { id }))
    assert.deepEqual([shown.active, shown.removedAt], ['false', removed.removedAt])
    const listed = async (fields: Readonly<Record<string, string>>) =>
      bodyOf(await call('webhooks.list', merchant(), { fields })).webhooks.map((one) => one.id)
    assert.ok((await listed({ removed: 'true' })).includes(id))
    for (const removed of ['false', '']) assert.ok(!(await listed({ removed })).includes(id))
    for (const operation of ['update', 'remove', 'rotate', 'test', 'replay']) {
      const fields = operation === 'replay' ? { from: '2026-01-01 00:00:00' } : {}
      const refused = await call(`webhooks.${operation}`, merchant(), { id, fields })
      assert.equal(refused.status, 404, operation)
      assert.match(bodyOf(refused).result.description, /the webhook endpoint was removed/)
    }
  })

  test('webhook endpoints of another merchant are unknown in every operation', async () => {
    const stranger = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Stranger',
      parentId: run.division,
    })
    const { id } = await run.gateway.webhooks.create({
      entityId: run.merchant,
      url: receiver.url,
    } as never)
    const caller = { id: 's', entityId: stranger }
    for (const operation of ['get', 'update', 'remove', 'rotate', 'test', 'replay', 'deliveries']) {
      const fields = operation === 'replay' ? { from: '2026-01-01 00:00:00' } : {}
      const foreign = await call(`webhooks.${operation}`, caller, { id, fields })
      const unknown = await call(`webhooks.${operation}`, caller, { id: newId(), fields })
      assert.deepEqual([foreign.status, unknown.status], [404, 404], operation)
      assert.deepEqual(bodyOf(foreign).result, bodyOf(unknown).result)
    }
    assert.deepEqual(bodyOf(await call('webhooks.list', caller)).webhooks, [])
    const forMerchant = { fields: { url: receiver.url, entityId: run.merchant } }
    assert.equal((await call('webhooks.create', caller, forMerchant)).status, 403)
    await run.gateway.webhooks.remove(id)
  })

  test('webhook endpoints get the events of their entity and those below it, and no others', async () => {
    const other = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: run.merchant,
    })
    const above = await startReceiver()
    const beside = await startReceiver()
    const plain = { wrapper: 'NONE' }
    const ids = await Promise.all([
      run.gateway.webhooks.create({ entityId: run.psp, url: above.url, ...plain } as never),
      run.gateway.webhooks.create({ entityId: other, url: beside.url, ...plain } as never),
    ])
    const { id } = await run.pay()
    const there = await run.pay({ entityId: other })
    await above.atLeast(2)
    await beside.atLeast(1)
    const toldOf = ({ received }: Receiver) =>
      received.map(({ body }) => JSON.parse(body).payload.id).sort()
    assert.deepEqual(toldOf(above), [id, there.id].sort())
    assert.deepEqual(toldOf(beside), [there.id])
    for (const one of ids) await run.gateway.webhooks.remove(one.id)
    await above.close()
    await beside.close()
  })

  test('webhook endpoints with a URL that is not public are refused, in every spelling', async () => {
    const live = await startGateway({ allowLoopbackForMerchants: false })
    try {
      for (const url of [
        'http://example.com/hook',
        'https://user:pass@example.com/',
        'https://127.0.0.1/',
        'https://127.1/',
        'https://2130706433/',
        'https://0x7f000001/',
        'https://017700000001/',
        'https://localhost./',
        'https://10.0.0.1/',
        'https://169.254.169.254/latest/meta-data',
        'https://[::1]/',
        'https://[::ffff:10.0.0.1]/',
        'https://[fd00::1]/',
      ]) {
        await assert.rejects(
          live.gateway.webhooks.create({ entityId: live.merchant, url } as never),
          (error: { parameterErrors?: { name: string }[] }) =>
            error.parameterErrors?.[0]?.name === 'url',
          url,
        )
      }
      const { id } = await live.gateway.webhooks.create({
        entityId: live.merchant,
        url: 'https://example.com/hook',
      } as never)
      // As if the name had changed its address after creation: each attempt is checked by itself.
      await live.sql(
        `update tollgate.webhook_endpoint set url = 'https://10.0.0.1/hook', version = version + 1`,
      )
      await live.pay()
      const tried = await until(async () => {
        const { deliveries } = await live.gateway.webhooks.deliveries(id)
        return deliveries[0]?.attempts[0]
      })
      assert.equal(tried.error, 'refused-address')
      assert.equal(tried.httpStatus, undefined)
    } finally {
      await live.close()
    }
  })

  test('webhook endpoints are told of registrations and schedules, with the usual answer', async () => {
    const told = await startReceiver()
    const { id, encryptionKey, signingSecret } = await run.gateway.webhooks.create({
      entityId: run.merchant,
      url: told.url,
      types: 'PAYMENT,REGISTRATION,SCHEDULE',
    } as never)
    told.trust({ secrets: [signingSecret!], key: encryptionKey })
    const paid = await run.pay({ createRegistration: 'true' })
    await told.atLeast(2)
    const registrationId = String(paid.registrationId)
    const schedule = await run.gateway.schedules.create({
      entityId: run.channel,
      registrationId,
      amount: '5.00',
      currency: 'EUR',
      paymentType: 'DB',
      job: { hour: '6', dayOfMonth: '1', month: '*' },
    } as never)
    await run.gateway.schedules.cancel(schedule.id)
    await told.atLeast(4)
    const all = told.received.map(({ id, notification }) => ({ ...notification!, id }))
    const inShort = all
      .map(({ type, action, payload }) => [type, action, payload.id].join(' '))
      .sort()
    assert.deepEqual(
      inShort,
      [
        `PAYMENT  ${paid.id}`,
        `REGISTRATION CREATED ${registrationId}`,
        `SCHEDULE CREATED ${schedule.id}`,
        `SCHEDULE DELETED ${schedule.id}`,
      ].sort(),
    )
    assert.equal(new Set(all.map((one) => one.id)).size, 4, 'each notification has its own id')
    const {
      ndc: _,
      timestamp: __,
      ...registration
    } = (all.find(({ type }) => type === 'REGISTRATION') as (typeof all)[number]).payload
    const read = await run.gateway.registrations.get(registrationId)
    const { ndc: ___, timestamp: ____, ...expected } = read
    assert.deepEqual(registration, expected)
    await run.gateway.webhooks.remove(id)
    await told.close()
  })

  test('webhook endpoints store their secrets sealed: no table or log has one, nor a card number', async () => {
    const echo = await startReceiver({
      mode: ({ headers, body }, response) =>
        void response.writeHead(500).end(`${JSON.stringify(headers)} card ${goodCard} ${body}`),
    })
    const { id, encryptionKey, signingSecret } = await run.gateway.webhooks.create({
      entityId: run.merchant,
      url: `${echo.url}?token=hunter2hunter2`,
      wrapper: 'JSON',
    } as never)
    const rotated = await run.gateway.webhooks.rotate(id)
    await run.pay()
    await echo.atLeast(1)
    await until(async () => {
      const { deliveries } = await run.gateway.webhooks.deliveries(id)
      return deliveries[0]?.attempts[0]
    })
    const tables = await run.sql<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'tollgate'`,
    )
    const secrets = [encryptionKey!, signingSecret!, rotated.signingSecret!, goodCard]
    for (const { name } of tables) {
      const rows = await run.sql<{ text: string }>(`select t::text as text from tollgate.${name} t`)
      const text = rows.map((row) => row.text).join('\n')
      for (const secret of secrets) assert.ok(!text.includes(secret), `${name} holds a secret`)
    }
    const logged = JSON.stringify(run.logs)
    for (const secret of [...secrets, 'hunter2hunter2']) assert.ok(!logged.includes(secret))
    const kept = await run.sql<{ request: string; answer: string }>(
      'select request::text, answer from tollgate.delivery_attempt',
    )
    assert.ok(kept.length > 0)
    assert.ok(
      kept.every(({ request, answer }) => !`${request}${answer}`.includes('hunter2hunter2')),
    )
    await run.gateway.webhooks.remove(id)
    await echo.close()
  })
})

describe('a notificationUrl', () => {
  test('a notificationUrl is called with id and resourcePath, also without an endpoint, and again after a failure', async () => {
    const run = await startGateway()
    const receiver = await startReceiver({ mode: 'fail' })
    try {
      const paid = await run.pay({ notificationUrl: `${receiver.url}hook?shop=7` })
      const [got] = await receiver.atLeast(1)
      assert.deepEqual([got?.method, got?.path], ['GET', '/hook'])
      assert.deepEqual(Object.fromEntries(new URLSearchParams(got?.search)), {
        shop: '7',
        id: paid.id,
        resourcePath: `/v1/payments/${paid.id}`,
      })
      receiver.behave('ok')
      await run.sql('update tollgate.delivery set due_at = now()')
      await run.sql('update tollgate.webhook_queue set wake_at = now(), probe_at = null')
      await receiver.atLeast(2)
      const rows = await until(async () => {
        const found = await run.sql<{ state: string }>('select state from tollgate.delivery')
        return found[0]?.state === 'delivered' ? found : undefined
      })
      assert.equal(rows.length, 1)
    } finally {
      await run.close()
      await receiver.close()
    }
  })
})
