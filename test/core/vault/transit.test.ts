import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import {
  combinedKeys,
  type KeyProvider,
  KeyProviderError,
  localKeys,
  MissingKeyError,
  type TransitOptions,
  transitKeys,
} from '../../../core/index.ts'
import { bounded } from '../../../core/vault/providers.ts'
import { startTransitServer, type TransitServer } from '../../rig/transit-server.ts'

const never = new AbortController().signal

describe('a key server with the transit API', () => {
  let server: TransitServer
  const open: KeyProvider[] = []
  const keys = (more: Partial<TransitOptions> = {}) => {
    const provider = transitKeys({
      url: server.url,
      key: 'payments',
      token: server.token,
      allowLoopback: true,
      timeoutMs: 300,
      ...more,
    })
    open.push(provider)
    return provider
  }
  before(async () => {
    server = await startTransitServer()
  })
  afterEach(() => server.misbehave(undefined))
  after(async () => {
    for (const provider of open) await provider.close?.()
    await server.stop()
  })

  const failure = async (work: Promise<unknown>): Promise<Error> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof Error, 'the call should have failed')
    return error
  }
  /** No error contains the data key in any spelling, the token, or the server's stored text. */
  const tells = (error: Error, ...secrets: readonly (Buffer | string)[]) => {
    const text = `${error.name} ${error.message} ${error.stack} ${JSON.stringify(error)}`
    for (const secret of [...secrets, server.token]) {
      const spellings = Buffer.isBuffer(secret)
        ? [secret.toString('hex'), secret.toString('base64'), secret.toString()]
        : [secret]
      for (const spelling of spellings) assert.ok(!text.includes(spelling), text)
    }
    return error.message
  }

  test('a data key survives wrapping, and the id names mount, key and version', async () => {
    const dataKey = randomBytes(32)
    const { keyId, wrapped } = await keys().wrap(dataKey, never)
    assert.equal(keyId, 'transit:transit/payments:v1')
    assert.match(wrapped.toString(), /^vault:v1:/)
    assert.deepEqual(await keys().unwrap(keyId, wrapped, never), dataKey)
    assert.equal(await keys().currentKeyId(never), keyId)
    await keys().check(never)
  })

  test('a new version in the server wraps from then on, and the old one opens and rewraps', async () => {
    const dataKey = randomBytes(32)
    const old = await keys().wrap(dataKey, never)
    const version = server.rotate()
    const fresh = await keys().rewrap!(old.keyId, old.wrapped, never)
    assert.equal(fresh.keyId, `transit:transit/payments:v${version}`)
    assert.deepEqual(await keys().unwrap(old.keyId, old.wrapped, never), dataKey)
    assert.deepEqual(await keys().unwrap(fresh.keyId, fresh.wrapped, never), dataKey)

    server.setMinimumVersion(version)
    const error = await failure(keys().unwrap(old.keyId, old.wrapped, never))
    assert.ok(error instanceof MissingKeyError)
    assert.equal(error.keyId, old.keyId)
    assert.match(tells(error, dataKey, old.wrapped), /disallowed by policy/)
    server.setMinimumVersion(1)
  })

  test('token and namespace are sent, on a mount of any depth', async (t) => {
    const other = await startTransitServer({ namespace: 'shop/eu', mount: 'team/transit' })
    t.after(() => other.stop())
    const more = { url: other.url, token: () => `${other.token}\n`, mount: 'team/transit' }
    const provider = keys({ ...more, namespace: 'shop/eu' })
    await provider.check(never)
    assert.equal(other.asked.at(-1)?.headers['x-vault-namespace'], 'shop/eu')
    assert.equal(other.asked.at(-1)?.headers['x-vault-request'], 'true')
    assert.match(
      tells(await failure(keys(more).check(never))),
      /refused: 404\. Is the transit engine mounted/,
    )
  })

  test("a refused token is reported at once, with the server's message and without the token", async () => {
    const asked = server.asked.length
    const error = await failure(keys({ token: 'hvs.wrong-token' }).wrap(randomBytes(32), never))
    assert.ok(error instanceof KeyProviderError)
    assert.match(
      tells(error, 'hvs.wrong-token'),
      /^the key server http:.* refused: 403, .*permission denied.*Is its token valid/s,
    )
    assert.equal(server.asked.length, asked + 1)
  })

  test('a failing server is asked three times before the outage is reported', async () => {
    const dataKey = randomBytes(32)
    const { keyId, wrapped } = await keys().wrap(dataKey, never)
    server.misbehave({ status: 503, errors: ['Vault is sealed'] })
    const asked = server.asked.length
    const error = await failure(keys().unwrap(keyId, wrapped, never))
    assert.ok(error instanceof KeyProviderError)
    assert.match(tells(error, dataKey, wrapped), /refused: 503, Vault is sealed/)
    assert.equal(server.asked.length, asked + 3)

    server.misbehave({ status: 500, errors: [`internal: ${dataKey.toString('base64')}`] })
    const retried = keys().unwrap(keyId, wrapped, never)
    const given = setInterval(() => {
      if (server.asked.length > asked + 4) server.misbehave(undefined)
    }, 5)
    assert.deepEqual(await retried.finally(() => clearInterval(given)), dataKey)
  })

  test("key material in the server's message is cut out of the error", async () => {
    const dataKey = randomBytes(32)
    server.misbehave({ status: 400, errors: [`cannot take ${dataKey.toString('base64')} here`] })
    const error = await failure(keys().wrap(dataKey, never))
    assert.match(tells(error, dataKey), /400, cannot take … here/)
  })

  test('a silent or broken server is given up in time', async () => {
    for (const mischief of ['silent', 'reset'] as const) {
      server.misbehave(mischief)
      const since = performance.now()
      const error = await failure(keys({ timeoutMs: 100 }).wrap(randomBytes(32), never))
      assert.ok(error instanceof KeyProviderError, mischief)
      assert.match(tells(error), /does not answer: /)
      assert.ok(performance.now() - since < 20_000, mischief)
    }
  })

  test('the engine gives up on any provider in time and aborts its request', async () => {
    server.misbehave('silent')
    const slow = bounded(keys({ timeoutMs: 60_000 }), 150)
    assert.match(tells(await failure(slow.wrap(randomBytes(32)))), /did not answer within 150 ms/)
  })

  test('answers of another shape are never taken for keys', async () => {
    const dataKey = randomBytes(32)
    const { keyId, wrapped } = await keys().wrap(dataKey, never)
    for (const mischief of [
      { body: '<html>Bad gateway</html>' },
      { body: '' },
      { body: '[]' },
      { body: '{"data":null}' },
      { data: {} },
      { data: { plaintext: 'c2hvcnQ=', ciphertext: 'vault:v0:AAAA' } },
      { data: { plaintext: `${'A'.repeat(43)}!`, ciphertext: `other:v1:${'A'.repeat(40)}` } },
      { data: { plaintext: 7, ciphertext: 7 } },
      { body: 'x'.repeat(100_000) },
    ]) {
      server.misbehave(mischief)
      for (const work of [keys().wrap(dataKey, never), keys().unwrap(keyId, wrapped, never)]) {
        const error = await failure(work)
        assert.ok(error instanceof KeyProviderError, JSON.stringify(mischief).slice(0, 60))
        tells(error, dataKey, wrapped)
      }
    }
  })

  test('a changed wrapped key is a missing key, not an outage', async () => {
    const dataKey = randomBytes(32)
    const { keyId, wrapped } = await keys().wrap(dataKey, never)
    const bytes = Buffer.from(wrapped.toString().slice(9), 'base64')
    bytes[20]! ^= 1
    const changed = Buffer.from(`vault:v1:${bytes.toString('base64')}`)
    const error = await failure(keys().unwrap(keyId, changed, never))
    assert.ok(error instanceof MissingKeyError)
    assert.match(tells(error, dataKey), /message authentication failed/)
    assert.ok((await failure(keys().unwrap('test', wrapped, never))) instanceof MissingKeyError)
  })

  test('a rewrap that would lose the data key is refused before storage', async () => {
    const { keyId, wrapped } = await keys().wrap(randomBytes(32), never)
    const other = await keys().wrap(randomBytes(32), never)
    server.misbehave({ data: { ciphertext: other.wrapped.toString() } }, ['rewrap'])
    const error = await failure(bounded(keys()).rewrap(keyId, wrapped))
    assert.match(tells(error), /gave another data key back/)
  })

  test('private addresses are reached only if they are listed, plain http only on this machine', async () => {
    const guarded = await failure(keys({ allowLoopback: false }).check(never))
    assert.match(tells(guarded), /must be an https URL/)
    const lookup: TransitOptions['lookup'] = (_host, _options, done) =>
      process.nextTick(() => done(null, [{ address: '10.9.8.7', family: 4 }]))
    const inside = { url: 'https://vault.example', lookup, timeoutMs: 300 }
    assert.match(
      tells(await failure(keys({ ...inside, allowLoopback: false }).check(never))),
      /does not lead to a public address/,
    )
    // A listed address is connected to, and merely does not answer.
    assert.doesNotMatch(
      tells(await failure(keys({ ...inside, allow: ['10.9.8.0/24'] }).check(never))),
      /public address/,
    )
  })

  test('impossible settings are refused', () => {
    for (const wrong of [
      { url: 'vault' },
      { url: 'https://user:secret@vault' },
      { key: '../other' },
      { mount: 'a//b' },
      { allow: ['vault.internal'] },
      { ca: ['no certificate'] },
    ]) {
      assert.throws(() => keys(wrong), Error, JSON.stringify(wrong))
    }
  })

  test('a key server beside a key file wraps new keys, both open, and a rewrap moves the old', async () => {
    const local = localKeys(`old:${'abcd'.repeat(16)}`, 'TOLLGATE_KEYS')
    const dataKey = randomBytes(32)
    const old = await local.wrap(dataKey, never)
    const both = combinedKeys(keys(), local)
    assert.deepEqual(await both.unwrap(old.keyId, old.wrapped, never), dataKey)
    const moved = await bounded(both).rewrap(old.keyId, old.wrapped)
    assert.match(moved.keyId, /^transit:transit\/payments:v/)
    assert.deepEqual(await keys().unwrap(moved.keyId, moved.wrapped, never), dataKey)
    const back = await bounded(combinedKeys(local, keys())).rewrap(moved.keyId, moved.wrapped)
    assert.deepEqual(await local.unwrap(back.keyId, back.wrapped, never), dataKey)
    await assert.rejects(both.unwrap('gone', old.wrapped, never), (error) => {
      assert.ok(error instanceof MissingKeyError)
      assert.match(error.message, /"gone", which is in none of the key server .* and TOLLGATE_KEYS/)
      return true
    })
  })

  test("texts of a provider's error are not repeated", async () => {
    const dataKey = randomBytes(32)
    const careless: KeyProvider = {
      ...localKeys(`k:${'abcd'.repeat(16)}`),
      name: 'careless',
      wrap: async (bytes) => {
        throw new RangeError(`cannot wrap ${bytes.toString('hex')}`)
      },
      unwrap: async () => Buffer.alloc(16),
    }
    const error = await failure(bounded(careless).wrap(dataKey))
    assert.equal(tells(error, dataKey), 'careless failed (RangeError).')
    assert.match((await failure(bounded(careless).unwrap('k', dataKey))).message, /no data key/)
  })
})
