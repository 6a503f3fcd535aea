/** A connector has no more calls than its places, and one merchant's calls that take long leave places for others. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { Operation } from '@tollgate/plugin-kit'
import { GatewayError } from '../../../core/index.ts'
import { InFlight, Places } from '../../../core/process/in-flight.ts'
import {
  approvedAs,
  scriptedAcquirer,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'

const refused = (error: unknown) => {
  assert.ok(error instanceof GatewayError, String(error))
  assert.deepEqual([error.status, error.code, error.retryAfterSeconds], [429, '800.120.100', 1])
  return true
}

test('the channels of a merchant have half of a connector, captures included, and another merchant the rest', async () => {
  const acquirer = scriptedAcquirer({ limits: { concurrent: 5 } })
  const run = await startWithAcquirer({ role: 'api', acquirer })
  try {
    const { entities, payments } = run.gateway
    const channelOf = async (parentId: string) => {
      const channelId = await entities.create({ kind: 'channel', name: 'channel', parentId })
      await entities.createAccount({
        ...{ channelId, connector: scriptedName, mode: 'EXTERNAL', settings: {} },
      })
      return channelId
    }
    const second = await channelOf(run.merchant)
    const other = await channelOf(
      await entities.create({ kind: 'merchant', name: 'other', parentId: run.division }),
    )
    const authorised = await run.debit('authorised-first', {}, { paymentType: 'PA' })
    const asked: string[] = []
    const release = Promise.withResolvers<void>()
    const debit = async (operation: Operation) => {
      asked.push(operation.key)
      await release.promise
      return approvedAs(operation)
    }
    const beside = await run.debit('payment-beside', {}, { entityId: other })
    assert.match(beside.result.code, /^000\./)
    const slow = [
      run.debit('slow-payment-1', { debit }),
      run.debit('slow-payment-2', { debit }, { entityId: second }),
      run.debit('slow-payment-3', { debit }),
    ]
    await until(async () => asked.length === 3 || undefined)
    await assert.rejects(run.debit('fourth-payment', {}, { entityId: second }), refused)
    await assert.rejects(
      payments.capture(authorised.id, { amount: '1.00', currency: 'EUR' }),
      refused,
    )
    const full = [4, 5].map((no) => run.debit(`slow-payment-${no}`, { debit }, { entityId: other }))
    await until(async () => asked.length === 5 || undefined)
    await assert.rejects(run.debit('sixth-payment', {}, { entityId: other }), refused)
    release.resolve()
    for (const payment of [...slow, ...full]) assert.match((await payment).result.code, /^000\./)
    assert.match((await run.debit('payment-after', {}, { entityId: second })).result.code, /^000\./)
  } finally {
    await closeChecked(run)
  }
})

test('of payments at the same moment, no more are at the acquirer than its limit, and of a merchant half', async () => {
  const acquirer = scriptedAcquirer({ limits: { concurrent: 10 } })
  const run = await startWithAcquirer({ role: 'api', acquirer, pool: {} })
  const admissions = mock.method(InFlight.prototype, 'admit')
  try {
    const { entities } = run.gateway
    const merchant = await entities.create({
      ...{ kind: 'merchant', name: 'other', parentId: run.division },
    })
    const other = await entities.create({ kind: 'channel', name: 'other', parentId: merchant })
    await entities.createAccount({
      ...{ channelId: other, connector: scriptedName, mode: 'EXTERNAL', settings: {} },
    })
    const channels = [run.channel, other]
    for (const entityId of channels) await run.debit(`first of ${entityId}`, {}, { entityId })
    const inFlight = admissions.mock.calls[0]!.this as InFlight
    const most = new Map<string, number>()
    const now = new Map<string, number>()
    const change = (whose: string, by: 1 | -1) => {
      now.set(whose, (now.get(whose) ?? 0) + by)
      most.set(whose, Math.max(most.get(whose) ?? 0, now.get(whose)!))
    }
    const burst = async (round: number, whose: readonly string[]) => {
      const release = Promise.withResolvers<void>()
      let refusals = 0
      const pay = (no: number) => {
        const entityId = whose[no % whose.length]!
        const debit = async (operation: Operation) => {
          for (const one of ['all', entityId]) change(one, 1)
          await release.promise
          for (const one of ['all', entityId]) change(one, -1)
          return approvedAs(operation)
        }
        return run.debit(`payment ${no} of ${round}`, { debit }, { entityId }).then(
          ({ result }) => result.code,
          (error) => {
            refused(error)
            refusals += 1
            return 'refused'
          },
        )
      }
      const ends = Array.from({ length: 40 }, (_, no) => pay(no))
      const places = 5 * whose.length
      await until(async () => (now.get('all') === places && refusals === 40 - places) || undefined)
      assert.deepEqual([...inFlight.byConnector], [[scriptedName, places]])
      release.resolve()
      const paid = (await Promise.all(ends)).filter((code) => code !== 'refused')
      assert.deepEqual(paid, Array(places).fill('000.100.112'))
      assert.deepEqual([...inFlight.byConnector], [])
    }
    await burst(1, [run.channel])
    await burst(2, channels)
    await burst(3, channels)
    assert.deepEqual(Object.fromEntries(most), { all: 10, [run.channel]: 5, [other]: 5 })
  } finally {
    admissions.mock.restore()
    await closeChecked(run)
  }
})

test('a connector with one place has it for whoever comes first', () => {
  const inFlight = new InFlight()
  const end = inFlight.admit('one', { channelId: 'channel', merchantId: 'merchant' }, 1)
  assert.throws(() => inFlight.admit('one', { channelId: 'other' }, 1), refused)
  end()
  assert.deepEqual([...inFlight.byConnector], [])
  const next = inFlight.admit('one', { channelId: 'other' }, 1)
  end()
  assert.throws(() => inFlight.admit('one', { channelId: 'channel' }, 1), refused)
  next()
  assert.deepEqual([...inFlight.byConnector], [])
})

test('the places of a request end once, by themselves or by the call that one was handed to', () => {
  const inFlight = new InFlight()
  const places = new Places()
  for (const name of ['bank', 'issuer']) {
    places.add(name, inFlight.admit(name, { channelId: 'channel' }, 1))
  }
  const end = places.handOver('bank')!
  assert.equal(places.handOver('bank'), undefined)
  places.free()
  places.free()
  assert.deepEqual([...inFlight.byConnector], [['bank', 1]])
  end()
  assert.deepEqual([...inFlight.byConnector], [])
})

test('calls count for the merchant also after its channels were forgotten elsewhere, and each connector alone', () => {
  const inFlight = new InFlight()
  const merchantId = 'merchant'
  inFlight.admit('slow', { channelId: 'four', merchantId: 'other' }, 4)()
  for (const channelId of ['one', 'two']) inFlight.admit('slow', { channelId, merchantId }, 4)
  assert.throws(() => inFlight.admit('slow', { channelId: 'one' }, 4), refused)
  assert.throws(() => inFlight.admit('slow', { channelId: 'three', merchantId }, 4), refused)
  inFlight.admit('slow', { channelId: 'four', merchantId: 'other' }, 4)
  inFlight.admit('quick', { channelId: 'one', merchantId }, 4)
})

test('the only merchant that a process has met has all places of a connector', () => {
  const inFlight = new InFlight()
  const [one, other] = ['a', 'b'].map((name) => ({ channelId: `${name}-web`, merchantId: name }))
  for (let no = 0; no < 4; no += 1) inFlight.admit('bank', one!, 4)
  assert.throws(() => inFlight.admit('bank', one!, 4), refused)
  assert.throws(() => inFlight.admit('bank', other!, 4), refused)
  assert.throws(() => inFlight.admit('bank', one!, 6), refused)
  inFlight.admit('bank', other!, 6)
})
