/** One merchant's calls that take long leave places at the connector for those of others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '@tollgate/plugin-kit'
import { GatewayError } from '../../../core/index.ts'
import { InFlight } from '../../../core/process/in-flight.ts'
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

test('a connector with one place has it for whoever comes first', () => {
  const inFlight = new InFlight()
  const of = { channelId: 'channel', merchantId: 'merchant' }
  inFlight.admit('one', of, 1)
  const end = inFlight.begin('one', of.channelId)
  assert.throws(() => inFlight.admit('one', { channelId: 'other' }, 1), refused)
  end()
  assert.deepEqual([...inFlight.byConnector], [])
  inFlight.admit('one', { channelId: 'other' }, 1)
})

test('calls count for the merchant also after its channels were forgotten elsewhere, and each connector alone', () => {
  const inFlight = new InFlight()
  const merchantId = 'merchant'
  inFlight.admit('slow', { channelId: 'four', merchantId: 'other' }, 4)
  for (const channelId of ['one', 'two']) {
    inFlight.admit('slow', { channelId, merchantId }, 4)
    inFlight.begin('slow', channelId)
  }
  assert.throws(() => inFlight.admit('slow', { channelId: 'one' }, 4), refused)
  assert.throws(() => inFlight.admit('slow', { channelId: 'three', merchantId }, 4), refused)
  inFlight.admit('slow', { channelId: 'four', merchantId: 'other' }, 4)
  inFlight.admit('quick', { channelId: 'one', merchantId }, 4)
})

test('the only merchant that a process has met has all places of a connector', () => {
  const inFlight = new InFlight()
  const [one, other] = ['a', 'b'].map((name) => ({ channelId: `${name}-web`, merchantId: name }))
  for (let no = 0; no < 4; no += 1) {
    inFlight.admit('bank', one!, 4)
    inFlight.begin('bank', one!.channelId)
  }
  assert.throws(() => inFlight.admit('bank', one!, 4), refused)
  assert.throws(() => inFlight.admit('bank', other!, 4), refused)
  assert.throws(() => inFlight.admit('bank', one!, 6), refused)
  inFlight.admit('bank', other!, 6)
})
