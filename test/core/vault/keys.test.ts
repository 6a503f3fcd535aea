import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { decrypt, encrypt } from '../../../core/crypto/cipher.ts'
import {
  createGateway,
  type Gateway,
  localKeys,
  MissingKeyError,
  makeKey,
  parseKeys,
} from '../../../core/index.ts'
import { card, freshSimulator, startGateway, type TestGateway, testKey } from '../../rig/gateway.ts'

const hex = 'abcd'.repeat(16)

describe('key-encryption keys', () => {
  test('keys are read one per line or comma, and the first is current', () => {
    const keys = parseKeys(
      `new:${'0102'.repeat(16)}\nold:${'02'.repeat(32)},older:${'03'.repeat(32)}\n`,
    )
    assert.deepEqual(
      keys.map(({ id }) => id),
      ['new', 'old', 'older'],
    )
    assert.equal(localKeys(`new:${hex},old:${hex}`).currentId, 'new')
  })

  test('malformed keys are refused by position and never shown', () => {
    for (const [text, expected] of [
      ['', /No key given/],
      [`k1:${hex.slice(2)}`, /Key 1 is not of the form/],
      [`k1:${hex}, k2:xyz`, /Key 2 is not of the form/],
      [`:${hex}`, /Key 1 is not of the form/],
      [`a:${hex} a:${hex}`, /same id/],
    ] as const) {
      assert.throws(
        () => parseKeys(text),
        (error: Error) => {
          assert.match(error.message, expected)
          assert.doesNotMatch(error.message, /abab/)
          return true
        },
      )
    }
  })

  test('a key of one repeated byte wraps nothing, and can only open as an older key', () => {
    for (const byte of ['00', 'ff', '5e']) {
      const weak = `weak:${byte.repeat(32)}`
      assert.throws(
        () => localKeys(weak),
        (error: Error) => {
          assert.match(error.message, /Key "weak" is one byte repeated.*put a new one before it/)
          assert.doesNotMatch(error.message, new RegExp(byte.repeat(4)))
          return true
        },
      )
      assert.throws(() => localKeys(`${weak},good:${hex}`), /one byte repeated/)
      assert.equal(localKeys(`good:${hex},${weak}`).currentId, 'good')
    }
  })

  test('a new key has 256 random bits', () => {
    assert.notEqual(makeKey('k'), makeKey('k'))
    assert.equal(parseKeys(makeKey('k'))[0]?.key.length, 32)
  })
})

describe('a sealed value', () => {
  const key = createSecretKey(Buffer.from('feffe9928665731c6d6a8f9467308308'.repeat(2), 'hex'))
  const boundTo = Buffer.from('feedfacedeadbeeffeedfacedeadbeefabaddad2', 'hex')
  const plain =
    'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72' +
    '1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39'
  /**
   * Test case 16 of the GCM specification, in the order of stored bytes: nonce, ciphertext, tag.
   */
  const sealed = Buffer.from(
    'cafebabefacedbaddecaf888' +
      '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa' +
      '8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662' +
      '76fc6ece0f4e1768cddf8853bb2d551b',
    'hex',
  )

  test('a value is sealed with AES-256-GCM as specified', () => {
    assert.equal(decrypt(key, sealed, boundTo).toString('hex'), plain)
    const anew = encrypt(key, Buffer.from(plain, 'hex'), boundTo)
    assert.equal(anew.length, sealed.length)
    assert.equal(decrypt(key, anew, boundTo).toString('hex'), plain)
  })

  test('a changed bit, a missing byte or another binding prevents opening', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed)
      changed[at]! ^= 1
      assert.throws(() => decrypt(key, changed, boundTo), `byte ${at}`)
      assert.throws(() => decrypt(key, sealed.subarray(0, at), boundTo), `cut at ${at}`)
    }
    assert.throws(() => decrypt(key, sealed, boundTo.subarray(1)))
    assert.throws(() => decrypt(createSecretKey(Buffer.alloc(32)), sealed, boundTo))
  })
})

