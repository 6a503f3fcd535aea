/** A database from before data keys had states: its rows open and move with the next rotation. */
import assert from 'node:assert/strict'
import { createCipheriv, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { createGateway, KeyAdministration, localKeys, migrationFiles } from '../../../core/index.ts'
import { createDatabase } from '../../rig/database.ts'
import { card, freshSimulator, testKey } from '../../rig/gateway.ts'

/** The seal of version 1: nonce, ciphertext, tag; bound to the id alone. */
function seal(key: Buffer, plain: Buffer, boundTo: Buffer): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(boundTo)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, body, cipher.getAuthTag()])
}

test('keys and rows of the first layout are taken over', async () => {
  const database = await createDatabase()
  const client = new pg.Client({ connectionString: database.url })
  try {
    await client.connect()
    await client.query('create schema tollgate')
    await client.query(
      'create table tollgate.migration (name text primary key, checksum text not null, at timestamptz not null default now())',
    )
    for (const file of await migrationFiles()) {
      if (file.name >= '0003') continue
      await client.query(file.text)
      await client.query('insert into tollgate.migration (name, checksum) values ($1, $2)', [
        file.name,
        file.checksum,
      ])
    }
    const keyEncryptionKey = Buffer.from(testKey.slice('test:'.length), 'hex')
    const dataKey = randomBytes(32)
    const add = (id: string, purpose: string, bytes: Buffer, retired: string | null) =>
      client.query(
        `insert into tollgate.data_key (id, purpose, key_encryption_key_id, wrapped, retired_at)
         values ($1, $2, 'test', $3, $4)`,
        [id, purpose, seal(keyEncryptionKey, bytes, Buffer.from('test')), retired],
      )
    const ids = ['1', '2', '3'].map((last) => `0198000000007000800000000000000${last}`)
    await add(ids[0]!, 'seal', randomBytes(32), '2026-01-01')
    await add(ids[1]!, 'seal', dataKey, null)
    await add(ids[2]!, 'mac', randomBytes(32), null)

    const options = {
      database: { url: database.url },
      plugins: [freshSimulator()],
      environment: 'test',
      keys: localKeys(testKey),
      role: 'api',
    } as const
    await using gateway = await createGateway(options)
    const { entities, payments } = gateway
    const psp = await entities.create({ kind: 'psp', name: 'A' })
    const division = await entities.create({ kind: 'division', name: 'A', parentId: psp })
    const merchant = await entities.create({ kind: 'merchant', name: 'A', parentId: division })
    const entityId = await entities.create({ kind: 'channel', name: 'A', parentId: merchant })
    const { id } = await payments.create({ ...card('4200000000000000'), entityId } as never)
    // The row as the previous version wrote it.
    const number = Buffer.from(JSON.stringify({ 'card.number': '4200000000000000' }))
    await client.query('update tollgate.instrument set sealed = $2 where id = $1', [
      id,
      seal(dataKey, number, Buffer.from(id, 'hex')),
    ])
    const rebill = async () =>
      (await payments.rebill(id, { amount: '1.00', currency: 'EUR' })).result.code
    assert.equal(await rebill(), '000.100.110')

    await using keys = await KeyAdministration.open(options)
    const states = async () => (await keys.status()).keys.map(({ state }) => state)
    assert.deepEqual(await states(), ['previous', 'current', 'current'])
    const done = await keys.rotate({ graceMs: 100 })
    // The key that the previous version had retired has no rows and is finished first.
    assert.equal(done.moved, 0)
    assert.deepEqual(done.retired, [ids[0]])
    assert.equal((await keys.rotate({ graceMs: 100 })).moved, 1)
    assert.deepEqual(await states(), ['retired', 'retired', 'current', 'current'])
    assert.equal(await rebill(), '000.100.110')
  } finally {
    await client.end()
    await database.drop()
  }
})
