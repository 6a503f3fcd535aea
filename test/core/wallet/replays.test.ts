/** A token is money once: whoever sends it again, from wherever, pays nothing. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { type Gateway, GatewayError, onFaultPoint, systemClock } from '../../../core/index.ts'
import { housekeeping } from '../../../core/jobs/housekeeping.ts'
import {
  configOf,
  type Field,
  startWithWallets,
  tokenOf,
  type WalletRun,
  walletBrands,
  walletFields,
  walletPlugins,
} from '../../rig/wallets.ts'

describe('a token that comes again', () => {
  let run: WalletRun
  let other: Gateway
  before(async () => {
    run = await startWithWallets()
    other = await run.another({
      plugins: [run.acquirer.plugin, ...walletPlugins],
      connectors: configOf(run.devices),
    })
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => run.close())

  const fieldsOf = (field: Field, token: string, reference: string) =>
    ({
      entityId: run.channel,
      amount: '92.00',
      currency: 'EUR',
      paymentType: 'DB',
      paymentBrand: walletBrands[field],
      testMode: 'EXTERNAL',
      merchantTransactionId: reference,
      [field]: { paymentToken: token },
    }) as never

  const paymentsOf = (reference: string) =>
    run.sql<{ id: string; state: string }>(
      'select id, state from tollgate.payment where merchant_transaction_id = $1',
      [reference],
    )
  const replays = () =>
    run.sql<{ payment_id: string; wallet: string }>(
      'select payment_id, wallet from tollgate.wallet_replay',
    )

  const refused = (field: Field) => (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.equal(error.code, '200.300.404')
    assert.deepEqual(
      error.parameterErrors.map(({ name }) => name),
      [`${field}.paymentToken`],
    )
    return true
  }

  for (const field of walletFields) {
    describe(field, () => {
      test('the same token at once on two hosts is one payment', async () => {
        const token = tokenOf(run.devices[field])
        const reference = `at-once-${field}`
        const hosts = [run.gateway, other, run.gateway, other, run.gateway, other]
        const tried = await Promise.allSettled(
          hosts.map((host) => host.payments.create(fieldsOf(field, token, reference))),
        )
        const done = tried.filter(({ status }) => status === 'fulfilled')
        assert.equal(done.length, 1)
        for (const one of tried) if (one.status === 'rejected') refused(field)(one.reason)
        assert.equal((await paymentsOf(reference)).length, 1)
        assert.deepEqual(run.acquirer.of(reference), ['debit'])
      })

      test('the same Idempotency-Key answers the same payment, on every host', async () => {
        const token = tokenOf(run.devices[field])
        const key = `key-${field}`
        const create = (host: Gateway) =>
          host.payments.create(fieldsOf(field, token, key), { idempotencyKey: key })
        const tried = await Promise.all([create(run.gateway), create(other), create(run.gateway)])
        assert.equal(new Set(tried.map(({ id }) => id)).size, 1)
        const later = await create(other)
        assert.equal(later.id, tried[0]!.id)
        assert.match(later.result.code, /^000\.100/)
        assert.deepEqual(run.acquirer.of(key), ['debit'])
        // A device makes no token twice, so a repeat may come with another one, or with one that is over.
        const broken = tokenOf(run.devices[field], {}, 'wrong-tag')
        const repeat = await run.gateway.payments.create(fieldsOf(field, broken, key), {
          idempotencyKey: key,
        })
        assert.equal(repeat.id, later.id)
        // Another key is another payment.
        const again = run.gateway.payments.create(fieldsOf(field, token, key), {
          idempotencyKey: `${key}-2`,
        })
        await assert.rejects(again, refused(field))
      })
    })
  }

  test('a token whose payment was declined is used up as well', async () => {
    const token = tokenOf(run.devices.googlePay)
    run.acquirer.tell('declined', { debit: () => ({ is: 'declined', reason: '800.100.152' }) })
    const first = await run.gateway.payments.create(fieldsOf('googlePay', token, 'declined'))
    assert.equal(first.result.code, '800.100.152')
    const again = run.gateway.payments.create(fieldsOf('googlePay', token, 'declined'))
    await assert.rejects(again, refused('googlePay'))
  })

  test('a process that dies between the first commit and the acquirer leaves the token used', async () => {
    const token = tokenOf(run.devices.applePay)
    const reference = 'dies-after-first'
    const died = Promise.withResolvers<never>()
    const reached = Promise.withResolvers<string>()
    onFaultPoint((point, id) => {
      if (point !== 'after-T1') return undefined
      reached.resolve(id)
      // The process does nothing any more.
      return died.promise
    })
    const create = (host: Gateway, key: string) =>
      host.payments.create(fieldsOf('applePay', token, reference), { idempotencyKey: key })
    const lost = create(run.gateway, 'dies-1')
    lost.catch(() => undefined)
    const id = await reached.promise
    onFaultPoint(undefined)
    await assert.rejects(create(other, 'dies-2'), refused('applePay'))
    assert.equal((await create(other, 'dies-1')).id, id, 'its own key finds the payment')
    assert.deepEqual(run.acquirer.of(reference), [], 'nothing was sent')
    assert.deepEqual((await replays()).filter(({ payment_id }) => payment_id === id).length, 1)
    died.reject(new Error('the process died'))
    await assert.rejects(lost)
  })

  test('the token and its payment commit together, or neither does', async () => {
    const count = async () => {
      const payments = await paymentsOf('together')
      const ids = new Set(payments.map(({ id }) => id))
      return [
        payments.length,
        (await replays()).filter(({ payment_id }) => ids.has(payment_id)).length,
      ]
    }
    onFaultPoint((point) => {
      if (point === 'before-T1') throw new Error('the process died')
    })
    const token = tokenOf(run.devices.samsungPay)
    await assert.rejects(run.gateway.payments.create(fieldsOf('samsungPay', token, 'together')))
    onFaultPoint(undefined)
    assert.deepEqual(await count(), [0, 0])
    await run.gateway.payments.create(fieldsOf('samsungPay', token, 'together'))
    assert.deepEqual(await count(), [1, 1])
    const [before] = await run.sql<{ all: bigint }>('select count(*) as all from tollgate.payment')
    // The row of the token breaks its key within the commit of the payment, its request and its attempt.
    await assert.rejects(
      run.gateway.payments.create(fieldsOf('samsungPay', token, 'together')),
      refused('samsungPay'),
    )
    const [after] = await run.sql<{ all: bigint }>('select count(*) as all from tollgate.payment')
    assert.equal(after!.all, before!.all)
    const [orphans] = await run.sql<{ all: bigint }>(`select count(*) as all from tollgate.attempt
      where payment_id not in (select id from tollgate.payment)`)
    assert.equal(orphans!.all, 0n)
  })

  test('a failed request with a key leaves the key free', async () => {
    const token = tokenOf(run.devices.googlePay)
    await run.gateway.payments.create(fieldsOf('googlePay', token, 'key-is-free-1'))
    const withKey = (one: string) =>
      run.gateway.payments.create(fieldsOf('googlePay', one, 'key-is-free-2'), {
        idempotencyKey: 'free',
      })
    await assert.rejects(withKey(token), refused('googlePay'))
    assert.match((await withKey(tokenOf(run.devices.googlePay))).result.code, /^000\./)
  })

  test('rows of tokens that nobody could use any more are cleaned up', async () => {
    const rows = async () => (await replays()).length
    const all = await rows()
    assert.ok(all > 0)
    // Tokens of Apple Pay and Samsung Pay are over after minutes, those of Google Pay after a week.
    const hours = 60 * 60_000
    const database = new Database({ url: run.database.url })
    const lanes = new Lanes(database, { single: 1, read: 1 })
    const clock = { ...systemClock, realMs: () => Date.now() + 3 * hours }
    const engine = { lanes, steps: { days: 90 }, clock, log: { info() {}, warn() {} } }
    await housekeeping.run({}, engine as never).finally(() => database.close())
    assert.ok((await rows()) < all)
    const left = await replays()
    assert.ok(left.length > 0 && left.every(({ wallet }) => wallet === 'google-pay'))
  })
})