describe('the vault of a database', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway()
  })
  after(() => run.close())

  const open = (keys: string, more: { schema?: string } = {}): Promise<Gateway> =>
    createGateway({
      database: { url: run.database.url, ...more },
      plugins: [freshSimulator()],
      environment: 'test',
      keys: localKeys(keys),
      role: 'api',
    })
  /** Charges the stored card again, which needs an open vault. */
  const rebill = async (gateway: Gateway, id: string) =>
    (await gateway.payments.rebill(id, { amount: '1.00', currency: 'EUR' })).result.code

  test('another key under the same id does not open the vault, and the error names the id and no key', async () => {
    const error = await open(`test:${hex}`).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof MissingKeyError)
    assert.equal(error.keyId, 'test')
    assert.match(error.message, /"test" is not the one this database was sealed with/)
    assert.doesNotMatch(error.message, /abab|5e5e/)
  })

  test('a missing key does not open the vault, and the error names it and the given ones', async () => {
    await assert.rejects(open(`other:${hex}`), (error) => {
      assert.ok(error instanceof MissingKeyError)
      assert.match(error.message, /"test".*not among the given keys \(other\)/)
      return true
    })
  })

  test('a new current key opens the vault while the old one is given too', async () => {
    const { id } = await run.pay()
    const gateway = await open(`new:${hex}\n${testKey}`)
    try {
      assert.equal(await rebill(gateway, id), '000.100.110')
      const fresh = await gateway.payments.create({
        ...card('4111111111111111'),
        entityId: run.channel,
      } as never)
      assert.equal(await rebill(run.gateway, fresh.id), '000.100.110')
    } finally {
      await gateway.close()
    }
  })

  test('one number has one fingerprint and different sealed bytes each time', async () => {
    const [first, second] = [await run.pay(), await run.pay()]
    const other = await run.pay(card('4111111111111111'))
    const sealed = async (id: string) => {
      const rows = await run.sql<{ sealed: Buffer; fingerprint: Buffer }>(
        'select sealed, fingerprint from tollgate.instrument where id = $1',
        [id],
      )
      return rows[0]!
    }
    const [one, two, three] = [
      await sealed(first.id),
      await sealed(second.id),
      await sealed(other.id),
    ]
    assert.deepEqual(one.fingerprint, two.fingerprint)
    assert.notDeepEqual(one.fingerprint, three.fingerprint)
    assert.notDeepEqual(one.sealed, two.sealed)
  })

  test('a sealed number moved to another payment does not open, and nothing is charged', async () => {
    const [first, second] = [await run.pay(), await run.pay(card('4111111111111111'))]
    await run.sql(
      `update tollgate.instrument set sealed = (select sealed from tollgate.instrument where id = $1) where id = $2`,
      [first.id, second.id],
    )
    const reply = await run.send(
      { paymentType: 'RB', amount: '1.00', currency: 'EUR' },
      { id: second.id },
    )
    assert.equal(reply.status, 500)
    assert.doesNotMatch(JSON.stringify([reply.body, run.logs]), /4111111111111111|4200000000000000/)
    const rows = await run.sql(
      `select id from tollgate.payment where referenced_id = $1 and state = 'approved'`,
      [second.id],
    )
    assert.deepEqual(rows, [])
  })

  test('a second engine in another schema works beside the first and sees none of its data', async () => {
    const gateway = await open(`their-key:${hex}`, { schema: 'other_shop' })
    try {
      const { entities, payments } = gateway
      const psp = await entities.create({ kind: 'psp', name: 'Other' })
      const division = await entities.create({ kind: 'division', name: 'Other', parentId: psp })
      const merchant = await entities.create({
        kind: 'merchant',
        name: 'Other',
        parentId: division,
      })
      const entityId = await entities.create({ kind: 'channel', name: 'Other', parentId: merchant })
      const { id } = await payments.create({ ...card('4200000000000000'), entityId } as never)
      assert.equal(await rebill(gateway, id), '000.100.110')
      const own = await run.pay()
      await assert.rejects(payments.get(own.id), { status: 404 })
      await assert.rejects(run.gateway.payments.get(id), { status: 404 })
      const tables = await run.sql<{ schema: string }>(
        `select distinct table_schema as schema from information_schema.tables where table_schema like 'other%' order by 1`,
      )
      assert.deepEqual(
        tables.map(({ schema }) => schema),
        ['other_shop', 'other_shop_boss'],
      )
    } finally {
      await gateway.close()
    }
  })

  test('a database of one environment does not open in the other', async () => {
    await assert.rejects(
      createGateway({
        database: { url: run.database.url },
        plugins: [freshSimulator()],
        environment: 'live',
        keys: localKeys(testKey),
        role: 'api',
      }),
      /belongs to a test installation and cannot be used as live/,
    )
  })
})
