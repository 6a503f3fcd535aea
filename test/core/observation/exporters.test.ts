/** The state that exporters get, and their start and end with the engine. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  contractVersion,
  definePlugin,
  type ExporterContext,
  type Plugin,
} from '@tollgate/plugin-kit'
import { createGateway, localKeys, newId } from '../../../core/index.ts'
import { createDatabase } from '../../rig/database.ts'
import { freshSimulator, startGateway, testKey, until } from '../../rig/gateway.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'
import { cardFields, newCheckout, nonce } from '../checkout/rig.ts'

type Watched = {
  readonly plugin: Plugin
  readonly context: () => ExporterContext
  readonly log: readonly string[]
}

function watched(name: string, fails = false): Watched {
  const log: string[] = []
  let given: ExporterContext | undefined
  const plugin = definePlugin({
    name,
    contract: contractVersion,
    exporters: [
      {
        name,
        async start(context) {
          log.push('started')
          given = context
          if (fails) throw new Error(`${name} cannot start`)
          return {
            async close() {
              log.push('closed')
            },
          }
        },
      },
    ],
  })
  return { plugin, context: () => given!, log }
}

describe('exporters of plugins', () => {
  test('start and end with the engine, and learn who it is', async () => {
    const { plugin, context, log } = watched('watch')
    const run = await startGateway({ name: 'exporters', role: 'api', plugins: [plugin] })
    try {
      const { engine, environment, role, version } = context()
      assert.deepEqual([engine, environment, role], ['exporters', 'test', 'api'])
      assert.match(version, /^tollgate-/)
    } finally {
      await run.close()
    }
    assert.deepEqual(log, ['started', 'closed'])
  })

  test('a start that fails ends the start of the engine and the exporters before it', async () => {
    const first = watched('first')
    const broken = watched('broken', true)
    const database = await createDatabase()
    try {
      const starting = createGateway({
        database: { url: database.url },
        plugins: [freshSimulator(), first.plugin, broken.plugin],
        environment: 'test',
        keys: localKeys(testKey),
      })
      await assert.rejects(starting, /broken cannot start/)
      assert.deepEqual(first.log, ['started', 'closed'])
      assert.deepEqual(broken.log, ['started'])
    } finally {
      await database.drop()
    }
  })

  test('exporters: false starts none', async () => {
    const { plugin, log } = watched('unwanted')
    const run = await startGateway({ plugins: [plugin], exporters: false })
    await run.close()
    assert.deepEqual(log, [])
  })

  test('the state counts connections, jobs, waiting notifications and open entries', async () => {
    const { plugin, context } = watched('state')
    const run = await startGateway({ plugins: [plugin] })
    const receiver = await startReceiver()
    try {
      receiver.behave('fail')
      await run.gateway.webhooks.create({ entityId: run.merchant, url: receiver.url } as never)
      await run.pay()
      await receiver.atLeast(1)
      await run.sql(
        `insert into tollgate.attention (id, kind, at, alarm_at, detail, reference)
         select gen_random_uuid(), kind, now() - interval '2 hours', now(), '{}', n::text
         from (values ('event', 1), ('event', 2), ('unclaimed', 3)) as entry(kind, n)`,
      )
      const { pools, rowsWaiting, underWay } = context().process()
      const lanes = pools.map(({ lane }) => lane)
      for (const lane of ['group', 'single', 'read']) assert.ok(lanes.includes(lane), lane)
      assert.ok(pools.every(({ open, idle, waiting }) => open >= idle && waiting >= 0))
      assert.deepEqual([rowsWaiting, underWay], [0, 0])

      const state = await until(async () => {
        const found = await context().shared()
        return found.notifications.waiting > 0 && found.attention.length === 2 ? found : undefined
      })
      assert.equal(state.notifications.waiting, 1)
      assert.ok(state.notifications.oldestSeconds > 0)
      assert.deepEqual(
        state.attention.map(({ kind, open }) => [kind, open]),
        [
          ['event', 2],
          ['unclaimed', 1],
        ],
      )
      for (const { oldestSeconds } of state.attention) {
        assert.ok(oldestSeconds >= 7200 && oldestSeconds < 7800, String(oldestSeconds))
      }
      const jobs = state.jobs.map(({ job }) => job)
      for (const job of ['charge', 'capture', 'housekeeping']) assert.ok(jobs.includes(job), job)
    } finally {
      await run.close()
      await receiver.close()
    }
  })

  test('counts end at their limit, and many questions at once are one question to the database', async () => {
    const { plugin, context } = watched('bounded')
    const run = await startGateway({ role: 'api', plugins: [plugin] })
    try {
      await run.sql(
        `insert into tollgate.attention (id, kind, alarm_at, detail, reference)
         select gen_random_uuid(), 'event', now(), '{}', n::text from generate_series(1, 10050) as n`,
      )
      const asked = await Promise.all(Array.from({ length: 20 }, () => context().shared()))
      assert.equal(new Set(asked).size, 1)
      const { attention, most } = asked[0]!
      assert.deepEqual(
        attention.map(({ open }) => open),
        [most],
      )
    } finally {
      await run.close()
    }
  })
})

describe('the number of a request', () => {
  test('finds the payment that it made, its follow-up, and nothing for a request that made none', async () => {
    const run = await startGateway({ role: 'api' })
    try {
      const paid = await run.send({
        ...{ entityId: run.channel, amount: '92.00', currency: 'EUR', paymentBrand: 'VISA' },
        ...{ paymentType: 'PA', 'card.number': '4200000000000000', 'card.cvv': '123' },
        ...{ 'card.holder': 'Jane Jones', 'card.expiryMonth': '05', 'card.expiryYear': '2034' },
      })
      const captured = await run.send(
        { entityId: run.channel, amount: '92.00', currency: 'EUR', paymentType: 'CP' },
        { id: paid.body.id },
      )
      for (const { id, ndc } of [paid.body, captured.body]) {
        assert.notEqual(id, ndc)
        const found = await run.gateway.inspect(ndc)
        assert.ok('id' in found)
        assert.equal(found.id, id)
        // As people copy it from elsewhere.
        const dashed = ndc.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase()
        const again = await run.gateway.inspect(dashed)
        assert.ok('id' in again && again.id === id)
      }
      await assert.rejects(run.gateway.inspect(newId()), /nothing has the number/)
    } finally {
      await run.close()
    }
  })

  test('of a checkout is its id, which finds its payment; the number of a press does, too', async () => {
    const run = await startGateway({ role: 'api', publicUrl: 'https://pay.example' })
    try {
      const id = await newCheckout(run)
      await assert.rejects(run.gateway.inspect(id), /nothing has the number/)
      const requestId = newId()
      const submission = { nonce: nonce(), card: cardFields() }
      const reply = await run.gateway.call('checkouts.pay', null, {
        ...{ path: { id }, requestId, address: '192.0.2.7', accept: 'text/html' },
        ...{ body: Buffer.from(JSON.stringify(submission)), contentType: 'application/json' },
      })
      assert.equal(reply.status, 200)
      const [made] = await run.sql<{ id: string }>(
        'select id from tollgate.payment where checkout_id = $1',
        [id],
      )
      for (const reference of [id, requestId]) {
        const found = await run.gateway.inspect(reference)
        assert.ok('id' in found && found.id === made?.id, reference)
      }
    } finally {
      await run.close()
    }
  })
})
