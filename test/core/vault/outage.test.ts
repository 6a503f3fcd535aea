/** A key server's outage: payments continue for a long time, and a start reports it at once. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  combinedKeys,
  KeyAdministration,
  type KeyProvider,
  KeyProviderError,
  localKeys,
  MissingKeyError,
  systemClock,
  transitKeys,
} from '../../../core/index.ts'
import { startGateway, type TestGateway, testKey, until } from '../../rig/gateway.ts'
import { startTransitServer, type TransitServer } from '../../rig/transit-server.ts'

const approved = '000.100.110'
const keyCacheMs = 3_600_000

describe('outages of a key server', () => {
  let server: TransitServer
  let provider: KeyProvider
  let run: TestGateway
  let aheadMs = 0
  const clock = { ...systemClock, elapsedMs: () => performance.now() + aheadMs }

  const keysOf = (token = server.token): KeyProvider =>
    transitKeys({
      url: server.url,
      key: 'payments',
      token,
      allowLoopback: true,
      timeoutMs: 300,
      name: 'the key server of TOLLGATE_KEY_SERVER_URL',
    })
  const rebill = (id: string, on = run.gateway) =>
    run.send({ paymentType: 'RB', amount: '1.00', currency: 'EUR' }, { id, on })

  before(async () => {
    server = await startTransitServer()
    provider = keysOf()
    run = await startGateway({ cloned: false, keys: provider, keyCacheMs, clock })
  })
  beforeEach(() => {
    server.misbehave(undefined)
  })
  after(async () => {
    await run.close()
    await provider.close?.()
    await server.stop()
  })

  test('the key server is asked only at start: payments use keys in memory', async () => {
    const asked = server.asked.length
    const payments = await Promise.all(Array.from({ length: 30 }, () => run.pay()))
    for (const { id } of payments) assert.equal((await rebill(id)).body.result.code, approved)
    assert.equal(server.asked.length, asked)
  })

  test('an outage leaves running processes working, and a starting one fails with the reason', async () => {
    const { id } = await run.pay()
    await server.stop()
    const error = await run.another().catch((thrown: unknown) => thrown)
    assert.ok(error instanceof KeyProviderError)
    assert.match(
      error.message,
      /^the key server of TOLLGATE_KEY_SERVER_URL does not answer: .* Data key [0-9a-f]{32} is wrapped by key "transit:transit\/payments:v1"\.$/,
    )
    assert.equal((await run.pay()).result.code, approved)
    assert.equal((await rebill(id)).body.result.code, approved)

    // At half of the time the keys are due to be reopened: they stay in use, and the failure is
    // reported.
    aheadMs += keyCacheMs / 2
    await until(async () =>
      run.logs.find(({ message }) => /could not be opened again/.test(message)),
    )
    assert.equal((await run.pay()).result.code, approved)
    await server.resume()
  })

  test('an outage leaves a process that started during a rotation working, because it has the older keys', async () => {
    const { id } = await run.pay()
    const [old] = await run.sql<{ id: string }>(
      `update tollgate.data_key set state = 'previous'
       where purpose = 'seal' and state = 'current' returning id`,
    )
    const fresh = '01980000000070008000000000000abc'
    await run.sql(
      `insert into tollgate.data_key (id, purpose, state, format, key_encryption_key_id, wrapped)
       select $1, 'seal', 'current', 2, key_encryption_key_id, wrapped
       from tollgate.data_key where purpose = 'mac'`,
      [fresh],
    )
    const opened = server.asked.length
    const late = await run.another()
    await until(async () => (server.asked.length >= opened + 3 ? true : undefined))
    // After another whole payment the last answer has arrived too.
    await run.pay({}, { on: late })
    await server.stop()
    assert.equal((await rebill(id, late)).body.result.code, approved)
    await server.resume()
    await using keys = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: provider,
    })
    assert.deepEqual((await keys.rotate({ graceMs: 100 })).retired, [old!.id])
  })

  test('an outage longer than the key cache makes payments wait in order until its end', async () => {
    const { id } = await run.pay()
    await server.stop()
    aheadMs += 2 * keyCacheMs
    const first = await run.send({
      entityId: run.channel,
      amount: '1.00',
      currency: 'EUR',
      paymentType: 'DB',
      paymentBrand: 'VISA',
      'card.number': '4200000000000000',
      'card.holder': 'Jane Doe',
      'card.expiryMonth': '05',
      'card.expiryYear': '2034',
    })
    for (const reply of [first, await rebill(id)]) {
      assert.equal(reply.status, 503)
      assert.equal(reply.headers['Retry-After'], '5')
      assert.equal(reply.body.result.code, '600.100.100')
      assert.match(reply.body.result.description, /keys of the gateway cannot be used now/)
    }
    const open = await run.sql(`select id from tollgate.payment where state = 'processing'`)
    assert.deepEqual(open, [])
    await server.resume()
    const again = await until(async () => {
      const reply = await rebill(id)
      return reply.status === 200 ? reply : undefined
    })
    assert.equal(again.body.result.code, approved)
    await until(() => run.pay().catch(() => undefined))
  })

  test('a refused token fails the start and is not shown', async () => {
    const refused = keysOf('hvs.somebody-elses-token')
    const error = await run.another({ keys: refused }).catch((thrown: unknown) => thrown)
    await refused.close?.()
    assert.ok(error instanceof KeyProviderError)
    assert.match(error.message, /refused: 403, .*permission denied.*Is its token valid/s)
    assert.doesNotMatch(error.message, /somebody/)
  })

  test('a withdrawn key version fails the start as a missing key', async () => {
    server.rotate()
    server.setMinimumVersion(2)
    const error = await run.another().catch((thrown: unknown) => thrown)
    assert.ok(error instanceof MissingKeyError)
    assert.equal(error.keyId, 'transit:transit/payments:v1')
    assert.match(error.message, /disallowed by policy.*Data key [0-9a-f]{32}/)
    server.setMinimumVersion(1)
  })

  test("a rewrap moves to the server's new key version, and the old one can be withdrawn", async () => {
    const { id } = await run.pay()
    const status = async (work: (keys: KeyAdministration) => Promise<unknown>) => {
      await using keys = await KeyAdministration.open({
        database: { url: run.database.url },
        keys: provider,
      })
      await work(keys)
      const status = await keys.status()
      assert.equal(status.providerProblem, undefined)
      server.misbehave({ status: 503, errors: ['Vault is sealed'] }, ['encrypt'])
      assert.match((await keys.status()).providerProblem ?? '', /refused: 503, Vault is sealed/)
      server.misbehave(undefined)
      return status.keys.map(({ keyEncryptionKeyId }) => keyEncryptionKeyId)
    }
    const version = server.rotate()
    const current = `transit:transit/payments:v${version}`
    const ids = await status((keys) => keys.rewrap())
    assert.deepEqual([...new Set(ids)], [current])
    server.setMinimumVersion(version)
    assert.equal((await rebill(id, await run.another())).body.result.code, approved)
    server.setMinimumVersion(1)
  })
})

describe('changes between a key file and a key server', () => {
  test('an installation moves to a key server and back while it runs', async () => {
    const server = await startTransitServer()
    const remote = transitKeys({
      url: server.url,
      key: 'payments',
      token: server.token,
      allowLoopback: true,
    })
    const run = await startGateway({ keys: combinedKeys(localKeys(testKey), remote) })
    try {
      const { id } = await run.pay()
      const rewrapTo = async (keys: KeyProvider) => {
        await using opened = await KeyAdministration.open({
          database: { url: run.database.url },
          keys,
        })
        assert.equal((await opened.rewrap()).moved.length, 2)
      }
      const rebill = async (keys: KeyProvider) => {
        const gateway = await run.another({ keys })
        const done = await gateway.payments.rebill(id, { amount: '1.00', currency: 'EUR' })
        assert.equal(done.result.code, approved)
        await gateway.close()
      }
      await rewrapTo(combinedKeys(remote, localKeys(testKey)))
      await rebill(remote)
      await rewrapTo(combinedKeys(localKeys(testKey), remote))
      await rebill(localKeys(testKey))
    } finally {
      await run.close()
      await remote.close?.()
      await server.stop()
    }
  })
})
