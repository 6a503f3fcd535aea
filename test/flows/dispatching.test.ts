import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Clock, type DispatchRule, type Gateway, systemClock } from '../../core/index.ts'
import { createHost, type Listening } from '../../host/index.ts'
import { type Answer, ask, debit, without } from '../host/http/hosted.ts'
import { closeChecked } from '../rig/books.ts'
import { startGateway, type TestGateway } from '../rig/gateway.ts'

/** Two processes on one database, each with a server, and merchants' requests to them. */
describe('dispatching over HTTP', () => {
  let run: TestGateway
  let servers: Listening[] = []
  let urls: string[]
  let aheadMs = 0
  const clock: Clock = { ...systemClock, elapsedMs: () => systemClock.elapsedMs() + aheadMs }
  let merchant: string
  let a: string
  let b: string
  let token: string

  before(async () => {
    run = await startGateway({ clock })
    const another = await run.another({ role: 'api' })
    const serve = (gateway: Gateway) =>
      createHost(gateway, { port: 0, throttle: { writesPerSecond: 1e6 } }).listen()
    servers = [await serve(run.gateway), await serve(another)]
    urls = servers.map(({ url }) => url)
  })
  after(async () => {
    await Promise.all(servers.map((server) => server.close()))
    await closeChecked(run)
  })
  beforeEach(async () => {
    const { entities } = run.gateway
    merchant = await entities.create({ kind: 'merchant', name: 'Shop', parentId: run.division })
    a = await entities.create({ kind: 'channel', name: 'A', parentId: merchant })
    b = await entities.create({ kind: 'channel', name: 'B', parentId: merchant })
    token = (await entities.createToken(merchant, 'shop')).token
  })

  /** Writes rules and makes them known to every process. */
  const rules = async (...list: Omit<DispatchRule, 'priority'>[]) => {
    const numbered = list.map((rule, index) => ({ ...rule, priority: index + 1 }))
    await run.gateway.entities.dispatching.replace(merchant, numbered)
    aheadMs += 5000
  }
  const post = (
    more: Record<string, string> = {},
    options: { key?: string; url?: string; path?: string; token?: string } = {},
  ): Promise<Answer> =>
    ask(options.url ?? urls[0]!, options.path ?? '/v1/payments', {
      token: options.token ?? token,
      form: { ...debit, entityId: merchant, ...more },
      ...(options.key === undefined ? {} : { headers: { 'Idempotency-Key': options.key } }),
    })
  const paymentsBy = (key: string) =>
    run.sql<{ id: string; channel_id: string }>(
      'select id, channel_id from tollgate.payment where merchant_transaction_id = $1',
      [key],
    )
  const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true'

  test('a repeat finds its payment after the rules changed or were removed', async () => {
    await rules({ channelId: a })
    const order = { merchantTransactionId: 'order-of-a-shop' }
    const first = await post(order, { key: 'k1' })
    assert.equal(first.status, 200)
    const others: [string, () => Promise<unknown>][] = [
      ['another channel', () => rules({ channelId: b })],
      ['none that fits', () => rules({ channelId: b, currencies: ['USD'] })],
      ['no rule', () => rules()],
      [
        'a closed channel',
        async () => {
          await run.gateway.entities.close(b)
          await rules({ channelId: b })
        },
      ],
      [
        'a closed merchant',
        async () => {
          await run.gateway.entities.close(merchant)
          aheadMs += 5000
        },
      ],
    ]
    for (const [what, change] of others) {
      await change()
      for (const url of urls) {
        const repeat = await post(order, { key: 'k1', url })
        assert.deepEqual([repeat.status, repeat.body.id], [200, first.body.id], what)
        assert.ok(isReplay(repeat), what)
      }
    }
    assert.deepEqual(await paymentsBy('order-of-a-shop'), [{ id: first.body.id, channel_id: a }])
    const fresh = await post(order, { key: 'k2' })
    assert.equal(fresh.body.result.code, '500.100.203', 'a new request is refused')
  })

  test('a payment whose rows were lost is sent again under the same acquirer key', async () => {
    await rules({ channelId: a })
    const keyOf = async ({ body }: Answer) => {
      const [row] = await run.sql<{ attempt_key: string }>(
        'select attempt_key from tollgate.payment where id = $1',
        [body.id],
      )
      return row?.attempt_key
    }
    const first = await post({ paymentType: 'PA' }, { key: 'lost' })
    const key = await keyOf(first)
    // The state after a failover to a standby without the last commits.
    for (const [table, column] of [
      ['payment', 'id'],
      ['payment_request', 'id'],
      ['instrument', 'id'],
      ['payment_balance', 'payment_id'],
      ['attempt', 'payment_id'],
      ['idempotency', 'payment_id'],
    ]) {
      await run.sql(`delete from tollgate.${table} where ${column} = $1`, [first.body.id])
    }
    await rules({ channelId: b })
    const again = await post({ paymentType: 'PA' }, { key: 'lost' })
    assert.notEqual(again.body.id, first.body.id)
    assert.equal(await keyOf(again), key)
  })

  test('a repeat without the security code finds its payment although the new channel requires one', async () => {
    await rules({ channelId: a })
    const first = await post({}, { key: 'cvv' })
    await run.gateway.entities.configure(b, { cvvRequired: true })
    await rules({ channelId: b })
    const repeat = await ask(urls[1]!, '/v1/payments', {
      token,
      form: without({ ...debit, entityId: merchant }, 'card.cvv'),
      headers: { 'Idempotency-Key': 'cvv' },
    })
    assert.equal(repeat.body.id, first.body.id)
    const other = await post({ amount: '1.00' }, { key: 'cvv' })
    assert.equal(other.body.result.code, '200.300.405', 'another body is refused')
  })

  test('constantly changing rules never make two payments of one key', async () => {
    await rules({ channelId: a })
    const keys = Array.from({ length: 40 }, (_, index) => `key-${index}-of-many`)
    const states: Omit<DispatchRule, 'priority'>[][] = [
      [{ channelId: b }],
      [{ channelId: a }],
      [{ channelId: a, currencies: ['USD'] }],
      [{ channelId: b, brands: ['VISA'] }, { channelId: a }],
    ]
    let operator: Promise<void> = Promise.resolve()
    let changes = 0
    const answers = new Map<string, Answer[]>(keys.map((key) => [key, []]))
    let count = 0
    const client = async (url: string, order: readonly string[]) => {
      for (const key of order) {
        answers.get(key)!.push(await post({ merchantTransactionId: key }, { key, url }))
        count += 1
        // Paced by the answers, because caches and deadlines age with every change.
        if (count % 12 !== 0) continue
        const state = states[changes % states.length]!
        operator = operator.then(() => rules(...state))
        changes += 1
        await operator
      }
    }
    const backwards = [...keys].reverse()
    // Two clients for each process and direction, so that one key is under way several times at
    // once.
    await Promise.all(
      urls.flatMap((url) => [client(url, keys), client(url, keys), client(url, backwards)]),
    )
    await operator
    assert.equal(changes, 20)
    await rules({ channelId: a, currencies: ['USD'] })
    const used = new Set<string>()
    for (const key of keys) {
      const made = await paymentsBy(key)
      assert.ok(made.length <= 1, `${key} made ${made.length} payments`)
      for (const { status, body } of answers.get(key)!) {
        if (status === 200) assert.equal(body.id, made[0]?.id, key)
        else assert.ok(['600.200.500', '200.300.405'].includes(body.result.code), body.result.code)
      }
      const repeat = await post({ merchantTransactionId: key }, { key, url: urls[1]! })
      if (made[0] === undefined) assert.equal(repeat.body.result.code, '600.200.500')
      else assert.deepEqual([repeat.status, repeat.body.id], [200, made[0].id])
      for (const { channel_id } of made) used.add(channel_id)
    }
    assert.deepEqual([...used].sort(), [a, b].sort(), 'both channels were chosen')
  })

  test('processes with different rules for a moment agree on the payment of a key', async () => {
    const third = await run.another({ role: 'api' })
    const server = await createHost(third, { port: 0 }).listen()
    servers.push(server)
    await rules({ channelId: a })
    // One process uses the rules from before the change for a while, the other the new ones.
    await post()
    await run.gateway.entities.dispatching.replace(merchant, [{ priority: 1, channelId: b }])
    for (let round = 0; round < 12; round += 1) {
      const key = `moment-${round}-of-two`
      const both = await Promise.all(
        [urls[0]!, server.url].map((url) => post({ merchantTransactionId: key }, { key, url })),
      )
      const made = await paymentsBy(key)
      assert.equal(made.length, 1)
      for (const { status, body } of both) assert.deepEqual([status, body.id], [200, made[0]!.id])
      assert.equal(both.filter(isReplay).length, 1)
    }
    const [old] = await paymentsByAnswer(await post({}, { url: urls[0]! }))
    const [now] = await paymentsByAnswer(await post({}, { url: server.url }))
    assert.deepEqual(
      [old?.channel_id, now?.channel_id],
      [a, b],
      'the processes knew different rules',
    )
  })
  const paymentsByAnswer = ({ body }: Answer) =>
    run.sql<{ channel_id: string }>('select channel_id from tollgate.payment where id = $1', [
      body.id,
    ])

  test("a read by the merchant's id sees all its channels, one by a channel's id that channel", async () => {
    await rules({ channelId: a, currencies: ['EUR'] }, { channelId: b })
    const [inA, inB] = [await post(), await post({ currency: 'USD' })]
    const read = (id: string, entityId: string) =>
      ask(urls[1]!, `/v1/payments/${id}?entityId=${entityId}`, { token })
    for (const { body } of [inA, inB]) {
      assert.equal((await read(body.id, merchant)).status, 200)
    }
    assert.equal((await read(inA.body.id, a)).status, 200)
    assert.equal((await read(inB.body.id, a)).status, 404)
  })

  test("a payment through a rule's new channel can be read at once", async () => {
    await rules({ channelId: a })
    const first = await post()
    // The list of channels is read after the rules and is still fresh when those are read again.
    aheadMs += 3000
    await ask(urls[0]!, `/v1/payments/${first.body.id}?entityId=${merchant}`, { token })
    const { entities } = run.gateway
    const fresh = await entities.create({ kind: 'channel', name: 'New', parentId: merchant })
    await entities.dispatching.replace(merchant, [{ priority: 1, channelId: fresh }])
    aheadMs += 2000
    const paid = await post()
    assert.equal((await paymentsByAnswer(paid))[0]?.channel_id, fresh)
    const read = await ask(urls[0]!, `/v1/payments/${paid.body.id}?entityId=${merchant}`, { token })
    assert.equal(read.status, 200)
  })

  test('a token of another merchant gets the answer of an unknown id', async () => {
    await rules({ channelId: a })
    const paid = await post()
    const { entities } = run.gateway
    const other = await entities.create({ kind: 'merchant', name: 'Other', parentId: run.division })
    const tokens = [
      (await entities.createToken(other, 'other')).token,
      (await entities.createToken(a, 'a channel speaks for itself alone')).token,
    ]
    const said = ({ status, body }: Answer) => [status, body.result]
    for (const foreign of tokens) {
      const unknown = await post({ entityId: 'f'.repeat(32) }, { token: foreign })
      assert.equal(unknown.status, 403)
      assert.deepEqual(said(await post({}, { token: foreign })), said(unknown))
      assert.deepEqual(said(await post({ amount: 'x' }, { token: foreign })), said(unknown))
      const path = `/v1/payments/${paid.body.id}`
      assert.deepEqual(said(await post({}, { token: foreign, path })), said(unknown))
      const read = await ask(urls[0]!, `${path}?entityId=${merchant}`, { token: foreign })
      assert.deepEqual(said(read), said(unknown))
    }
    const nothing = await ask(urls[0]!, '/v1/payments', { token, form: debit })
    assert.deepEqual(
      [nothing.status, nothing.body.result.parameterErrors?.[0]?.name],
      [400, 'entityId'],
      "a merchant's token names no channel by itself",
    )
  })

  test("registrations are stored and paid with by the merchant's id, within the merchant alone", async () => {
    await rules(
      { channelId: a, paymentTypes: ['RG'], brands: ['VISA'] },
      { channelId: b, brands: ['VISA'], currencies: ['EUR'] },
    )
    const account = without(debit, 'amount', 'currency', 'paymentType')
    const stored = await ask(urls[0]!, '/v1/registrations', {
      token,
      form: { ...account, entityId: merchant },
    })
    assert.equal(stored.status, 200, JSON.stringify(stored.body.result))
    assert.equal((await paymentsByAnswer(stored))[0]?.channel_id, a)
    const path = `/v1/registrations/${stored.body.id}/payments`
    const amounts = { entityId: merchant, paymentType: 'DB', amount: '5.00', currency: 'EUR' }
    const pay = (more: Record<string, string> = {}) =>
      ask(urls[1]!, path, { token, form: { ...amounts, ...more } })
    const paid = await pay()
    assert.equal(paid.status, 200, JSON.stringify(paid.body.result))
    assert.equal((await paymentsByAnswer(paid))[0]?.channel_id, b, 'the brand is the stored one')
    assert.equal((await pay({ currency: 'USD' })).body.result.code, '600.200.500')
    const both = await post({ createRegistration: 'true' })
    const [registration] = await run.sql<{ channel_id: string }>(
      'select channel_id from tollgate.registration where id = $1',
      [both.body.registrationId],
    )
    assert.equal(registration?.channel_id, b, 'what a payment stores is where the payment is')

    const { entities } = run.gateway
    const other = await entities.create({ kind: 'merchant', name: 'Other', parentId: run.division })
    const theirs = await entities.create({ kind: 'channel', name: 'Theirs', parentId: other })
    await entities.dispatching.replace(other, [{ priority: 1, channelId: theirs }])
    const { token: division } = await entities.createToken(run.division, 'both merchants')
    const foreign = await ask(urls[0]!, path, {
      token: division,
      form: { ...amounts, entityId: other },
    })
    assert.equal(foreign.body.result.code, '100.150.200')
  })
})
