/** Webhooks beside dying processes, hanging endpoints and long transactions. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import pg from 'pg'
import { card, startGateway, type TestGateway, until } from '../rig/gateway.ts'
import {
  type Received,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '../rig/notification-receiver.ts'
import { bundled } from '../rig/programs.ts'
import { lookEvery } from '../rig/quick-looks.ts'
import { inScope, isLong } from '../rig/scope.ts'

const hourMs = 3_600_000

describe('webhooks', () => {
  let run: TestGateway
  const workers: ChildProcess[] = []
  const receivers: Receiver[] = []

  const start = async (role: 'api' | 'all') => {
    run = await startGateway({ role })
  }
  const worker = async () => {
    const program = await bundled('test/flows/webhook-process.ts')
    const child = fork(program, [run.database.url], {
      // Not those of the process of the tests.
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    workers.push(child)
    await once(child, 'message')
    return child
  }
  const receiver = async (mode: ReceiverOptions['mode'] = 'ok') => {
    const made = await startReceiver({ mode })
    receivers.push(made)
    return made
  }
  const subscribe = async (shop: Receiver, more: object = {}) => {
    const { signingSecret } = await run.gateway.webhooks.create({
      entityId: run.merchant,
      url: shop.url,
      wrapper: 'NONE',
      ...more,
    } as never)
    shop.trust({ secrets: [signingSecret!] })
  }
  const idOf = ({ id }: Received) => id
  const allDelivered = () =>
    until(async () => {
      const [row] = await run.sql<{ open: bigint }>(
        `select (select count(*) from tollgate.outbox)
           + (select count(*) from tollgate.delivery where state = 'pending') as open`,
      )
      return row?.open === 0n ? true : undefined
    })

  beforeEach(() => {
    workers.length = 0
  })
  afterEach(async () => {
    for (const child of workers) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    // A killed process's connections remain at the server for a moment.
    await until(async () => {
      const [row] = await run.sql<{ n: bigint }>(
        `select count(*) as n from pg_stat_activity
         where datname = current_database() and application_name like 'tollgate%' and state is null`,
      )
      return row?.n === 0n ? true : undefined
    })
    await run.close()
    for (const one of receivers.splice(0)) await one.close()
  })

  test('a notification of a killed worker is repeated by another under the same id', async () => {
    await start('api')
    const shop = await receiver(({ no }, response) => {
      if (no > 0) response.writeHead(200).end()
    })
    await subscribe(shop)
    const victim = await worker()
    await run.pay()
    await shop.atLeast(1)
    victim.kill('SIGKILL')
    await once(victim, 'exit')
    await worker()
    const [lease] = await run.sql<{ left: number }>(
      'select extract(epoch from lease_until - now()) as left from tollgate.webhook_queue',
    )
    assert.ok(
      Number(lease?.left) > 0,
      'the dead process still has its lease, so no other one sends',
    )
    await run.sql(`update tollgate.webhook_queue set lease_until = now() - interval '1 second'`)
    const [first, second] = await shop.atLeast(2)
    assert.equal(idOf(second!), idOf(first!))
    await allDelivered()
    assert.equal(shop.received.length, 2)
  })

  test('two workers duplicate and lose nothing and keep the order of each resource', async () => {
    await start('api')
    const shop = await receiver()
    const other = await receiver()
    await subscribe(shop)
    await subscribe(other, { types: 'PAYMENT,REGISTRATION' })
    await worker()
    await worker()
    const registrations = await Promise.all(
      Array.from({ length: inScope(5, 15) }, async () => {
        const request = { ...card('4200000000000000'), entityId: run.channel }
        const { amount: _, currency: __, paymentType: ___, ...account } = request
        const { id } = await run.gateway.registrations.create(account as never)
        for (let times = 0; times < 4; times += 1) await run.gateway.registrations.extend(id)
        await run.gateway.registrations.remove(id)
        return id
      }),
    )
    const payments = await Promise.all(Array.from({ length: inScope(20, 60) }, () => run.pay()))
    await allDelivered()
    for (const { received } of [shop, other]) {
      assert.equal(
        new Set(received.map(idOf)).size,
        received.length,
        'no notification arrived twice',
      )
      const told = received.map(({ notification }) => notification!)
      const paid = told.filter(({ type }) => type === 'PAYMENT').map(({ payload }) => payload.id)
      assert.deepEqual(paid.sort(), payments.map(({ id }) => id).sort())
      for (const id of registrations) {
        const actions = told.filter(({ payload }) => payload.id === id).map(({ action }) => action)
        assert.deepEqual(actions, ['CREATED', ...Array(4).fill('UPDATED'), 'DELETED'])
      }
    }
  })

  test('a long transaction of another user delays nothing', async () => {
    await start('all')
    const shop = await receiver()
    await subscribe(shop)
    const foreign = new pg.Client({ connectionString: run.database.url })
    await foreign.connect()
    try {
      await foreign.query('begin isolation level repeatable read')
      await foreign.query('select pg_current_xact_id()')
      const { id } = await run.pay()
      await run.pay()
      await shop.atLeast(2)
      assert.equal(shop.received[0]?.notification?.payload.id, id)
    } finally {
      await foreign.end()
    }
  })

  test('endpoints that hang, drip or fail delay no others', async () => {
    await start('all')
    const hung = await receiver('hang')
    const dripping = await receiver('drip')
    const failing = await receiver('fail')
    const shop = await receiver()
    for (let count = 0; count < 20; count += 1) {
      for (const one of [hung, dripping, failing]) await subscribe(one)
    }
    await subscribe(shop)
    const since = performance.now()
    const payments = inScope(8, 30)
    for (let count = 0; count < payments; count += 1) await run.pay()
    await shop.atLeast(payments)
    const tookMs = performance.now() - since
    assert.ok(tookMs < limits.webhookTimeoutMs, `${Math.round(tookMs)} ms`)
    const [jobs] = await run.sql<{ n: bigint }>(
      `select count(*) as n from tollgate_boss.job where name = 'webhook-retry' and state < 'completed'`,
    )
    assert.ok(jobs!.n <= 60n, `${jobs!.n} jobs wait, one for each endpoint at most`)
    // It takes half a minute until they have waited long enough.
    if (!isLong) return
    const { webhooks } = await run.gateway.webhooks.list()
    const errorOf = async (url: string) => {
      const { id } = webhooks.find((one) => one.url === url)!
      const { deliveries } = await run.gateway.webhooks.deliveries(id)
      return deliveries.flatMap(({ attempts }) => attempts).map(({ error }) => error)[0]
    }
    for (const { url } of [hung, dripping]) {
      assert.equal(await until(() => errorOf(url), 120_000), 'timeout')
    }
  })

  test('the first attempt follows the commit at once, and no look of a worker', async () => {
    const usual = lookEvery(hourMs)
    try {
      await start('all')
      const shop = await receiver()
      await subscribe(shop)
      const lags: number[] = []
      for (let count = 1; count <= inScope(2, 30); count += 1) {
        await run.pay()
        const answeredMs = Date.now()
        const received = await shop.atLeast(count)
        lags.push(received[count - 1]!.atMs - answeredMs)
      }
      const median = lags.toSorted((one, other) => one - other)[Math.floor(lags.length / 2)]!
      // The machine alone decides over the time of few.
      if (isLong) assert.ok(median < 250, `${median} ms`)
    } finally {
      usual()
    }
  })

  test('a worker sends the notifications of an api process long before it looks at all endpoints', async () => {
    await start('api')
    const shop = await receiver()
    await subscribe(shop)
    await worker()
    await run.pay()
    await shop.atLeast(1)
    const since = performance.now()
    await run.pay()
    await shop.atLeast(2)
    const tookMs = performance.now() - since
    // It looks for events each second, and at all endpoints twice a minute.
    assert.ok(tookMs < 25_000, `${Math.round(tookMs)} ms`)
  })
})
